package gitstore

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"tandem/internal/repo"
)

// maxObject bounds what a header may claim, so that a hostile file cannot ask
// for all memory.
const maxObject = repo.LargestFile

var inflaters = sync.Pool{}

// inflate reads one zlib stream that must hold exactly size bytes.
func inflate(src io.Reader, size int) ([]byte, error) {
	zr, err := openInflater(src)
	if err != nil {
		return nil, err
	}
	defer inflaters.Put(zr)
	return readExactly(zr, size)
}

func openInflater(src io.Reader) (io.Reader, error) {
	if zr, ok := inflaters.Get().(io.Reader); ok {
		if err := zr.(zlib.Resetter).Reset(src, nil); err != nil {
			return nil, err
		}
		return zr, nil
	}
	return zlib.NewReader(src)
}

// readExactly grows as the bytes come: a claimed size is believed only so far.
func readExactly(r io.Reader, size int) ([]byte, error) {
	if size < 0 || size > maxObject {
		return nil, fmt.Errorf("object of %d bytes is too large", size)
	}
	if size <= 1<<20 {
		buf := make([]byte, size)
		if _, err := io.ReadFull(r, buf); err != nil {
			return nil, err
		}
		return buf, endOfStream(r)
	}
	var buf bytes.Buffer
	if n, err := io.Copy(&buf, io.LimitReader(r, int64(size))); err != nil || n != int64(size) {
		return nil, fmt.Errorf("object ends after %d of %d bytes: %w", n, size, errOr(err, io.ErrUnexpectedEOF))
	}
	return buf.Bytes(), endOfStream(r)
}

func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func endOfStream(r io.Reader) error {
	var one [1]byte
	n, err := r.Read(one[:])
	if n > 0 {
		return fmt.Errorf("object is longer than its header says")
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// decodeLoose reads a loose object file.
func decodeLoose(src io.Reader) (repo.Object, error) {
	zr, err := openInflater(src)
	if err != nil {
		return repo.Object{}, err
	}
	defer inflaters.Put(zr)
	typ, size, err := looseHeader(zr)
	if err != nil {
		return repo.Object{}, err
	}
	data, err := readExactly(zr, size)
	return repo.Object{Type: typ, Data: data}, err
}

// looseHeader reads "type size\0".
func looseHeader(zr io.Reader) (repo.ObjectType, int, error) {
	var head [32]byte
	n := 0
	for {
		if n == len(head) {
			return 0, 0, fmt.Errorf("loose object has no header")
		}
		if _, err := io.ReadFull(zr, head[n:n+1]); err != nil {
			return 0, 0, err
		}
		if head[n] == 0 {
			break
		}
		n++
	}
	name, sizeText, ok := bytes.Cut(head[:n], []byte{' '})
	size, err := strconv.Atoi(string(sizeText))
	if !ok || err != nil {
		return 0, 0, fmt.Errorf("loose object has a bad header")
	}
	typ := typeNamed(string(name))
	if typ == 0 {
		return 0, 0, fmt.Errorf("loose object of type %q", name)
	}
	return typ, size, nil
}

func typeNamed(name string) repo.ObjectType {
	for t := repo.CommitObject; t <= repo.TagObject; t++ {
		if t.String() == name {
			return t
		}
	}
	return 0
}

// encodeLoose is the bytes of a loose object file.
func encodeLoose(o repo.Object) []byte {
	var buf bytes.Buffer
	deflate(&buf, fmt.Appendf(nil, "%s %d\x00", o.Type, len(o.Data)), o.Data)
	return buf.Bytes()
}

func loosePath(dir, id string) string {
	h := hex.EncodeToString([]byte(id))
	return filepath.Join(dir, h[:2], h[2:])
}

// readLoose reads an object of a directory of loose ones.
func readLoose(dir, id string) (repo.Object, error) {
	f, err := os.Open(loosePath(dir, id))
	if err != nil {
		return repo.Object{}, err
	}
	defer f.Close()
	o, err := decodeLoose(f)
	if err != nil {
		return o, fmt.Errorf("object %x: %w", id, err)
	}
	return o, nil
}

// stageLoose adds objects to a batch as loose files.
func stageLoose(b *batch, dir string, ids []string, objects map[string]repo.Object) error {
	for _, id := range ids {
		path := loosePath(dir, id)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		b.touch(dir)
		if err := b.add(path, encodeLoose(objects[id]), 0o444); err != nil {
			return err
		}
	}
	return nil
}
