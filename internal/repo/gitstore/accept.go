package gitstore

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"tandem/internal/repo"
)

// Check says whether everything received is whole: objects refer to objects
// that are there and are what they should be, no tree hides a repository or
// climbs out, and operations have their parents, views and commits.
func (in *Incoming) Check() error {
	in.parents = map[repo.CommitID][]repo.CommitID{}
	in.there = map[repo.CommitID]struct{}{repo.RootCommitID: {}}
	in.changes = map[repo.ChangeID]struct{}{}
	for _, p := range in.packs {
		for _, e := range p.entries {
			if err := in.checkObject(e.id); err != nil {
				return err
			}
		}
	}
	named := map[repo.CommitID]struct{}{}
	for _, id := range in.order {
		if err := in.checkOperation(in.operations[id].value); err != nil {
			return err
		}
		in.operations[id].value.AddCommitIDs(named)
	}
	for _, v := range in.views {
		if err := in.checkCommits(v.commits); err != nil {
			return err
		}
	}
	return in.checkCommits(slices.Collect(maps.Keys(named)))
}

func (in *Incoming) checkObject(id string) error {
	o, err := in.object(id)
	if err != nil {
		return err
	}
	switch o.Type {
	case repo.CommitObject:
		c, err := repo.DecodeCommit(repo.CommitID(id), o.Data)
		if err != nil {
			return refuse("%w", err)
		}
		if err := in.checkCommits(c.Parents); err != nil {
			return err
		}
		in.parents[c.ID] = c.Parents
		in.changes[c.ChangeID] = struct{}{}
		trees := append(repo.Merge[repo.TreeID]{}, c.Tree.IDs...)
		if root, ok := rootTree(o.Data); ok {
			trees = append(trees, root)
		}
		for _, t := range trees {
			if err := in.need(string(t), repo.TreeObject, "commit", id); err != nil {
				return err
			}
		}
	case repo.TreeObject:
		t, err := repo.DecodeTree(o.Data)
		if err != nil {
			return refuse("tree %x: %w", id, err)
		}
		for _, e := range t {
			if why := repo.CheckName(e.Name); why != "" {
				return refuse("tree %x: the name %q %s", id, e.Name, why)
			}
			want := repo.BlobObject
			switch e.Value.Kind {
			case repo.Submodule:
				continue
			case repo.Subtree:
				want = repo.TreeObject
			}
			if err := in.need(e.Value.ID, want, "tree", id); err != nil {
				return err
			}
		}
	case repo.TagObject:
		return refuse("object %x is a tag; only commits, trees and files travel", id)
	}
	return nil
}

// need fails when an object that another refers to is missing or something
// else.
func (in *Incoming) need(id string, want repo.ObjectType, by, byID string) error {
	if id == string(repo.EmptyTreeID) && want == repo.TreeObject {
		return nil
	}
	got, err := in.typeOf(id)
	if err != nil {
		return err
	}
	if got == 0 {
		return refuse("%s %x needs %s %x, which is missing", by, byID, want, id)
	}
	if got != want {
		return refuse("%s %x takes %s %x for a %s", by, byID, got, id, want)
	}
	return nil
}

func (in *Incoming) typeOf(id string) (repo.ObjectType, error) {
	for _, p := range in.packs {
		if t, ok := p.types[id]; ok {
			return t, nil
		}
	}
	return in.store.objects.typeOf(id)
}

func (in *Incoming) checkCommits(ids []repo.CommitID) error {
	for _, id := range ids {
		if _, ok := in.there[id]; ok {
			continue
		}
		if len(id) != repo.CommitIDLen {
			return refuse("a commit id of %d bytes", len(id))
		}
		if t, err := in.typeOf(string(id)); err != nil || t != repo.CommitObject {
			return refuse("commit %s is missing", id.Hex())
		}
		in.there[id] = struct{}{}
	}
	return nil
}

func (in *Incoming) checkOperation(o *repo.Operation) error {
	for _, p := range o.Parents {
		if _, ok := in.operations[p]; !ok && !in.store.HasOperation(p) {
			return refuse("operation %.12s needs operation %.12s, which is missing", o.ID.Hex(), p.Hex())
		}
	}
	if _, ok := in.views[o.View]; !ok && o.View != repo.RootViewID {
		if _, err := in.store.View(o.View); err != nil {
			return refuse("operation %.12s needs view %.12s, which is missing", o.ID.Hex(), o.View.Hex())
		}
	}
	return nil
}

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
func (in *Incoming) Accept() error { return AcceptAll(in) }

// AcceptAll accepts several quarantines of one repository with one wait for the
// disk.
func AcceptAll(all ...*Incoming) error {
	if len(all) == 0 {
		return nil
	}
	var b batch
	defer b.drop()
	s := all[0].store
	var packs []string
	for _, in := range all {
		if in.parents == nil {
			return refuse("what was received has not been checked")
		}
		bases, err := in.stageObjects(&b)
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
	return s.objects.tidy()
}

// stageObjects adds what was received to a batch.
func (in *Incoming) stageObjects(b *batch) (packs []string, err error) {
	for _, p := range in.packs {
		bases, err := in.stagePack(b, p)
		if err != nil {
			return nil, err
		}
		packs = append(packs, bases...)
	}
	return packs, in.stageKeeps(b)
}

// stagePack adds a pack of many objects as it is; the objects of a small one
// wait with everything else that is put.
func (in *Incoming) stagePack(b *batch, p *incomingPack) (packs []string, err error) {
	objects := in.store.objects
	dir := filepath.Join(objects.dir, "pack")
	switch {
	case p.stored:
		return nil, nil
	case p.file != nil:
		base, err := stageFinishedPack(b, dir, p.file, p.entries, p.sum)
		return []string{base}, err
	case len(p.entries) > looseLimit && p.whole:
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
		o, err := in.object(e.id)
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
func (s *Store) Integrate(who *repo.Identity, ops []repo.OperationID, o repo.MergeOptions, ready map[repo.OperationID]*repo.Repo) (*repo.Repo, error) {
	unlock, err := s.LockHeads()
	if err != nil {
		return nil, err
	}
	defer unlock()
	load := func(id repo.OperationID) (*repo.Repo, error) {
		if r, ok := ready[id]; ok {
			return r, nil
		}
		return s.At(id)
	}
	r, _, err := s.mergeHeads(load, who, ops, o)
	return r, err
}
