package gitstore

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Small packs are joined when there are so many: every look-up asks them all. That
// is inside somebody's command, so at most joinBytes at a time.
const (
	smallPack  = 8192     // objects
	smallBytes = 48 << 20 // a pack above it is not copied again; those of a fetch have about 32 MiB
	joinBytes  = 5 * smallBytes
	smallPacks = 40
)

// Tidy joins small packs into one when there are many, and removes what was begun
// and never finished; nothing depends on it.
func (s *Store) Tidy(ctx context.Context) error {
	return errors.Join(s.objects.sweep(time.Now()), s.objects.tidy(ctx))
}

// tidy is Tidy. Somebody who reads one of the packs meanwhile looks again and
// finds the new one.
func (o *objects) tidy(ctx context.Context) error {
	if !o.tidying.TryLock() {
		return nil // somebody is at it
	}
	defer o.tidying.Unlock()
	o.mu.RLock()
	var bases []string
	sizes := map[string]int{}
	for base, p := range o.packs {
		own := strings.HasPrefix(base, filepath.Join(o.dir, "pack")+string(filepath.Separator))
		if own && p.index.count <= smallPack && len(p.data) <= smallBytes && !kept(base) {
			bases = append(bases, base)
			sizes[base] = len(p.data)
		}
	}
	o.mu.RUnlock()
	if len(bases) < smallPacks {
		return nil
	}
	slices.SortFunc(bases, func(a, b string) int { return cmp.Or(cmp.Compare(sizes[a], sizes[b]), cmp.Compare(a, b)) })
	n, sum := 0, 0
	for n < len(bases) && sum+sizes[bases[n]] <= joinBytes {
		sum += sizes[bases[n]]
		n++
	}
	return o.join(ctx, bases[:n])
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

// join copies the objects of packs into one, which takes their place.
func (o *objects) join(ctx context.Context, bases []string) error {
	o.mu.RLock()
	found := map[string]struct{}{}
	for _, base := range bases {
		if p := o.packs[base]; p != nil {
			for i := range p.index.count {
				found[string(p.index.id(i))] = struct{}{}
			}
		}
	}
	o.mu.RUnlock()
	ids := slices.Sorted(maps.Keys(found))
	var b batch
	defer b.drop()
	base, err := stageNewPack(&b, filepath.Join(o.dir, "pack"), len(ids), func(w *PackWriter) error { return copyObjects(ctx, o, w, ids) })
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
		p := o.packs[old]
		if old == base || p == nil {
			continue
		}
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

// stageNewPack adds a pack of so many objects, which fill writes.
func stageNewPack(b *batch, packDir string, count int, fill func(*PackWriter) error) (base string, err error) {
	f, err := beginPack(packDir)
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
	w, err := NewPackWriter(buf, count)
	if err != nil {
		return "", err
	}
	if err := fill(w); err != nil {
		return "", err
	}
	sum := w.checksum()
	if err := errors.Join(w.Close(), buf.Flush()); err != nil {
		return "", err
	}
	return stageFinishedPack(b, packDir, f, w.entries, sum)
}
