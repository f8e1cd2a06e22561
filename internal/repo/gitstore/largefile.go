package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/internal/repo"
)

// large is from how many bytes on a file is not held in memory: it is hashed,
// stored, sent and checked out as it goes by. Anything else of that size is
// unpacked in its turn, so that a few small requests that unpack to much cannot
// take all memory.
const large = repo.LargeFile

// OpenFile gives a file's bytes as they are read, and how many they are.
func (s *Store) OpenFile(ctx context.Context, id repo.FileID) (io.ReadCloser, int64, error) {
	if f, ok := s.objects.openLarge(string(id)); ok {
		return f.until(ctx), int64(f.size), nil
	}
	data, err := s.File(ctx, id)
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), err
}

// PutLargeFile stores so many bytes as a pack of their own, which is sent on as it
// stands. Unlike what else is put it is durable at once.
func (s *Store) PutLargeFile(ctx context.Context, r io.ReaderAt, size int64) (repo.FileID, error) {
	if err := repo.CheckFileSize(size); err != nil {
		return "", err
	}
	o := s.objects
	read := func() io.Reader { return until{ctx, io.NewSectionReader(r, 0, size)} }
	h := repo.NewObjectHash(repo.BlobObject, int(size))
	if n, err := io.Copy(h, read()); err != nil || n != size {
		return "", errOr(err, io.ErrUnexpectedEOF)
	}
	id := string(h.Sum(nil))
	if o.has(id) {
		return repo.FileID(id), nil
	}
	dir := filepath.Join(o.dir, "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	var b batch
	defer b.drop()
	base, err := stageNewPack(&b, dir, 1, func(w *PackWriter) error {
		h := repo.NewObjectHash(repo.BlobObject, int(size)) // it may have changed since it was looked for
		if err := w.addDeflated("", repo.BlobObject, int(size), io.TeeReader(read(), h)); err != nil {
			return err
		}
		id = string(h.Sum(nil))
		w.entries[0].id = id
		return nil
	})
	if err != nil {
		return "", err
	}
	if err := b.commit(); err != nil {
		return "", err
	}
	return repo.FileID(id), o.addPack(base)
}

// largeFile is a large file's bytes, as they are unpacked from a file on disk or
// from a pack in memory.
type largeFile struct {
	f    io.Closer
	zr   io.Reader
	size int
	left int
}

// Read unpacks the next bytes. The end is one only when all of them came.
func (l *largeFile) Read(b []byte) (int, error) {
	if l.left == 0 {
		return 0, errOr(endOfStream(l.zr), io.EOF)
	}
	n, err := l.zr.Read(b[:min(len(b), l.left)])
	l.left -= n
	if err == io.EOF {
		err = nil
		if l.left > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// until reads the file until a context ends.
func (l *largeFile) until(ctx context.Context) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{until{ctx, l}, l}
}

// Close lets the file go.
func (l *largeFile) Close() error {
	inflaters.Put(l.zr)
	return l.f.Close()
}

// openLarge opens a large file that lies loose or whole in a pack. Anything else is
// for read, which also says what is wrong with it. A loose one is taken first: it
// was put beside a pack to mend that. When the pack was taken away meanwhile, what
// took its place is looked for: what is mapped of it would have to be held.
func (o *objects) openLarge(id string) (*largeFile, bool) {
	l, gone := o.tryLarge(id)
	if gone && o.reload() == nil {
		l, _ = o.tryLarge(id)
	}
	return l, l != nil
}

func (o *objects) tryLarge(id string) (l *largeFile, gone bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if _, ok := o.pending[id]; ok || len(id) != repo.CommitIDLen {
		return nil, false
	}
	p, at, packed := o.locate(id)
	if packed {
		if e, err := parseEntry(p.data, at); err != nil || e.typ != repo.BlobObject || e.size <= large {
			return nil, false
		}
	}
	for _, dir := range o.dirs {
		if l, ok := openLargeLoose(loosePath(dir, id)); ok {
			return l, false
		}
	}
	if !packed {
		return nil, false
	}
	return p.openLarge(at)
}

// densest is how many bytes one compressed byte can stand for.
const densest = 1032

func openLargeLoose(path string) (l *largeFile, ok bool) {
	if st, err := os.Lstat(path); err != nil || st.Size() < large/densest {
		return nil, false
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	zr, err := openInflater(bufio.NewReaderSize(f, 64<<10))
	if err != nil {
		f.Close()
		return nil, false
	}
	l = &largeFile{f: f, zr: zr}
	typ, size, err := looseHeader(zr)
	if err != nil || typ != repo.BlobObject || size <= large || size > maxObject {
		l.Close()
		return nil, false
	}
	l.size, l.left = size, size
	return l, true
}

// openLarge opens the whole entry at an offset. It is read from the file and not
// from the map of it, whose pages would count as this program's memory and which
// goes when the pack does. It is nil when that cannot be, and says so when the file
// has gone.
func (p *pack) openLarge(at int64) (l *largeFile, gone bool) {
	e, err := parseEntry(p.data, at)
	if err != nil {
		return nil, false
	}
	var from io.Reader = bytes.NewReader(p.data[e.body:])
	l = &largeFile{f: io.NopCloser(nil), size: e.size, left: e.size}
	if p.path != "" {
		f, err := os.Open(p.path)
		if err != nil {
			return nil, errors.Is(err, fs.ErrNotExist)
		}
		from, l.f = io.NewSectionReader(f, int64(e.body), int64(len(p.data)-e.body)), f
	}
	if l.zr, err = openInflater(bufio.NewReaderSize(from, 64<<10)); err != nil {
		l.f.Close()
		return nil, false
	}
	return l, false
}

// addLarge writes a large file into a pack, as it stands in the pack that it lies
// in, or compressed anew; done is false for anything else.
func (o *objects) addLarge(ctx context.Context, to *PackWriter, id string) (done bool, err error) {
	f, at, n, sum, err := o.largeEntry(id)
	if err != nil {
		return false, err
	}
	if f != nil {
		defer f.Close()
		got := crc32.NewIEEE()
		if err := to.addFrom(id, io.TeeReader(until{ctx, io.NewSectionReader(f, at, n)}, got)); err != nil {
			return true, err
		}
		if got.Sum32() != sum {
			return true, damaged(id)
		}
		return true, nil
	}
	l, ok := o.openLarge(id)
	if !ok {
		return false, nil
	}
	defer l.Close()
	return true, to.addDeflated(id, repo.BlobObject, l.size, until{ctx, l})
}

// largeEntry is where a large file stands whole in a pack, and what that must sum
// up to; the file is nil when it does not, or lies loose beside it.
func (o *objects) largeEntry(id string) (f *os.File, at, n int64, sum uint32, err error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	p, at, ok := o.locate(id)
	if !ok || p.path == "" {
		return nil, 0, 0, 0, nil
	}
	e, err := parseEntry(p.data, at)
	if err != nil || e.typ != repo.BlobObject || e.size <= large {
		return nil, 0, 0, 0, err
	}
	for _, dir := range o.dirs {
		if _, err := os.Lstat(loosePath(dir, id)); err == nil {
			return nil, 0, 0, 0, nil
		}
	}
	i, end, ok := p.extent(at)
	if !ok || end < int64(e.body) {
		return nil, 0, 0, 0, damaged(id)
	}
	f, err = os.Open(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, 0, 0, nil // a repack has taken it away
	}
	return f, at, end - at, p.index.crc(i), err
}
