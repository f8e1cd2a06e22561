package gitstore

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"tandem/internal/repo"
)

// PackWriter makes a pack as a stream. The number of objects is said first.
type PackWriter struct {
	w       io.Writer
	sum     interface{ Sum([]byte) []byte }
	at      int64
	left    int
	entries []packed
	buf     bytes.Buffer
}

var errTooMany = errors.New("more objects than the pack announced")

// NewPackWriter starts a pack of count objects.
func NewPackWriter(w io.Writer, count int) (*PackWriter, error) {
	h := sha1.New()
	p := &PackWriter{w: io.MultiWriter(w, h), sum: h, left: count}
	head := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, uint32(count))...)
	p.at = int64(len(head))
	_, err := p.w.Write(head)
	return p, err
}

// Add writes one object.
func (p *PackWriter) Add(id string, o repo.Object) error {
	return p.addEncoded(id, p.encode(o))
}

// encode is an object as an entry of a pack; the bytes are good until the next
// call.
func (p *PackWriter) encode(o repo.Object) []byte {
	p.head(o.Type, len(o.Data))
	deflate(&p.buf, o.Data)
	return p.buf.Bytes()
}

// head starts an entry in the buffer.
func (p *PackWriter) head(t repo.ObjectType, size int) {
	p.buf.Reset()
	c := byte(t)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.buf.WriteByte(c | 0x80)
		c = byte(size & 0x7f)
	}
	p.buf.WriteByte(c)
}

// addDelta writes an object as a difference of so many bytes, compressed, from the
// one that stands so far back.
func (p *PackWriter) addDelta(id string, size int, back int64, compressed []byte) error {
	p.head(offsetDelta, size)
	var b [10]byte
	n := len(b) - 1
	for b[n] = byte(back & 0x7f); back >= 0x80; {
		back = back>>7 - 1
		n--
		b[n] = byte(back) | 0x80
	}
	p.buf.Write(b[n:])
	p.buf.Write(compressed)
	return p.addEncoded(id, p.buf.Bytes())
}

func (p *PackWriter) addEncoded(id string, b []byte) error {
	if p.left == 0 {
		return errTooMany
	}
	p.left--
	p.entries = append(p.entries, packed{id, crc32.ChecksumIEEE(b), p.at})
	p.at += int64(len(b))
	_, err := p.w.Write(b)
	return err
}

// addFrom writes an entry as it is read.
func (p *PackWriter) addFrom(id string, r io.Reader) error {
	return p.addWith(id, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// addDeflated writes an object of so many bytes as they are read.
func (p *PackWriter) addDeflated(id string, t repo.ObjectType, size int, r io.Reader) error {
	p.head(t, size)
	return p.addWith(id, func(w io.Writer) error {
		if _, err := w.Write(p.buf.Bytes()); err != nil {
			return err
		}
		z := deflaters.Get().(*zlib.Writer)
		defer deflaters.Put(z)
		z.Reset(w)
		n, err := io.Copy(z, r)
		if err == nil && n != int64(size) {
			err = io.ErrUnexpectedEOF
		}
		return errors.Join(err, z.Close())
	})
}

// addWith has an entry written.
func (p *PackWriter) addWith(id string, write func(io.Writer) error) error {
	if p.left == 0 {
		return errTooMany
	}
	p.left--
	sum, at := crc32.NewIEEE(), p.at
	if err := write(io.MultiWriter(p.w, sum, (*tally)(&p.at))); err != nil {
		return err
	}
	p.entries = append(p.entries, packed{id, sum.Sum32(), at})
	return nil
}

// tally counts the bytes that are written to it.
type tally int64

func (t *tally) Write(b []byte) (int, error) {
	*t += tally(len(b))
	return len(b), nil
}

// Close ends the pack with its checksum.
func (p *PackWriter) Close() error {
	if p.left != 0 {
		return fmt.Errorf("%d objects fewer than the pack announced", p.left)
	}
	_, err := p.w.Write(p.checksum())
	return err
}

func (p *PackWriter) checksum() []byte { return p.sum.Sum(nil) }

// stagePack adds objects to a batch as one new pack with its index; base is its
// path without suffix.
func stagePack(b *batch, dir string, ids []string, objects map[string]repo.Object) (base string, err error) {
	packDir := filepath.Join(dir, "pack")
	if err := os.MkdirAll(packDir, 0o777); err != nil {
		return "", err
	}
	return stageNewPack(b, packDir, len(ids), func(w *PackWriter) error {
		for _, id := range ids {
			if err := w.Add(id, objects[id]); err != nil {
				return err
			}
		}
		return nil
	})
}

// stageFinishedPack adds a pack that lies under a temporary name, and its
// index. The index gets its name last, since readers look for that.
func stageFinishedPack(b *batch, packDir string, f *os.File, entries []packed, sum []byte) (base string, err error) {
	if err := f.Chmod(0o444); err != nil && runtime.GOOS != "windows" {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	base = filepath.Join(packDir, fmt.Sprintf("pack-%x", sum))
	b.take(f.Name(), base+".pack")
	return base, b.add(base+".idx", encodePackIndex(entries, sum), 0o444)
}
