package gitstore

import (
	"os"
	"path/filepath"

	"tandem/internal/repo"
)

// Check says whether everything received is whole: objects refer to objects
// that are there and are what they should be, no tree hides a repository or
// climbs out, and operations have their parents, views and commits.
func (in *Incoming) Check() error {
	in.parents = map[repo.CommitID][]repo.CommitID{}
	for _, p := range in.packs {
		for _, e := range p.entries {
			if err := in.checkObject(e.id); err != nil {
				return err
			}
		}
	}
	for _, id := range in.order {
		if err := in.checkOperation(in.operations[id].value); err != nil {
			return err
		}
	}
	for _, v := range in.views {
		if err := in.checkCommits(v.value.CommitIDs()); err != nil {
			return err
		}
	}
	return nil
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
		if id == repo.RootCommitID {
			continue
		}
		if len(id) != repo.CommitIDLen {
			return refuse("a commit id of %d bytes", len(id))
		}
		if t, err := in.typeOf(string(id)); err != nil || t != repo.CommitObject {
			return refuse("commit %s is missing", id.Hex())
		}
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
	return in.checkCommits(o.CommitIDs())
}

// Operations lists what was received, in the order it came.
func (in *Incoming) Operations() []*repo.Operation {
	var out []*repo.Operation
	for _, id := range in.order {
		out = append(out, in.operations[id].value)
	}
	return out
}

// ReadView gives a view of the quarantine or of the repository.
func (in *Incoming) ReadView(id repo.ViewID) (*repo.View, error) {
	if v, ok := in.views[id]; ok {
		return v.value, nil
	}
	return in.store.View(id)
}

// looseAtMost is how many objects are stored one by one: a pack for each small
// push would soon be thousands, and every look-up asks them all.
const looseAtMost = 16

// Accept makes everything durable: objects, then views, then operations. No
// head names them yet; Integrate does that. It refuses what was not checked.
func (in *Incoming) Accept() error {
	s := in.store
	if in.parents == nil {
		return refuse("what was received has not been checked")
	}
	for len(in.packs) > 0 {
		p := in.packs[0]
		if len(p.entries) <= looseAtMost {
			for _, e := range p.entries {
				o, err := in.object(e.id)
				if err != nil {
					return err
				}
				if _, err := s.objects.put(o.Type, o.Data); err != nil {
					return err
				}
			}
		} else {
			if err := installPack(filepath.Join(s.objects.dir, "pack"), p.file, p.entries, p.sum); err != nil {
				return err
			}
		}
		p.pack.close()
		p.file.Close()
		os.Remove(p.file.Name())
		in.packs = in.packs[1:]
	}
	if err := s.objects.flush(); err != nil {
		return err
	}
	if err := s.objects.rescan(); err != nil {
		return err
	}
	if err := in.keepHeads(); err != nil {
		return err
	}
	for id, v := range in.views {
		if err := s.writeNamed(s.viewPath(id), v.data); err != nil {
			return err
		}
	}
	if err := syncDir(filepath.Join(s.dir, "op_store", "views")); err != nil {
		return err
	}
	for _, id := range in.order {
		if err := s.writeNamed(s.operationPath(id), in.operations[id].data); err != nil {
			return err
		}
	}
	return syncDir(filepath.Join(s.dir, "op_store", "operations"))
}

// keepHeads protects received commits from git's garbage collection: the ones
// that no other received commit descends from stand for the rest.
func (in *Incoming) keepHeads() error {
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
		if err := in.store.keepCommit(id); err != nil {
			return err
		}
	}
	return nil
}

// Integrate makes stored operations part of the repository's history: each
// becomes a head unless one descends from it, and several heads are merged
// into one operation at once, in the given name. Nobody sees more than one
// head on the way.
func (s *Store) Integrate(who *repo.Identity, ops []repo.OperationID, o repo.MergeOptions) (*repo.Repo, error) {
	unlock, err := s.LockHeads()
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, _, err := s.mergeHeads(who, ops, o)
	return r, err
}
