package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"tandem/internal/repo"
)

// Changes lists the changes of the commits that were received, after Check.
func (in *Incoming) Changes() []repo.ChangeID { return slices.Collect(maps.Keys(in.changes)) }

// Operations lists what was received, in the order it came.
func (in *Incoming) Operations() []*repo.Operation {
	var out []*repo.Operation
	for _, id := range in.order {
		out = append(out, in.operations[id].value)
	}
	return out
}

// Accept makes everything durable: objects, then views, then operations. No
// head names them yet; Integrate does that. It refuses what was not checked.
func (in *Incoming) Accept(ctx context.Context) error { return AcceptAll(ctx, in) }

// AcceptAll accepts several quarantines of one repository with one wait for the
// disk.
func AcceptAll(ctx context.Context, all ...*Incoming) error {
	if len(all) == 0 {
		return nil
	}
	var b batch
	defer b.drop()
	s := all[0].store
	var packs []string
	for _, in := range all {
		if !in.checked {
			return refuse("what was received has not been checked")
		}
		bases, err := in.stageObjects(ctx, &b)
		if err != nil {
			return err
		}
		packs = append(packs, bases...)
	}
	settle, err := s.stage(&b)
	if err != nil {
		return err
	}
	for _, in := range all {
		if err := in.stageNamed(&b); err != nil {
			return err
		}
	}
	if err := b.commit(); err != nil {
		return fmt.Errorf("store what was received: %w", err)
	}
	if err := settle(); err != nil {
		return err
	}
	for _, base := range packs {
		if err := s.objects.addPack(base); err != nil {
			return err
		}
	}
	for _, in := range all {
		for id, v := range in.views {
			if v.value != nil {
				s.keepView(id, v.value, v.data)
			}
		}
		for _, o := range in.operations {
			s.keepOperation(o.value, o.data)
		}
		in.Close()
	}
	return nil
}

// stageObjects adds what was received to a batch.
func (in *Incoming) stageObjects(ctx context.Context, b *batch) (packs []string, err error) {
	for _, p := range in.packs {
		bases, err := in.stagePack(ctx, b, p)
		if err != nil {
			return nil, err
		}
		packs = append(packs, bases...)
	}
	return packs, in.stageKeeps(b)
}

// stagePack adds a pack of many objects as it is, when it needs nothing outside
// it; the objects of others wait with everything else that is put.
func (in *Incoming) stagePack(ctx context.Context, b *batch, p *incomingPack) (packs []string, err error) {
	objects := in.store.objects
	dir := filepath.Join(objects.dir, "pack")
	switch {
	case p.stored:
		return nil, nil
	case p.file != nil && !p.thin:
		base, err := stageFinishedPack(b, dir, p.file, p.entries, p.sum)
		return []string{base}, err
	case p.file == nil && !p.thin && (len(p.entries) > looseLimit || p.large):
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		base := filepath.Join(dir, fmt.Sprintf("pack-%x", p.sum))
		return []string{base}, errors.Join(b.add(base+".pack", p.pack.data, 0o444), b.add(base+".idx", encodePackIndex(p.entries, p.sum), 0o444))
	}
	for _, e := range p.entries {
		if objects.has(e.id) {
			continue
		}
		o, err := in.object(ctx, e.id)
		if err == nil {
			err = objects.hold(e.id, o)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (in *Incoming) stageNamed(b *batch) error {
	s := in.store
	for id, v := range in.views {
		if err := b.add(s.viewPath(id), v.data, 0o666); err != nil {
			return err
		}
	}
	for _, id := range in.order {
		if err := b.add(s.operationPath(id), in.operations[id].data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// stageKeeps protects received commits from git's garbage collection: the ones
// that no other received commit descends from stand for the rest. A copy whose
// git collects nothing by itself does without.
func (in *Incoming) stageKeeps(b *batch) error {
	if in.Unkept {
		return nil
	}
	covered := map[repo.CommitID]struct{}{}
	for _, parents := range in.parents {
		for _, p := range parents {
			covered[p] = struct{}{}
		}
	}
	for id := range in.parents {
		if _, ok := covered[id]; ok {
			continue
		}
		if err := in.store.stageKeep(b, id); err != nil {
			return err
		}
	}
	return nil
}

// Integrate makes stored operations part of the repository's history: each
// becomes a head unless one descends from it, and several heads are merged
// into one operation at once, in the given name. Nobody sees more than one
// head on the way. Repositories that were loaded already are given by ready.
func (s *Store) Integrate(ctx context.Context, who *repo.Identity, ops []repo.OperationID, o repo.MergeOptions,
	ready map[repo.OperationID]*repo.Repo) (*repo.Repo, error) {
	unlock, err := s.LockHeads(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	load := func(id repo.OperationID) (*repo.Repo, error) {
		if r, ok := ready[id]; ok {
			return r, nil
		}
		return s.At(ctx, id)
	}
	r, _, err := s.mergeHeads(ctx, load, who, ops, o)
	return r, err
}
