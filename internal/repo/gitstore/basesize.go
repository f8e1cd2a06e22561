package gitstore

import (
	"context"
	"os"

	"tandem/internal/repo"
)

// unpackedAgain is how many times the bytes that a peer may send, unpacked, are
// unpacked once more because something differs from them.
const unpackedAgain = 4

// lineage is what stands behind an entry of a pack that is being unpacked.
type lineage struct {
	depth int16  // of its chain of differences
	size  uint32 // unpacked
	chain uint32 // bytes of the differences in its chain
}

// lastBase is the large object that was last held: no cache has it, and what
// follows it in a pack is often a difference from it.
type lastBase struct {
	at  int64
	obj repo.Object
}

// remember keeps a large object until the next one.
func (u *unpacking) remember(at int64, obj repo.Object) {
	if len(obj.Data) > large {
		u.last = lastBase{at, obj}
	}
}

// hold refuses an object that is too large to be held, and waits for its turn with
// one that is large.
func (u *unpacking) hold(ctx context.Context, size int) error {
	if size > u.in.limits.Held {
		return u.tooLarge(size)
	}
	if size > large {
		return u.turn(ctx)
	}
	return nil
}

// outside reads what an entry differs from and this pack does not have.
func (u *unpacking) outside(ctx context.Context, id string, size int) (repo.Object, error) {
	if err := u.hold(ctx, size); err != nil {
		return repo.Object{}, err
	}
	u.again += int64(size)
	return u.in.object(ctx, id)
}

// bounded refuses to unpack the same bytes over and over.
func (u *unpacking) bounded() error {
	if u.again+u.bases.offered() > unpackedAgain*u.in.limits.Total && !u.in.Served {
		return refuse("differences from large objects unpack to more than %d bytes", unpackedAgain*u.in.limits.Total)
	}
	return nil
}

// sizeOf is how many bytes an object of the quarantine or of the repository has,
// without unpacking it; it is not ok when there is none.
func (in *Incoming) sizeOf(id string) (size int, ok bool) {
	for _, p := range in.packs {
		if o, ok := p.small[id]; ok {
			return len(o.Data), true
		}
		if at, ok := p.pack.lookup(id); ok {
			return p.pack.sizeAt(at), true
		}
	}
	o := in.store.objects
	if size, ok = o.sizeOf(id); ok {
		return size, ok
	}
	if grown, err := o.lookAgain(); err != nil || !grown {
		return 0, false
	}
	return o.sizeOf(id)
}

// sizeOf is how many bytes an object has. What is damaged has 0: whoever reads it
// hears of that.
func (o *objects) sizeOf(id string) (size int, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if obj, ok := o.pending[id]; ok {
		return len(obj.Data), true
	}
	if p, at, ok := o.locate(id); ok {
		return p.sizeAt(at), true
	}
	for _, dir := range o.dirs {
		f, err := os.Open(loosePath(dir, id))
		if err != nil {
			continue
		}
		defer f.Close()
		zr, err := openInflater(f)
		if err != nil {
			return 0, true
		}
		defer inflaters.Put(zr)
		_, size, _ := looseHeader(zr)
		return size, true
	}
	return 0, false
}

// sizeAt is how many bytes the object at an offset has.
func (p *pack) sizeAt(at int64) int {
	e, err := parseEntry(p.data, at)
	if err != nil {
		return 0
	}
	if e.typ == offsetDelta || e.typ == refDelta {
		_, size := deltaSizes(p.data[e.body:])
		return int(size)
	}
	return e.size
}

// hasHeavy looks for an object that whoever receives this pack does not hold.
func (p *pack) hasHeavy() bool {
	for i := range p.index.count {
		at, ok := p.index.offset(i)
		if !ok {
			return false
		}
		if e, err := parseEntry(p.data, at); err == nil && e.size > DefaultLimits.Held {
			return true
		}
	}
	return false
}

// onHeavy says whether an entry is a difference from an object that whoever
// receives it does not hold: it has to travel whole.
func (p *pack) onHeavy(e entry) bool {
	if e.typ != offsetDelta && e.typ != refDelta || !p.heavy() {
		return false
	}
	base, result := deltaSizes(p.data[e.body:])
	return max(base, result) > int64(DefaultLimits.Held)
}
