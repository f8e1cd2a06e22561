package gitstore

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"tandem/internal/repo"
)

// deepest is how long a chain of differences may be that is stored as it came;
// git itself makes none longer.
const deepest = 4095

// mostThin is how many packs may have differences from objects outside of them:
// each can stand on the one before, and reading the last reads them all.
const mostThin = 64

// unpacking names the objects of one pack as it is read. Whoever copies out of a
// pack writes the base of a difference before it, so that nearly all can be named
// at once; those that cannot wait for theirs.
type unpacking struct {
	in    *Incoming
	p     *incomingPack
	lines []lineage        // of each entry
	named map[string]int64 // offsets
	bases *cache[baseKey, repo.Object]
	last  lastBase
	again int64 // bytes of objects outside of the pack that were read for it

	behind map[int64][]int  // entries that wait for the one at an offset
	after  map[string][]int // entries that wait for an object
	waits  int
}

// index finds every entry of a pack, resolves it and names it.
func (in *Incoming) index(ctx context.Context, p *incomingPack) error {
	data := p.pack.data
	if len(data) < 12+sha1.Size || string(data[:8]) != "PACK\x00\x00\x00\x02" {
		return refuse("not a git pack of version 2")
	}
	body := data[:len(data)-sha1.Size]
	sum := sha1.New()
	if _, err := io.Copy(sum, until{ctx, p.from(0, len(body))}); err != nil {
		return err
	}
	if p.sum = data[len(body):]; !bytes.Equal(sum.Sum(nil), p.sum) {
		return refuse("pack is damaged: its checksum is wrong")
	}
	count := int(binary.BigEndian.Uint32(data[8:]))
	if in.objects += count; in.objects > in.limits.Objects {
		return refuse("more than %d objects", in.limits.Objects)
	}
	if count > len(body) {
		return refuse("pack claims more objects than it has bytes")
	}
	named := make(map[string]int64, count)
	p.pack.lookup = func(id string) (int64, bool) {
		at, ok := named[id]
		return at, ok
	}
	u := &unpacking{
		in: in, p: p, named: named, bases: newCache[baseKey, repo.Object](64 << 20),
		behind: map[int64][]int{}, after: map[string][]int{},
	}
	defer func() {
		if p.large {
			<-turns
		}
	}()
	at := int64(12)
	for range count {
		if err := ctx.Err(); err != nil {
			return err
		}
		end, err := u.entry(ctx, body, at)
		if err != nil {
			return err
		}
		at = end
	}
	if at != int64(len(body)) {
		return refuse("pack has bytes after its last object")
	}
	if u.waits > 0 {
		return refuse("pack has differences from objects that are missing")
	}
	return nil
}

// entry takes in the entry at an offset and says where it ends.
func (u *unpacking) entry(ctx context.Context, body []byte, at int64) (end int64, err error) {
	e, err := parseEntry(body, at)
	if err != nil {
		return 0, refuse("pack cannot be read: %w", err)
	}
	i := len(u.p.entries)
	u.p.entries = append(u.p.entries, packed{offset: at})
	u.lines = append(u.lines, lineage{})
	if e.size > large {
		if err := u.turn(ctx); err != nil {
			return 0, err
		}
		if e.typ == repo.BlobObject {
			return u.largeFile(ctx, body, e, i)
		}
	}
	e, data, end, err := u.read(body, at)
	if err != nil {
		return 0, err
	}
	u.p.entries[i].crc = crc32.ChecksumIEEE(body[at:end])
	return end, u.resolve(ctx, i, e, data)
}

// read unpacks an entry that must be held in memory.
func (u *unpacking) read(body []byte, at int64) (entry, []byte, int64, error) {
	e, err := parseEntry(body, at)
	if err == nil && e.size > u.in.limits.Held {
		return e, nil, 0, u.tooLarge(e.size)
	}
	e, data, end, err := readEntry(body, at)
	if err != nil {
		err = refuse("pack cannot be read: %w", err)
	}
	return e, data, end, err
}

