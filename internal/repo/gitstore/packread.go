package gitstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"tandem/internal/repo"
)

// pack is one pack file with its index, both mapped.
type pack struct {
	index  *packIndex
	lookup func(id string) (offset int64, ok bool)
	data   []byte
	path   string // of the file that data is; "" when it is in memory
	close  func()
	order  func() []uint32 // the objects as they follow each other, by their place in the index
	heavy  func() bool     // it has an object that nobody holds to unpack a difference from it
}

func openPack(base string) (*pack, error) {
	idx, releaseIdx, err := mapFile(base + ".idx")
	if err != nil {
		return nil, err
	}
	x, err := parsePackIndex(idx)
	if err != nil {
		releaseIdx()
		return nil, fmt.Errorf("%s.idx: %w", base, err)
	}
	data, release, err := mapFile(base + ".pack")
	if err != nil {
		releaseIdx()
		return nil, err
	}
	p := &pack{index: x, lookup: x.find, data: data, path: base + ".pack", close: func() { releaseIdx(); release() },
		order: sync.OnceValue(x.byOffset)}
	p.heavy = sync.OnceValue(p.hasHeavy)
	return p, nil
}

// maxDeltas bounds a chain of differences; git makes them 50 long.
const maxDeltas = 10_000

// entry is the head of one entry in a pack.
type entry struct {
	typ  repo.ObjectType
	size int
	base int64  // offset of the base, for offsetDelta
	ref  string // id of the base, for refDelta
	body int    // where the zlib stream starts
}

func parseEntry(data []byte, at int64) (e entry, err error) {
	if at < 12 || at >= int64(len(data)) {
		return e, fmt.Errorf("pack has no offset %d", at)
	}
	b := data[at:]
	e.typ = repo.ObjectType(b[0] >> 4 & 7)
	size, n := uint64(b[0]&15), 1
	for shift := 4; b[n-1]&0x80 != 0; shift += 7 {
		if n >= len(b) || shift > 56 {
			return e, fmt.Errorf("pack entry at %d has a bad size", at)
		}
		size |= uint64(b[n]&0x7f) << shift
		n++
	}
	if size > maxObject {
		return e, fmt.Errorf("pack entry at %d claims %d bytes", at, size)
	}
	e.size = int(size)
	switch e.typ {
	case offsetDelta:
		back, m := int64(0), 0
		for {
			if n+m >= len(b) || m > 8 {
				return e, fmt.Errorf("pack entry at %d has a bad base", at)
			}
			c := b[n+m]
			back = back<<7 | int64(c&0x7f)
			m++
			if c&0x80 == 0 {
				break
			}
			back++
		}
		n += m
		e.base = at - back
		if back <= 0 || e.base < 12 {
			return e, fmt.Errorf("pack entry at %d has a bad base", at)
		}
	case refDelta:
		if len(b) < n+20 {
			return e, fmt.Errorf("pack is cut short at %d", at)
		}
		e.ref = string(b[n : n+20])
		n += 20
	case repo.CommitObject, repo.TreeObject, repo.BlobObject, repo.TagObject:
	default:
		return e, fmt.Errorf("pack entry at %d of type %d", at, e.typ)
	}
	e.body = int(at) + n
	return e, nil
}

// read resolves the object at an offset. A base named by id that is not
// in the pack is asked of outside.
func (p *pack) read(at int64, bases *cache[baseKey, repo.Object], outside func(id string) (repo.Object, error)) (repo.Object, error) {
	type step struct {
		at    int64
		delta []byte
	}
	var steps []step
	var obj repo.Object
	for {
		if cached, ok := bases.get(baseKey{p, at}); ok {
			obj = cached
			break
		}
		e, err := parseEntry(p.data, at)
		if err != nil {
			return obj, err
		}
		if len(steps) >= maxDeltas {
			return obj, fmt.Errorf("pack has a chain of more than %d deltas", maxDeltas)
		}
		body, err := inflate(bytes.NewReader(p.data[e.body:]), e.size)
		if err != nil {
			return obj, fmt.Errorf("pack entry at %d: %w", at, err)
		}
		if e.typ == refDelta {
			steps = append(steps, step{at, body})
			if base, ok := p.lookup(e.ref); ok {
				at = base
				continue
			}
			if obj, err = outside(e.ref); err != nil {
				return obj, err
			}
			break
		}
		if e.typ != offsetDelta {
			obj = repo.Object{Type: e.typ, Data: body}
			bases.put(baseKey{p, at}, obj, len(body)+64)
			break
		}
		steps = append(steps, step{at, body})
		at = e.base
	}
	for i := len(steps) - 1; i >= 0; i-- {
		data, err := applyDelta(obj.Data, steps[i].delta)
		if err != nil {
			return obj, fmt.Errorf("pack entry at %d: %w", steps[i].at, err)
		}
		obj = repo.Object{Type: obj.Type, Data: data}
		bases.put(baseKey{p, steps[i].at}, obj, len(data)+64)
	}
	return obj, nil
}

// baseKey names an entry of a pack in the cache of delta bases.
type baseKey struct {
	p  *pack
	at int64
}

// deltaSize is how large a delta says that its result is; 0 for a bad one.
func deltaSize(delta []byte) int {
	_, n := binary.Uvarint(delta)
	if n <= 0 {
		return 0
	}
	size, n := binary.Uvarint(delta[n:])
	if n <= 0 || size > maxObject {
		return 0
	}
	return int(size)
}

// applyDelta makes an object of its base and git's list of copies and inserts.
func applyDelta(base, delta []byte) ([]byte, error) {
	bad := fmt.Errorf("bad delta")
	baseSize, n := binary.Uvarint(delta)
	if n <= 0 || baseSize != uint64(len(base)) {
		return nil, bad
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 || size > maxObject {
		return nil, bad
	}
	delta = delta[n:]
	out := make([]byte, 0, min(size, 1<<20))
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op == 0 {
			return nil, bad
		}
		if op&0x80 == 0 {
			k := int(op)
			if k > len(delta) || uint64(len(out)+k) > size {
				return nil, bad
			}
			out, delta = append(out, delta[:k]...), delta[k:]
			continue
		}
		var from, length uint64
		for i := range 7 {
			if op>>i&1 == 0 {
				continue
			}
			if len(delta) == 0 {
				return nil, bad
			}
			if i < 4 {
				from |= uint64(delta[0]) << (8 * i)
			} else {
				length |= uint64(delta[0]) << (8 * (i - 4))
			}
			delta = delta[1:]
		}
		if length == 0 {
			length = 0x10000
		}
		if from+length > uint64(len(base)) || uint64(len(out))+length > size {
			return nil, bad
		}
		out = append(out, base[from:from+length]...)
	}
	if uint64(len(out)) != size {
		return nil, bad
	}
	return out, nil
}
