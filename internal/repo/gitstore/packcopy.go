package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"sort"

	"tandem/internal/repo"
)

// copier fills a pack with objects as they stand in the packs that are there:
// compressed, and as a difference where what they differ from is in the same new
// pack. What cannot be copied is made anew, whole. Nothing in the new pack refers
// to anything outside it.
type copier struct {
	from *objects
	to   *PackWriter
	buf  bytes.Buffer
	left map[string]struct{} // asked for and not begun
	done map[string]written
}

// written is where an object stands in the new pack, and how many differences
// lead to it.
type written struct {
	at    int64
	depth int
}

// copyObjects writes objects, each once, into a pack that was started for as many.
func copyObjects(ctx context.Context, from *objects, to *PackWriter, ids []string) error {
	c := copier{from: from, to: to, left: make(map[string]struct{}, len(ids)), done: make(map[string]written, len(ids))}
	for _, id := range ids {
		c.left[id] = struct{}{}
	}
	for _, id := range ids {
		if err := c.put(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// put writes an object, and before it those of the same pack that it is a
// difference from.
func (c *copier) put(ctx context.Context, id string) error {
	stack := []string{id}
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		if _, ok := c.done[id]; ok {
			stack = stack[:len(stack)-1]
			continue
		}
		delete(c.left, id)
		base, err := c.copy(ctx, id)
		if err != nil {
			return err
		}
		if base != "" {
			stack = append(stack, base)
		}
	}
	return nil
}

// copy writes one object, or names the one that has to be written before it.
func (c *copier) copy(ctx context.Context, id string) (first string, err error) {
	e, ok, err := c.from.stored(ctx, id, &c.buf)
	if err != nil {
		return "", err
	}
	own := written{at: c.to.at}
	base, there := c.done[e.base]
	switch {
	case !ok:
		return "", c.whole(ctx, id)
	case e.base == "":
		err = c.to.addEncoded(id, e.data)
	case there && base.depth < deepest: // chains of several packs may stand on each other
		own.depth = base.depth + 1
		err = c.to.addDelta(id, e.size, own.at-base.at, e.data)
	default:
		if _, ok := c.left[e.base]; ok {
			return e.base, nil
		}
		return "", c.whole(ctx, id)
	}
	c.done[id] = own
	return "", err
}

func (c *copier) whole(ctx context.Context, id string) error {
	c.done[id] = written{at: c.to.at}
	if done, err := c.from.addLarge(ctx, c.to, id); done || err != nil {
		return err
	}
	o, err := c.from.readOrEmpty(ctx, id)
	if err != nil {
		return err
	}
	return c.to.Add(id, o)
}

// readOrEmpty is read; the empty tree is there even when nobody wrote it.
func (o *objects) readOrEmpty(ctx context.Context, id string) (repo.Object, error) {
	if id == string(repo.EmptyTreeID) {
		return repo.Object{Type: repo.TreeObject}, nil
	}
	return o.read(ctx, id)
}

// storedEntry is an object as it stands in a pack.
type storedEntry struct {
	base string // id of what it is a difference from; "" when it is whole
	size int    // unpacked, of the difference when it is one
	data []byte // all of the entry, or of a difference what follows its head
}

func damaged(id string) error { return fmt.Errorf("object %x: its pack is damaged", id) }

// stored copies an object's entry out of the pack it lies in; ok is false when it
// lies in none, or is or differs from something too large to hold.
func (o *objects) stored(ctx context.Context, id string, buf *bytes.Buffer) (s storedEntry, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return s, false, err
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	p, at, ok := o.locate(id)
	if !ok {
		return s, false, nil
	}
	e, err := parseEntry(p.data, at)
	if err != nil {
		return s, false, err
	}
	if e.typ == repo.BlobObject && e.size > large || p.onHeavy(e) {
		return s, false, nil
	}
	i, end, ok := p.extent(at)
	if !ok || end < int64(e.body) || crc32.ChecksumIEEE(p.data[at:end]) != p.index.crc(i) {
		return s, false, damaged(id)
	}
	s.size = e.size
	from := e.body
	switch e.typ {
	case offsetDelta:
		b, _, ok := p.extent(e.base)
		if !ok {
			return s, false, damaged(id)
		}
		s.base = string(p.index.id(b))
	case refDelta:
		s.base = e.ref
	default:
		from = int(at)
	}
	buf.Reset()
	buf.Write(p.data[from:end])
	s.data = buf.Bytes()
	return s, true, nil
}

// extent is the entry that starts at an offset: its place in the index, and where
// the next one starts.
func (p *pack) extent(at int64) (i int, end int64, ok bool) {
	order := p.order()
	start := func(k int) int64 { at, _ := p.index.offset(int(order[k])); return at }
	k := sort.Search(len(order), func(k int) bool { return start(k) >= at })
	if k == len(order) || start(k) != at {
		return 0, 0, false
	}
	end = int64(len(p.data)) - repo.CommitIDLen // the pack's own sum
	if k+1 < len(order) {
		end = min(end, start(k+1))
	}
	return int(order[k]), end, end > at
}
