package gitstore

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/repo"
)

// Small packs are joined when there are so many: every look-up asks them all.
const (
	smallPack  = 8192 // objects
	smallPacks = 40
)

// tidy joins small packs into one when there are many. Somebody who reads one
// of them meanwhile looks again and finds the new one.
func (o *objects) tidy() error {
	o.mu.RLock()
	var bases []string
	for base, p := range o.packs {
		if p.index.count <= smallPack && strings.HasPrefix(base, filepath.Join(o.dir, "pack")+string(filepath.Separator)) && !kept(base) {
			bases = append(bases, base)
		}
	}
	o.mu.RUnlock()
	if len(bases) < smallPacks {
		return nil
	}
	slices.Sort(bases)
	return o.join(bases)
}

// kept says whether git holds more about a pack than its index: somebody has
// plans for it.
func kept(base string) bool {
	for _, suffix := range []string{".keep", ".promisor", ".bitmap", ".mtimes"} {
		if _, err := os.Lstat(base + suffix); err == nil {
			return true
		}
	}
	return false
}

func (o *objects) join(bases []string) error {
	type place struct {
		p  *pack
		at int64
	}
	o.mu.RLock()
	found := map[string]place{}
	for _, base := range bases {
		p := o.packs[base]
		for i := range p.index.count {
			if at, ok := p.index.offset(i); ok {
				found[string(p.index.id(i))] = place{p, at}
			}
		}
	}
	o.mu.RUnlock()
	ids := make([]string, 0, len(found))
	for id := range found {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var b batch
	defer b.drop()
	base, err := stageCopies(&b, filepath.Join(o.dir, "pack"), ids, func(id string) (repo.Object, error) {
		o.mu.RLock()
		defer o.mu.RUnlock()
		return found[id].p.read(found[id].at, o.bases, func(base string) (repo.Object, error) { return o.find(base, 1) })
	})
	if err != nil {
		return err
	}
	if err := b.commit(); err != nil {
		return err
	}
	if err := o.addPack(base); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, old := range bases {
		if old == base {
			continue
		}
		p := o.packs[old]
		delete(o.packs, old)
		o.order = slices.DeleteFunc(o.order, func(q *pack) bool { return q == p })
		p.close()
		// The index goes first: without it nobody looks for the pack.
		for _, suffix := range []string{".idx", ".rev", ".pack"} {
			if err := os.Remove(old + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// stageCopies adds a pack of objects that read gives one at a time.
func stageCopies(b *batch, packDir string, ids []string, read func(id string) (repo.Object, error)) (base string, err error) {
	f, err := os.CreateTemp(packDir, "tmp_pack_*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	buf := bufio.NewWriterSize(f, 256<<10)
	w, err := NewPackWriter(buf, len(ids))
	if err != nil {
		return "", err
	}
	for _, id := range ids {
		obj, err := read(id)
		if err != nil {
			return "", err
		}
		if err := w.Add(id, obj); err != nil {
			return "", err
		}
	}
	sum := w.checksum()
	if err := errors.Join(w.Close(), buf.Flush()); err != nil {
		return "", err
	}
	return stageFinishedPack(b, packDir, f, w.entries, sum)
}
