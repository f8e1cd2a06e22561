package boxed

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"tandem/internal/source/decode"
	"tandem/internal/tool"
)

// word is the first argument by which this program knows that it is to read documents.
const word = "read-documents"

// Bounds of the process: what a document may make it take.
const (
	maxMemory = 1 << 30
	maxText   = 2 << 20 // of one document; more is a database, and not read as one
)

// limits are those of one document.
var limits = decode.Limits{Text: maxText, Parts: 5000, Skip: tool.Sensitive}

// answer is what the process says of one document: its text, or why there is none.
type answer struct {
	Document *decode.Document `json:"document,omitempty"`
	Refused  string           `json:"refused,omitempty"`
}

// Called says whether this program was started to read documents.
func Called(args []string) bool { return len(args) == 2 && args[1] == word }

// Main reads documents from in until it ends, and answers each.
func Main(ctx context.Context, in io.Reader, out io.Writer) int {
	if err := bind(); err != nil {
		return 3
	}
	r, w := bufio.NewReader(in), bufio.NewWriter(out)
	for {
		name, err := frame(r, maxName)
		if errors.Is(err, io.EOF) {
			return 0
		}
		var data []byte
		if err == nil {
			data, err = frame(r, MaxInput)
		}
		if err != nil {
			return 1
		}
		var a answer
		if a.Document, err = decode.Decode(ctx, string(name), data, limits); err != nil {
			a.Refused = err.Error()
		}
		text, err := json.Marshal(a)
		if err == nil {
			err = send(w, text)
		}
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			return 1
		}
	}
}

// frame reads a length and so many bytes.
func frame(r io.Reader, most int) ([]byte, error) {
	var n uint32
	if err := binary.Read(r, binary.BigEndian, &n); err != nil {
		return nil, err
	}
	if int64(n) > int64(most) {
		return nil, errors.New("a frame is longer than agreed")
	}
	data := make([]byte, n)
	_, err := io.ReadFull(r, data)
	return data, err
}

func send(w io.Writer, data []byte) error {
	if err := binary.Write(w, binary.BigEndian, uint32(len(data))); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}
