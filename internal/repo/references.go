package repo

import (
	"context"
	"maps"
	"slices"
)

// updateReferences moves bookmarks and workspaces away from rewritten commits
// and puts the heads right.
func (tx *Tx) updateReferences(ctx context.Context, o RebaseOptions) error {
	mapping := make(map[CommitID][]CommitID, len(tx.rewrites))
	for old := range tx.rewrites {
		to, err := tx.mapped([]CommitID{old}, func(rewrite) bool { return true })
		if err != nil {
			return err
		}
		mapping[old] = to
	}
	if err := tx.updateBookmarks(ctx, mapping, o); err != nil {
		return err
	}
	if err := tx.updateWorkspaces(ctx, mapping); err != nil {
		return err
	}
	tx.updateHeads()
	return nil
}

func (tx *Tx) updateBookmarks(ctx context.Context, mapping map[CommitID][]CommitID, o RebaseOptions) error {
	type change struct {
		name string
		old  CommitID
	}
	var changes []change
	for _, name := range slices.Sorted(maps.Keys(tx.View.Bookmarks)) {
		for _, id := range TargetIDs(tx.View.Bookmarks[name]) {
			if _, ok := mapping[id]; ok {
				changes = append(changes, change{name, id})
			}
		}
	}
	for _, c := range changes {
		target := NoTarget()
		if !o.DeleteAbandonedBookmarks || tx.rewrites[c.old].kind != abandoned {
			target = RefTarget{}
			for i, id := range mapping[c.old] {
				if i > 0 {
					target = append(target, c.old)
				}
				target = append(target, id)
			}
		}
		if err := tx.MergeBookmark(ctx, c.name, Target(c.old), target); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) updateWorkspaces(ctx context.Context, mapping map[CommitID][]CommitID) error {
	recreated := map[CommitID]*Commit{}
	before := maps.Clone(tx.View.Workspaces)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		old := before[name]
		to, ok := mapping[old]
		if !ok {
			continue
		}
		var c *Commit
		var err error
		switch {
		case tx.rewrites[old].kind != abandoned:
			c, err = tx.Store.Commit(ctx, to[0])
		case recreated[old] != nil:
			c = recreated[old]
		default:
			// A workspace whose commit is gone gets an empty one in its place.
			var parents []*Commit
			if parents, err = commits(ctx, tx.Store, to); err != nil {
				return err
			}
			var tree MergedTree
			if tree, err = ParentsTree(ctx, tx.Store, tx.Index, parents); err != nil {
				return err
			}
			if c, err = tx.Write(ctx, tx.NewCommit(to, tree)); err == nil {
				recreated[old] = c
			}
		}
		if err != nil {
			return err
		}
		if err := tx.Edit(ctx, name, c); err != nil {
			return err
		}
	}
	return nil
}

// updateHeads hides rewritten commits. Their parents, if nothing else keeps
// them visible, become heads.
func (tx *Tx) updateHeads() {
	old := tx.Index.Positions(slices.Collect(maps.Keys(tx.rewrites)))
	if len(old) > 0 {
		visible := tx.Index.AncestorsAbove(tx.headPositions(), slices.Min(old))
		for _, p := range old {
			if !visible.Has(p) {
				continue
			}
			for _, parent := range tx.Index.Parents(p) {
				if id := tx.Index.ID(parent); !tx.isRewritten(id) {
					tx.View.Heads[id] = struct{}{}
				}
			}
		}
	}
	for id := range tx.rewrites {
		delete(tx.View.Heads, id)
	}
	tx.headsDirty = true
	tx.normalizeHeads()
}
