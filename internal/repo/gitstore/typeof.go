package gitstore

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"tandem/internal/repo"
)

// typeOf is an object's type, found without unpacking it; 0 when it is not
// there.
func (o *objects) typeOf(ctx context.Context, id string) (repo.ObjectType, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	t, err := o.knownType(id)
	if t != 0 || err != nil {
		return t, err
	}
	grown, err := o.lookAgain()
	if err != nil || !grown {
		return 0, err
	}
	return o.knownType(id)
}

// knownType is typeOf without a look for packs that are new.
func (o *objects) knownType(id string) (repo.ObjectType, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.findType(id, 0)
}

func (o *objects) findType(id string, depth int) (repo.ObjectType, error) {
	if len(id) != repo.CommitIDLen || depth > maxDeltas {
		return 0, fmt.Errorf("object %x has no type", id)
	}
	if obj, ok := o.pending[id]; ok {
		return obj.Type, nil
	}
	if p, at, ok := o.locate(id); ok {
		return p.typeAt(at, func(base string) (repo.ObjectType, error) { return o.findType(base, depth+1) })
	}
	for _, dir := range o.dirs {
		f, err := os.Open(loosePath(dir, id))
		if err != nil {
			continue
		}
		defer f.Close()
		return looseType(f)
	}
	return 0, nil
}

// typeAt follows differences down to the object they start from.
func (p *pack) typeAt(at int64, outside func(id string) (repo.ObjectType, error)) (repo.ObjectType, error) {
	for range maxDeltas {
		e, err := parseEntry(p.data, at)
		if err != nil {
			return 0, err
		}
		switch e.typ {
		case offsetDelta:
			at = e.base
		case refDelta:
			base, ok := p.lookup(e.ref)
			if !ok {
				return outside(e.ref)
			}
			at = base
		default:
			return e.typ, nil
		}
	}
	return 0, fmt.Errorf("pack has a chain of more than %d deltas", maxDeltas)
}

func looseType(f fs.File) (repo.ObjectType, error) {
	zr, err := openInflater(f)
	if err != nil {
		return 0, err
	}
	defer inflaters.Put(zr)
	typ, _, err := looseHeader(zr)
	return typ, err
}
