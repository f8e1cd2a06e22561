package backup

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/fault"
	"tandem/internal/wholefile"
)

// Format is the first word of a copy.
const Format = "tandem.backup/v2"

// The kinds of records.
const (
	kindEntry = 'e' // an entry begins: JSON
	kindData  = 'd' // a piece of it, compressed
	kindChunk = 'c' // a piece of it that lies in the folder: 32 bytes name, 32 bytes key
	kindEnd   = 'z' // the last: JSON
)

type firstLine struct {
	Format string    `json:"format"`
	Made   time.Time `json:"made"`
	Lock   lock      `json:"lock"`
}

// Entry is something in a copy.
type Entry struct {
	Name string      `json:"name"` // with slashes
	Mode fs.FileMode `json:"mode,omitempty"`
}

type lastRecord struct {
	Records uint64 `json:"records"`
	Bytes   int64  `json:"bytes"`
}

// Sum is how large a copy is.
type Sum struct {
	Bytes   int64 `json:"bytes"`   // of what was copied
	Written int64 `json:"written"` // on disk, for this copy alone
}

// Writer writes a copy: whole and synced, or not at all.
type Writer struct {
	f      *wholefile.File
	w      *bufio.Writer
	key    []byte
	folder string // of chunks, "" when pieces are in the file
	naming []byte // the key by which pieces are named
	names  map[string]bool
	place  uint64
	sum    Sum
	small  *flate.Writer
	buf    []byte
}

// Create begins a copy at path, which must not be there. In a folder of copies naming
// gives equal pieces equal names, so that each is kept once; only its server knows it.
func Create(path string, made time.Time, s Secret, naming []byte) (*Writer, error) {
	w := &Writer{naming: naming, names: map[string]bool{}}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		w.folder = filepath.Join(path, "chunks")
		if err := os.MkdirAll(w.folder, 0o700); err != nil {
			return nil, err
		}
		path = filepath.Join(path, made.UTC().Format("20060102-150405.000000")+".copy")
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fault.New(fault.Conflict, "server.backup", "%s exists already", path).
			WithNext("choose another name, or a folder that is there: copies in one are incremental")
	}
	key, l, err := newKey(s)
	if err != nil {
		return nil, err
	}
	first, err := json.Marshal(firstLine{Format, made, l})
	if err != nil {
		return nil, err
	}
	if w.f, err = wholefile.Create(path); err != nil {
		return nil, fault.New(fault.Invalid, "server.backup", "cannot write there: %w", err).
			WithNext("choose a folder that exists and that you may write to")
	}
	w.key, w.w = key, bufio.NewWriterSize(w.f, 1<<16)
	if _, err = w.w.Write(append(first, '\n')); err != nil {
		w.Drop()
	}
	return w, err
}

func (w *Writer) record(kind byte, data []byte) error {
	sealed, err := seal(w.key, w.place, kind, data)
	if err != nil {
		return err
	}
	w.place++
	var head [5]byte
	head[0] = kind
	binary.BigEndian.PutUint32(head[1:], uint32(len(sealed)))
	_, err = w.w.Write(head[:])
	if err == nil {
		_, err = w.w.Write(sealed)
	}
	return err
}

// Add copies an entry.
func (w *Writer) Add(e Entry, from io.Reader) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := w.record(kindEntry, data); err != nil {
		return err
	}
	if w.buf == nil { // thousands of small files share it
		w.buf = make([]byte, 0, pieceMost)
	}
	return split(from, w.buf, w.piece)
}

func (w *Writer) piece(data []byte) error {
	w.sum.Bytes += int64(len(data))
	var small bytes.Buffer
	if w.small == nil { // a new one takes a megabyte, and a repository has thousands of pieces
		var err error
		if w.small, err = flate.NewWriter(&small, flate.BestSpeed); err != nil {
			return err
		}
	}
	w.small.Reset(&small)
	if _, err := w.small.Write(data); err != nil {
		return err
	}
	if err := w.small.Close(); err != nil {
		return err
	}
	if w.folder == "" {
		return w.record(kindData, small.Bytes())
	}
	name, key := w.derive("name", data), w.derive("key", data)
	w.names[hex.EncodeToString(name)] = true
	if err := w.chunk(name, key, small.Bytes()); err != nil {
		return err
	}
	return w.record(kindChunk, append(name, key...))
}

func (w *Writer) derive(what string, data []byte) []byte {
	m := hmac.New(sha256.New, w.naming)
	io.WriteString(m, what+"\n")
	m.Write(data)
	return m.Sum(nil)
}

// chunk keeps a piece in the folder, unless a copy before has it.
func (w *Writer) chunk(name, key, data []byte) error {
	path := chunkPath(w.folder, name)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	sealed, err := seal(key, 0, kindChunk, data)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	w.sum.Written += int64(len(sealed))
	return wholefile.Write(path, sealed)
}

// complete refuses a copy of which somebody else's tidying took a piece that it found there.
func (w *Writer) complete() error {
	for name := range w.names {
		if _, err := os.Lstat(filepath.Join(w.folder, name[:2], name[2:])); err != nil {
			return fault.New(fault.Unavailable, "server.backup", "a piece of the copy was removed meanwhile: %w", err).
				WithNext("make the copy again")
		}
	}
	return nil
}

func chunkPath(folder string, name []byte) string {
	text := hex.EncodeToString(name)
	return filepath.Join(folder, text[:2], text[2:])
}

// Path is where the copy is when it is kept.
func (w *Writer) Path() string { return w.f.Path() }

// Keep ends the copy.
func (w *Writer) Keep() (Sum, error) {
	data, err := json.Marshal(lastRecord{w.place, w.sum.Bytes})
	if err != nil {
		return w.sum, err
	}
	if err := w.record(kindEnd, data); err != nil {
		return w.sum, err
	}
	if err := w.w.Flush(); err != nil {
		return w.sum, err
	}
	if w.folder != "" {
		if err := w.complete(); err != nil {
			return w.sum, err
		}
		if err := writePieces(w.Path(), w.names); err != nil {
			return w.sum, err
		}
	}
	size, err := w.f.Seek(0, io.SeekCurrent)
	w.sum.Written += size
	return w.sum, errors.Join(err, w.f.Keep())
}

// Drop removes a copy that was not kept. Pieces that it left in a folder go with the
// next tidying.
func (w *Writer) Drop() { w.f.Drop() }
