package replica

import (
	"context"
	"maps"
	"slices"

	"tandem/internal/repo"
)

// Edited lists the files that were changed on disk in this workspace, in
// snapshots that the server has not got yet, and that a sync would bring it: what
// was taken back since is not among them.
func (r *Replica) Edited(ctx context.Context) ([]string, error) {
	known, err := r.Known()
	if err != nil {
		return nil, err
	}
	var roots []repo.OperationID
	if id, ok := repo.ParseOperationID(known.Head); ok && r.Store.HasOperation(id) {
		roots = append(roots, id)
	}
	heads, err := r.Store.Heads()
	if err != nil {
		return nil, err
	}
	ops, err := repo.OperationRange(ctx, r.Store, roots, heads)
	if err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for _, o := range ops {
		if !o.Meta.Snapshot || len(o.Parents) != 1 {
			continue
		}
		after, here, err := r.treeAt(ctx, o.ID)
		if err != nil {
			return nil, err
		}
		before, earlier, err := r.treeAt(ctx, o.Parents[0])
		if err != nil {
			return nil, err
		}
		if !here || !earlier { // it was made before this workspace, or before it had its name
			continue
		}
		if err := r.differ(ctx, before, after, files); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 || len(roots) == 0 || len(heads) != 1 {
		return slices.Sorted(maps.Keys(files)), nil
	}
	out, knows, err := r.outgoing(ctx, roots[0], heads[0])
	if err != nil || !knows {
		return slices.Sorted(maps.Keys(files)), err
	}
	maps.DeleteFunc(files, func(f string, _ bool) bool { return !out[f] })
	return slices.Sorted(maps.Keys(files)), nil
}

// outgoing are the files that are different in some commit of ours than they
// were in this workspace when the server was last heard of. It may have known
// nothing of this workspace then: it was added or renamed since.
func (r *Replica) outgoing(ctx context.Context, known, own repo.OperationID) (files map[string]bool, knows bool, err error) {
	before, knows, err := r.treeAt(ctx, known)
	if err != nil || !knows {
		return nil, false, err
	}
	was, err := r.viewAt(ctx, known)
	if err != nil {
		return nil, false, err
	}
	now, err := r.viewAt(ctx, own)
	if err != nil {
		return nil, false, err
	}
	out := map[string]bool{}
	for id := range now.Heads {
		if _, old := was.Heads[id]; old {
			continue
		}
		c, err := r.Store.Commit(ctx, id)
		if err != nil {
			return nil, false, err
		}
		if err := r.differ(ctx, before, c.Tree, out); err != nil {
			return nil, false, err
		}
	}
	return out, true, nil
}

// BaseMoved lists the files that others made different below this workspace's
// commit since its files were last brought up to date.
func (r *Replica) BaseMoved(ctx context.Context) ([]string, error) {
	head, err := r.Head()
	if err != nil || head == "" || head == r.seen || !r.Store.HasOperation(r.seen) {
		return nil, err
	}
	before, err := r.baseAt(ctx, r.seen)
	if err != nil {
		return nil, err
	}
	after, err := r.baseAt(ctx, head)
	if err != nil || len(before.IDs) == 0 || len(after.IDs) == 0 || before.SameIDs(after) {
		return nil, err
	}
	files := map[string]bool{}
	err = r.differ(ctx, before, after, files)
	return slices.Sorted(maps.Keys(files)), err
}

// baseAt is the tree below this workspace's commit at an operation.
func (r *Replica) baseAt(ctx context.Context, id repo.OperationID) (repo.MergedTree, error) {
	c, err := r.commitAt(ctx, id)
	if err != nil || c == nil || len(c.Parents) == 0 {
		return repo.MergedTree{}, err
	}
	p, err := r.Store.Commit(ctx, c.Parents[0])
	if err != nil {
		return repo.MergedTree{}, err
	}
	return p.Tree, nil
}

func (r *Replica) differ(ctx context.Context, before, after repo.MergedTree, files map[string]bool) error {
	return repo.DiffTrees(ctx, r.Store, before, after, repo.Everything{}, func(p repo.Path, _, _ repo.Merge[repo.TreeValue]) error {
		files[string(p)] = true
		return nil
	})
}

// treeAt is the tree of this workspace's commit at an operation, if there was
// such a workspace.
func (r *Replica) treeAt(ctx context.Context, id repo.OperationID) (t repo.MergedTree, there bool, err error) {
	c, err := r.commitAt(ctx, id)
	if err != nil || c == nil {
		return t, false, err
	}
	return c.Tree, true, nil
}

// commitAt is nil when there was no such workspace.
func (r *Replica) commitAt(ctx context.Context, id repo.OperationID) (*repo.Commit, error) {
	at, err := r.pointerAt(ctx, id)
	if err != nil || at == "" {
		return nil, err
	}
	return r.Store.Commit(ctx, at)
}

func (r *Replica) viewAt(ctx context.Context, id repo.OperationID) (*repo.View, error) {
	o, err := r.Store.Operation(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.Store.View(ctx, o.View)
}
