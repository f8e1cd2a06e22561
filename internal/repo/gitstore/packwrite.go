package gitstore

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"tandem/internal/repo"
)

// PackWriter makes a pack of whole objects, without deltas, as a stream. The
// number of objects is said first.
type PackWriter struct {
	w       io.Writer
	sum     interface{ Sum([]byte) []byte }
	at      int64
	left    int
	entries []packed
	zw      *zlib.Writer
	buf     bytes.Buffer
}

// NewPackWriter starts a pack of count objects.
func NewPackWriter(w io.Writer, count int) (*PackWriter, error) {
	h := sha1.New()
	p := &PackWriter{w: io.MultiWriter(w, h), sum: h, left: count}
	p.zw, _ = zlib.NewWriterLevel(&p.buf, zlib.BestSpeed)
	head := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, uint32(count))...)
	p.at = int64(len(head))
	_, err := p.w.Write(head)
	return p, err
}

// Add writes one object.
func (p *PackWriter) Add(id string, o repo.Object) error {
	if p.left == 0 {
		return fmt.Errorf("more objects than the pack announced")
	}
	p.left--
	p.buf.Reset()
	size := len(o.Data)
	c := byte(o.Type)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.buf.WriteByte(c | 0x80)
		c = byte(size & 0x7f)
	}
	p.buf.WriteByte(c)
	p.zw.Reset(&p.buf)
	if _, err := p.zw.Write(o.Data); err != nil {
		return err
	}
	if err := p.zw.Close(); err != nil {
		return err
	}
	b := p.buf.Bytes()
	p.entries = append(p.entries, packed{id, crc32.ChecksumIEEE(b), p.at})
	p.at += int64(len(b))
	_, err := p.w.Write(b)
	return err
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

// writePack stores objects as one new pack with its index.
func writePack(dir string, ids []string, objects map[string]repo.Object) error {
	packDir := filepath.Join(dir, "pack")
	if err := os.MkdirAll(packDir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(packDir, "tmp_pack_*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	w, err := NewPackWriter(f, len(ids))
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.Add(id, objects[id]); err != nil {
			return err
		}
	}
	sum := w.checksum()
	if err := w.Close(); err != nil {
		return err
	}
	return installPack(packDir, f, w.entries, sum)
}

// installPack syncs a finished pack and gives it its name; the index comes
// last, since readers look for that.
func installPack(packDir string, f *os.File, entries []packed, sum []byte) error {
	if err := f.Chmod(0o444); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	base := filepath.Join(packDir, fmt.Sprintf("pack-%x", sum))
	if err := rename(f.Name(), base+".pack"); err != nil {
		return err
	}
	if err := writeFile(base+".idx", encodePackIndex(entries, sum), 0o444); err != nil {
		return err
	}
	return syncDir(packDir)
}