func (u *unpacking) tooLarge(size int) error {
	return refuse("an object of %d bytes is too large: only files that come whole may have more than %d", size, u.in.limits.Held)
}

var turns = make(chan struct{}, 2)

// turn waits until not too many unpack something large; whoever unpacks this pack
// has it until the pack's end, which is all here.
func (u *unpacking) turn(ctx context.Context) error {
	if u.p.large {
		return nil
	}
	select {
	case turns <- struct{}{}:
		u.p.large = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// largeFile names a file without holding it.
func (u *unpacking) largeFile(ctx context.Context, body []byte, e entry, i int) (end int64, err error) {
	if u.in.total+int64(e.size) > u.in.limits.Total {
		return 0, refuse("objects unpack to more than %d bytes", u.in.limits.Total)
	}
	own := &u.p.entries[i]
	src := bufio.NewReaderSize(u.p.from(e.body, len(body)), 64<<10)
	read := &counted{r: src}
	zr, err := openInflater(read)
	if err != nil {
		return 0, refuse("pack cannot be read: %w", err)
	}
	defer inflaters.Put(zr)
	h := repo.NewObjectHash(repo.BlobObject, e.size)
	n, err := io.Copy(h, until{ctx, io.LimitReader(zr, int64(e.size))})
	if err == nil && n == int64(e.size) {
		err = endOfStream(zr)
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil || n != int64(e.size) {
		return 0, refuse("pack cannot be read: %w", errOr(err, io.ErrUnexpectedEOF))
	}
	own.id, u.lines[i].size = string(h.Sum(nil)), uint32(e.size)
	end = int64(e.body) + read.n
	crc := crc32.NewIEEE()
	if _, err := io.Copy(crc, until{ctx, u.p.from(int(own.offset), int(end))}); err != nil {
		return 0, err
	}
	own.crc = crc.Sum32()
	if err := u.in.takeNamed(own.id, repo.BlobObject, e.size); err != nil {
		return 0, err
	}
	if err := u.once(own); err != nil {
		return 0, err
	}
	return end, u.wake(ctx, own)
}

// from reads a part of a pack: out of its file when it has one, since what is read
// of the map of a file counts as memory.
func (p *incomingPack) from(start, end int) io.Reader {
	if p.file != nil {
		return io.NewSectionReader(p.file, int64(start), int64(end-start))
	}
	return bytes.NewReader(p.pack.data[start:end])
}

// counted counts what is read through it. Whoever unpacks takes bytes one by one
// from it, and none behind the end of what he unpacks.
type counted struct {
	r *bufio.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// once notes where an object is; a pack has each one once.
func (u *unpacking) once(own *packed) error {
	if _, twice := u.named[own.id]; twice {
		return refuse("pack has object %x twice", own.id)
	}
	u.named[own.id] = own.offset
	return nil
}

// readEntry unpacks the entry at an offset and says where it ends.
func readEntry(data []byte, at int64) (e entry, unpacked []byte, end int64, err error) {
	if e, err = parseEntry(data, at); err != nil {
		return e, nil, 0, err
	}
	src := bytes.NewReader(data[e.body:])
	unpacked, err = inflate(src, e.size)
	return e, unpacked, int64(len(data) - src.Len()), err
}

// resolve names an entry, and then those that waited for it.
func (u *unpacking) resolve(ctx context.Context, i int, e entry, data []byte) error {
	done, err := u.name(ctx, i, e, data)
	if err != nil || !done {
		return err
	}
	return u.wake(ctx, &u.p.entries[i])
}

// wake names the entries that waited for one.
func (u *unpacking) wake(ctx context.Context, own *packed) error {
	todo := u.waiters(own)
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		u.waits--
		e, data, _, err := u.read(u.p.pack.data, u.p.entries[i].offset)
		if err != nil {
			return err
		}
		done, err := u.name(ctx, i, e, data)
		if err != nil {
			return err
		}
		if done {
			todo = append(todo, u.waiters(&u.p.entries[i])...)
		}
	}
	return nil
}

func (u *unpacking) waiters(own *packed) []int {
	out := append(u.behind[own.offset], u.after[own.id]...)
	delete(u.behind, own.offset)
	delete(u.after, own.id)
	return out
}

// name makes an object of an entry; it is not done when the entry has to wait.
func (u *unpacking) name(ctx context.Context, i int, e entry, data []byte) (done bool, err error) {
	obj := repo.Object{Type: e.typ, Data: data}
	if e.typ == offsetDelta || e.typ == refDelta {
		base, ok, err := u.base(ctx, i, e)
		if err != nil || !ok {
			return false, err
		}
		obj.Type = base.Type
		if err := u.hold(ctx, deltaSize(data)); err != nil {
			return false, err
		}
		if obj.Data, err = applyDelta(base.Data, data); err != nil {
			return false, refuse("pack entry at %d: %w", u.p.entries[i].offset, err)
		}
	}
	own := &u.p.entries[i]
	u.lines[i].size = uint32(len(obj.Data))
	u.remember(own.offset, obj)
	if own.id, err = u.in.take(obj); err != nil {
		return false, err
	}
	if err := u.once(own); err != nil {
		return false, err
	}
	u.bases.put(baseKey{u.p.pack, own.offset}, obj, len(obj.Data)+64)
	if u.in.total <= inMemory {
		u.p.small[own.id] = obj
	}
	return true, nil
}

// base is what an entry is a difference from. When that is not known yet, the
// entry waits.
func (u *unpacking) base(ctx context.Context, i int, e entry) (base repo.Object, ok bool, err error) {
	at := e.base
	if e.typ == refDelta {
		if at, ok = u.named[e.ref]; !ok {
			return u.baseOutside(ctx, i, e)
		}
	}
	j, ok := slices.BinarySearchFunc(u.p.entries, at, func(e packed, at int64) int { return cmp.Compare(e.offset, at) })
	if !ok {
		return base, false, refuse("pack entry at %d is a difference from none", u.p.entries[i].offset)
	}
	if u.p.entries[j].id == "" {
		u.behind[at] = append(u.behind[at], i)
		u.waits++
		return base, false, nil
	}
	from, own := u.lines[j], &u.lines[i]
	if own.depth = from.depth + 1; own.depth > deepest {
		return base, false, refuse("pack has a chain of more than %d differences", deepest)
	}
	chain := int64(from.chain) + int64(e.size)
	if own.chain = uint32(min(chain, math.MaxUint32)); chain/4 > int64(u.in.limits.Held) {
		return base, false, refuse("pack has a chain of differences of %d bytes", chain)
	}
	if err := u.hold(ctx, int(from.size)); err != nil {
		return base, false, err
	}
	if u.last.at == at {
		return u.last.obj, true, nil
	}
	if err := u.bounded(); err != nil {
		return base, false, err
	}
	base, err = u.p.pack.read(at, u.bases, func(id string) (repo.Object, error) {
		size, _ := u.in.sizeOf(id)
		return u.outside(ctx, id, size)
	})
	if err != nil {
		err = fmt.Errorf("read again what has arrived: %w", err)
	}
	u.remember(at, base)
	return base, err == nil, err
}

// baseOutside is base for an entry that differs from what its pack does not have,
// or not yet.
func (u *unpacking) baseOutside(ctx context.Context, i int, e entry) (base repo.Object, ok bool, err error) {
	size, ok := u.in.sizeOf(e.ref)
	if !ok {
		u.after[e.ref] = append(u.after[e.ref], i)
		u.waits++
		return base, false, nil
	}
	if !u.p.thin && u.in.thin == mostThin {
		return base, false, refuse("more than %d packs have differences from objects outside of them", mostThin)
	}
	u.p.thin = true
	if err := u.bounded(); err != nil {
		return base, false, err
	}
	base, err = u.outside(ctx, e.ref, size)
	return base, err == nil, err
}
