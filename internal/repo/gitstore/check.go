package gitstore

import (
	"context"
	"maps"
	"slices"

	"tandem/internal/repo"
)

// objectID is a raw id as a key that points to nothing else.
type objectID [repo.CommitIDLen]byte

// want is what one received object takes another for, which has not come.
type want struct {
	typ    repo.ObjectType
	by     objectID
	byType repo.ObjectType
}

// take names an object that has come and looks at what it refers to.
func (in *Incoming) take(o repo.Object) (id string, err error) {
	id = repo.HashObject(o.Type, o.Data)
	if err := in.takeNamed(id, o.Type, len(o.Data)); err != nil {
		return "", err
	}
	switch o.Type {
	case repo.CommitObject:
		return id, in.takeCommit(id, o.Data)
	case repo.TreeObject:
		return id, in.takeTree(id, o.Data)
	case repo.TagObject:
		return "", refuse("object %x is a tag; only commits, trees and files travel", id)
	}
	return id, nil
}

// takeNamed counts an object that has come, and strikes it off what is wanted.
func (in *Incoming) takeNamed(id string, t repo.ObjectType, size int) error {
	if in.total += int64(size); in.total > in.limits.Total {
		return refuse("objects unpack to more than %d bytes", in.limits.Total)
	}
	own := objectID([]byte(id))
	if w, ok := in.wants[own]; ok {
		if err := w.meets(own, t); err != nil {
			return err
		}
		delete(in.wants, own)
	}
	in.types[own] = t
	return nil
}

func (in *Incoming) takeCommit(id string, data []byte) error {
	c, err := repo.DecodeCommit(repo.CommitID(id), data)
	if err != nil {
		return refuse("%w", err)
	}
	links, _ := parseLinks(data)
	if slices.Contains(links.parents, repo.RootCommitID) {
		return refuse("commit %x names the root commit as a parent, which nobody writes", id)
	}
	in.parents[c.ID] = c.Parents
	in.changes[c.ChangeID] = struct{}{}
	w := want{typ: repo.CommitObject, by: objectID([]byte(id)), byType: repo.CommitObject}
	for _, p := range c.Parents {
		if p == repo.RootCommitID {
			continue
		}
		if err := in.need(string(p), w); err != nil {
			return err
		}
	}
	w.typ = repo.TreeObject
	if err := in.need(string(links.tree), w); err != nil {
		return err
	}
	if in.Served {
		return nil
	}
	for _, t := range c.Tree.IDs {
		if err := in.need(string(t), w); err != nil {
			return err
		}
	}
	return nil
}

func (in *Incoming) takeTree(id string, data []byte) error {
	t, err := repo.DecodeTree(data)
	if err != nil {
		return refuse("tree %x: %w", id, err)
	}
	w := want{by: objectID([]byte(id)), byType: repo.TreeObject}
	for _, e := range t {
		if why := repo.CheckName(e.Name); why != "" && !in.Served {
			return refuse("tree %x: the name %q %s", id, e.Name, why)
		}
		switch e.Value.Kind {
		case repo.Submodule:
			continue
		case repo.Subtree:
			w.typ = repo.TreeObject
		default:
			w.typ = repo.BlobObject
		}
		if err := in.need(e.Value.ID, w); err != nil {
			return err
		}
	}
	return nil
}

// need fails when an object that another refers to is something else. When it has
// not come, it is wanted.
func (in *Incoming) need(id string, w want) error {
	if id == string(repo.EmptyTreeID) && w.typ == repo.TreeObject {
		return nil
	}
	key := objectID([]byte(id))
	if t, ok := in.types[key]; ok {
		return w.meets(key, t)
	}
	if first, ok := in.wants[key]; ok {
		// It is one of the two at most.
		return w.meets(key, first.typ)
	}
	in.wants[key] = w
	if len(in.wants) > in.settleAt {
		return in.settle()
	}
	return nil
}

// settle strikes out what is wanted and in the repository already. What is left
// has yet to come, and so many objects cannot.
func (in *Incoming) settle() error {
	for id, w := range in.wants {
		t, err := in.store.objects.knownType(string(id[:]))
		if err != nil {
			return err
		}
		if t == 0 {
			continue
		}
		if err := w.meets(id, t); err != nil {
			return err
		}
		delete(in.wants, id)
	}
	if len(in.wants) > in.limits.Objects {
		return refuse("more than %d objects are missing", in.limits.Objects)
	}
	in.settleAt = len(in.wants) + in.limits.Objects
	return nil
}

// meets says whether an object is what it was taken for; 0 is one that is missing.
func (w want) meets(id objectID, got repo.ObjectType) error {
	switch got {
	case w.typ:
		return nil
	case 0:
		return refuse("%s %x needs %s %x, which is missing", w.byType, w.by, w.typ, id)
	}
	return refuse("%s %x takes %s %x for a %s", w.byType, w.by, got, id, w.typ)
}

// Check says whether everything received is whole: objects refer to objects
// that are there and are what they should be, no tree hides a repository or
// climbs out, and operations have their parents, views and commits.
func (in *Incoming) Check(ctx context.Context) error {
	for id, w := range in.wants {
		t, err := in.store.objects.typeOf(ctx, string(id[:]))
		if err != nil {
			return err
		}
		if err := w.meets(id, t); err != nil {
			return err
		}
	}
	clear(in.wants)
	in.there = map[repo.CommitID]struct{}{repo.RootCommitID: {}}
	commits := map[repo.CommitID]struct{}{}
	for _, id := range in.order {
		if err := in.checkOperation(ctx, in.operations[id].value); err != nil {
			return err
		}
		in.operations[id].value.AddCommitIDs(commits)
	}
	if err := in.checkCommits(ctx, in.scanner.Named()); err != nil {
		return err
	}
	if err := in.checkCommits(ctx, slices.Collect(maps.Keys(commits))); err != nil {
		return err
	}
	in.checked = true
	return nil
}

func (in *Incoming) checkCommits(ctx context.Context, ids []repo.CommitID) error {
	for _, id := range ids {
		if _, ok := in.there[id]; ok {
			continue
		}
		if len(id) != repo.CommitIDLen {
			return refuse("a commit id of %d bytes", len(id))
		}
		t, ok := in.types[objectID([]byte(id))]
		if !ok {
			var err error
			if t, err = in.store.objects.typeOf(ctx, string(id)); err != nil {
				return err
			}
		}
		if t != repo.CommitObject {
			return refuse("commit %s is missing", id.Hex())
		}
		in.there[id] = struct{}{}
	}
	return nil
}

func (in *Incoming) checkOperation(ctx context.Context, o *repo.Operation) error {
	for _, p := range o.Parents {
		if _, ok := in.operations[p]; !ok && !in.store.HasOperation(p) {
			return refuse("operation %.12s needs operation %.12s, which is missing", o.ID.Hex(), p.Hex())
		}
	}
	if _, ok := in.views[o.View]; !ok && o.View != repo.RootViewID {
		if _, err := in.store.View(ctx, o.View); err != nil {
			return refuse("operation %.12s needs view %.12s, which is missing", o.ID.Hex(), o.View.Hex())
		}
	}
	return nil
}
