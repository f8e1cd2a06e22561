package gitstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// What is sent travels in packs of at most so many objects and about so many
// bytes: one that has arrived whole need not be sent again.
const (
	PartObjects = 8192
	partBytes   = 32 << 20
)

// copyFrom is from how many objects on it pays to learn the order of whole packs
// and copy out of them.
const copyFrom = 512

// Part is how many objects from the start of a list travel together in one pack.
func (s *Store) Part(ids []string) int {
	var along map[string]struct{}
	if len(ids) >= copyFrom {
		along = make(map[string]struct{}, min(len(ids), PartObjects))
	}
	weight := int64(0)
	for n, id := range ids {
		if weight += s.objects.weight(id, along); n == PartObjects || n > 0 && weight > partBytes {
			return n
		}
		if along != nil {
			along[id] = struct{}{}
		}
	}
	return len(ids)
}

// WritePack writes objects as one pack that needs nothing outside it. How small
// ones look in a pack is remembered when they are few: everybody who follows a
// repository is sent the same.
func (s *Store) WritePack(ctx context.Context, w io.Writer, ids []string) error {
	p, err := NewPackWriter(w, len(ids))
	if err != nil {
		return err
	}
	if len(ids) >= copyFrom {
		if err := copyObjects(ctx, s.objects, p, ids); err != nil {
			return err
		}
		return p.Close()
	}
	for _, id := range ids { // fewer than would last
		entry, ok := s.entries.get(id)
		if !ok {
			if done, err := s.objects.addLarge(ctx, p, id); err != nil {
				return err
			} else if done {
				continue
			}
			o, err := s.objects.readOrEmpty(ctx, id)
			if err != nil {
				return err
			}
			entry = p.encode(o)
			if len(entry) < 32<<10 {
				entry = bytes.Clone(entry)
				s.entries.put(id, entry, len(entry)+100)
			}
		}
		if err := p.addEncoded(id, entry); err != nil {
			return err
		}
	}
	return p.Close()
}

// CountObjects is about how many objects the repository has: those of its packs,
// some perhaps twice, and the loose ones of a few of the folders they lie in.
func (s *Store) CountObjects() int {
	o := s.objects
	o.mu.RLock()
	defer o.mu.RUnlock()
	n := 0
	for _, p := range o.order {
		n += p.index.count
	}
	const look = 16 // of 256 folders, which fill alike
	for i := range look {
		names, _ := os.ReadDir(filepath.Join(o.dir, fmt.Sprintf("%02x", i))) // none when there is no such folder
		n += len(names) * 256 / look
	}
	return n
}

// weight is about how many bytes an object takes in a pack with others that go
// along; nil when all are whole. It is 0 when that cannot be told.
func (o *objects) weight(id string, along map[string]struct{}) int64 {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if obj, ok := o.pending[id]; ok {
		return int64(len(obj.Data))
	}
	p, at, ok := o.locate(id)
	if !ok {
		for _, dir := range o.dirs {
			if st, err := os.Lstat(loosePath(dir, id)); err == nil {
				return st.Size()
			}
		}
		return 0
	}
	e, err := parseEntry(p.data, at)
	if err != nil {
		return 0
	}
	base := e.ref
	switch {
	case e.typ != offsetDelta && e.typ != refDelta:
		return int64(e.size)
	case e.typ == offsetDelta && along != nil:
		if i, _, ok := p.extent(e.base); ok {
			base = string(p.index.id(i))
		}
	}
	if _, ok := along[base]; ok {
		return int64(e.size)
	}
	_, size := deltaSizes(p.data[e.body:])
	return size
}

// deltaSizes are how large a compressed difference says that its base and its
// result are; 0 when that cannot be told.
func deltaSizes(compressed []byte) (base, result int64) {
	zr, err := openInflater(bytes.NewReader(compressed))
	if err != nil {
		return 0, 0
	}
	defer inflaters.Put(zr)
	var head [2 * binary.MaxVarintLen64]byte
	n, err := io.ReadFull(zr, head[:])
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, 0
	}
	from, k := binary.Uvarint(head[:n])
	if k <= 0 {
		return 0, 0
	}
	to, _ := binary.Uvarint(head[k:n])
	return int64(min(from, maxObject)), int64(min(to, maxObject))
}
