package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"tandem/internal/repo"
)

// objects is a git object database: the directory "objects" of a repository
// and its alternates, and what is waiting to be written.
type objects struct {
	dir   string
	bases *cache[baseKey, repo.Object]

	tidying sync.Mutex
	swept   atomic.Int64 // when all was last swept, in seconds

	mu      sync.RWMutex
	dirs    []string         // dir and its alternates
	packs   map[string]*pack // by path without suffix
	order   []*pack          // newest first found last
	pending map[string]repo.Object
	waiting int // bytes of pending
}

// Objects are written loose up to this many at a time, and as a pack beyond.
const looseLimit = 16

// pendingLimit is how many bytes wait in memory before they go to disk early.
const pendingLimit = 64 << 20

func openObjects(dir string) (*objects, error) {
	o := &objects{
		dir:     dir,
		bases:   newCache[baseKey, repo.Object](32 << 20),
		packs:   map[string]*pack{},
		pending: map[string]repo.Object{},
	}
	if err := o.findDirs(dir, 0); err != nil {
		return nil, err
	}
	return o, o.scanPacks()
}

// findDirs follows objects/info/alternates, a few levels deep as git does.
func (o *objects) findDirs(dir string, depth int) error {
	if slices.Contains(o.dirs, dir) || depth > 5 {
		return nil
	}
	o.dirs = append(o.dirs, dir)
	text, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		if err := o.findDirs(filepath.Clean(line), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// scanPacks opens packs that are new since the last look.
func (o *objects) scanPacks() error {
	for _, dir := range o.dirs {
		names, err := os.ReadDir(filepath.Join(dir, "pack"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, n := range names {
			base, ok := strings.CutSuffix(n.Name(), ".idx")
			if !ok {
				continue
			}
			base = filepath.Join(dir, "pack", base)
			if o.packs[base] != nil {
				continue
			}
			p, err := openPack(base)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a repack is taking it away
			}
			if err != nil {
				return err
			}
			o.packs[base] = p
			o.order = append(o.order, p)
		}
	}
	return nil
}

func (o *objects) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.order {
		p.close()
	}
	o.packs, o.order = map[string]*pack{}, nil
}

// read gives an object, or a fs.ErrNotExist.
func (o *objects) read(ctx context.Context, id string) (repo.Object, error) {
	if err := ctx.Err(); err != nil {
		return repo.Object{}, err
	}
	if len(id) != repo.CommitIDLen {
		return repo.Object{}, fmt.Errorf("object id of %d bytes", len(id))
	}
	obj, err := o.tryRead(id)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return obj, err
	}
	if grown, scanErr := o.lookAgain(); scanErr != nil || !grown {
		return obj, err
	}
	return o.tryRead(id)
}

// lookAgain says whether there are packs that were not there when they were
// listed: a repack may have moved an object into one.
func (o *objects) lookAgain() (grown bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := len(o.order)
	err = o.scanPacks()
	return len(o.order) > before, err
}

func (o *objects) tryRead(id string) (repo.Object, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.find(id, 0)
}

// find searches everywhere. Packs may name bases in other packs; a ring of
// such names ends at a depth no honest repository has.
func (o *objects) find(id string, depth int) (repo.Object, error) {
	if depth > 64 {
		return repo.Object{}, fmt.Errorf("object %x: packs refer to each other in a ring", id)
	}
	if obj, ok := o.pending[id]; ok {
		return obj, nil
	}
	if p, at, ok := o.locate(id); ok {
		obj, err := p.read(at, o.bases, func(base string) (repo.Object, error) { return o.find(base, depth+1) })
		if err == nil {
			return obj, nil
		}
		for _, dir := range o.dirs { // as git does: a pack that is damaged may have been mended beside it
			if obj, err := readLoose(dir, id); err == nil {
				return obj, nil
			}
		}
		return obj, err
	}
	for _, dir := range o.dirs {
		obj, err := readLoose(dir, id)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return obj, err
		}
	}
	return repo.Object{}, fmt.Errorf("object %x: %w", id, fs.ErrNotExist)
}

// locate finds the pack that an object lies in; the caller holds the lock.
func (o *objects) locate(id string) (p *pack, at int64, ok bool) {
	for _, p := range slices.Backward(o.order) {
		if at, ok := p.lookup(id); ok {
			return p, at, true
		}
	}
	return nil, 0, false
}

// has says whether an object is there, without reading it.
func (o *objects) has(id string) bool {
	if len(id) != repo.CommitIDLen {
		return false
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	if _, ok := o.pending[id]; ok {
		return true
	}
	if _, _, ok := o.locate(id); ok {
		return true
	}
	for _, dir := range o.dirs {
		if _, err := os.Lstat(loosePath(dir, id)); err == nil {
			return true
		}
	}
	return false
}

// put holds an object back until the next flush.
func (o *objects) put(t repo.ObjectType, data []byte) (string, error) {
	id := repo.HashObject(t, data)
	if o.has(id) {
		return id, nil
	}
	return id, o.hold(id, repo.Object{Type: t, Data: data})
}

// hold keeps an object that is known not to be there until the next flush.
func (o *objects) hold(id string, obj repo.Object) error {
	o.mu.Lock()
	o.pending[id] = obj
	o.waiting += len(obj.Data)
	full := o.waiting > pendingLimit
	o.mu.Unlock()
	if full {
		return o.flush()
	}
	return nil
}

// flush makes everything that waits durable.
func (o *objects) flush() error {
	var b batch
	defer b.drop()
	settle, err := o.stage(&b)
	if err != nil {
		return err
	}
	if err := b.commit(); err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	return settle()
}

// stage adds everything that waits to a batch: loose when it is little, as a
// pack when it is much. After the batch is committed, settle lets it go from
// memory.
func (o *objects) stage(b *batch) (settle func() error, err error) {
	o.mu.RLock()
	pending := maps.Clone(o.pending)
	o.mu.RUnlock()
	ids := slices.Sorted(maps.Keys(pending))
	base := ""
	switch {
	case len(ids) == 0:
		return func() error { return nil }, nil
	case len(ids) > looseLimit:
		base, err = stagePack(b, o.dir, ids, pending)
	default:
		err = stageLoose(b, o.dir, ids, pending)
	}
	if err != nil {
		return nil, fmt.Errorf("write objects: %w", err)
	}
	return func() error {
		if base != "" {
			if err := o.addPack(base); err != nil {
				return err
			}
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		for id, obj := range pending {
			if _, ok := o.pending[id]; ok {
				o.waiting -= len(obj.Data)
				delete(o.pending, id)
			}
		}
		return nil
	}, nil
}

// reload finds packs that have come and lets those go whose files are gone.
func (o *objects) reload() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.scanPacks(); err != nil {
		return err
	}
	for base, p := range o.packs {
		if _, err := os.Lstat(base + ".pack"); errors.Is(err, fs.ErrNotExist) {
			delete(o.packs, base)
			o.order = slices.DeleteFunc(o.order, func(q *pack) bool { return q == p })
			p.close()
		}
	}
	return nil
}

// addPack opens a pack that has just come.
func (o *objects) addPack(base string) error {
	p, err := openPack(base)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.packs[base] != nil {
		p.close()
		return nil
	}
	o.packs[base] = p
	o.order = append(o.order, p)
	return nil
}
