package backup

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tandem/internal/fault"
)

// Reader reads a copy.
type Reader struct {
	f      *os.File
	r      *bufio.Reader
	key    []byte
	folder string
	place  uint64
	bytes  int64
	ahead  *Entry // the entry that has begun
	ended  bool
	Made   time.Time
	Locked bool // with a passphrase or to a recipient
}

// Newest is the newest copy of a folder; a file is itself.
func Newest(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return path, err
	}
	list, err := Copies(path)
	if err == nil && len(list) == 0 {
		err = fault.New(fault.NotFound, "server.restore", "there is no copy in %s", path).WithNext("name a copy, or the folder that has some")
	}
	if err != nil {
		return "", err
	}
	return list[len(list)-1], nil
}

// Copies are the copies in a folder, the oldest first.
func Copies(folder string) ([]string, error) {
	list, err := named(folder, anyCopy)
	return slices.DeleteFunc(list, func(path string) bool { return !copyName.MatchString(filepath.Base(path)) && !IsCopy(path) }), err
}

// IsCopy says whether a file begins as a copy of this form does.
func IsCopy(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, ok := readFirst(bufio.NewReader(f))
	return ok
}

func readFirst(r *bufio.Reader) (firstLine, bool) {
	var first firstLine
	line, err := r.ReadSlice('\n')
	return first, err == nil && json.Unmarshal(line, &first) == nil && first.Format == Format
}

// Open begins to read a copy.
func Open(path string, s Secret) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.Invalid, "server.restore", "the copy cannot be read: %w", err).
			WithNext("check the path, and that you may read it")
	}
	r := &Reader{f: f, r: bufio.NewReaderSize(f, 1<<16), folder: filepath.Join(filepath.Dir(path), "chunks")}
	first, ok := readFirst(r.r)
	if !ok {
		err = damaged("it does not begin as %s does", Format)
	} else {
		r.Made, r.Locked = first.Made, first.Lock.Kind != "open"
		r.key, err = first.Lock.open(s)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// Close lets the copy go.
func (r *Reader) Close() { r.f.Close() }

func (r *Reader) record() (kind byte, data []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, nil, damaged("it is cut off after %d records", r.place)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > 2*pieceMost {
		return 0, nil, damaged("a record of %d bytes", n)
	}
	sealed := make([]byte, n)
	if _, err := io.ReadFull(r.r, sealed); err != nil {
		return 0, nil, damaged("it is cut off after %d records", r.place)
	}
	if data, err = unseal(r.key, r.place, head[0], sealed); err != nil {
		return 0, nil, damaged("record %d was changed", r.place)
	}
	r.place++
	return head[0], data, nil
}

// Next is the next entry and its content; io.EOF behind the last, when the copy was
// whole.
func (r *Reader) Next() (Entry, io.Reader, error) {
	for r.ahead == nil && !r.ended { // what nobody read of the entry before
		if _, err := r.piece(); err != nil && !errors.Is(err, io.EOF) {
			return Entry{}, nil, err
		}
	}
	if r.ended {
		return Entry{}, nil, io.EOF
	}
	e := *r.ahead
	r.ahead = nil
	return e, &content{r: r}, nil
}

// piece is the next piece of the entry that is being read; io.EOF at its end.
func (r *Reader) piece() ([]byte, error) {
	if r.ahead != nil || r.ended {
		return nil, io.EOF
	}
	at := r.place
	kind, data, err := r.record()
	if err != nil {
		return nil, err
	}
	switch kind {
	case kindEntry:
		r.ahead = &Entry{}
		if err := json.Unmarshal(data, r.ahead); err != nil {
			return nil, damaged("record %d: %v", at, err)
		}
		return nil, io.EOF
	case kindEnd:
		var last lastRecord
		if err := json.Unmarshal(data, &last); err != nil || last.Records != at || last.Bytes != r.bytes {
			return nil, damaged("its end does not fit what came before")
		}
		r.ended = true
		return nil, io.EOF
	case kindChunk:
		if data, err = r.chunk(data); err != nil {
			return nil, err
		}
	case kindData:
	default:
		return nil, damaged("a record of the unknown kind %q", kind)
	}
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), pieceMost+1))
	if err != nil || len(out) > pieceMost {
		return nil, damaged("record %d does not unpack: %v", at, err)
	}
	r.bytes += int64(len(out))
	return out, nil
}

func (r *Reader) chunk(ref []byte) ([]byte, error) {
	if len(ref) != 64 {
		return nil, damaged("a reference of %d bytes", len(ref))
	}
	path := chunkPath(r.folder, ref[:32])
	sealed, err := os.ReadFile(path)
	if err != nil {
		return nil, damaged("a piece is missing: %v", err)
	}
	data, err := unseal(ref[32:], 0, kindChunk, sealed)
	if err != nil {
		return nil, damaged("the piece %s was changed", path)
	}
	return data, nil
}

// content is what an entry holds.
type content struct {
	r    *Reader
	rest []byte
	err  error
}

func (c *content) Read(b []byte) (int, error) {
	for len(c.rest) == 0 && c.err == nil {
		c.rest, c.err = c.r.piece()
	}
	if len(c.rest) == 0 {
		return 0, c.err
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
