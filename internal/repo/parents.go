package repo

import "context"

// ParentsTree is the tree that commits have together: that of the only one,
// or the merge of all over their common ancestors.
func ParentsTree(ctx context.Context, s Store, ix *Index, parents []*Commit) (MergedTree, error) {
	t, err := UnresolvedParentsTree(ctx, s, ix, parents)
	if err != nil || len(parents) == 1 {
		return t, err
	}
	return ResolveTree(ctx, s, t)
}

// UnresolvedParentsTree is ParentsTree before files are looked into: a merge
// for another merge to take in.
func UnresolvedParentsTree(ctx context.Context, s Store, ix *Index, parents []*Commit) (MergedTree, error) {
	if len(parents) == 1 {
		return parents[0].Tree, nil
	}
	ids := make([]CommitID, len(parents))
	for i, c := range parents {
		ids[i] = c.ID
	}
	terms := []Labelled{}
	for _, id := range mergeBase(ix, ids) {
		c, err := s.Commit(ctx, id)
		if err != nil {
			return MergedTree{}, err
		}
		terms = append(terms, Labelled{c.Tree, c.ConflictLabel()})
	}
	return joinTrees(terms), nil
}

// mergeBase lists the commits whose trees make up a merge, terms as in a
// Merge: each next commit is merged over the common ancestors it has with
// those before, and these, when several, are merged first in the same way.
func mergeBase(ix *Index, ids []CommitID) Merge[CommitID] {
	switch len(ids) {
	case 0:
		return Merge[CommitID]{RootCommitID}
	case 1:
		return Merge[CommitID]{ids[0]}
	}
	out := Merge[CommitID]{ids[0]}
	for i := 1; i < len(ids); i++ {
		base := mergeBase(ix, ix.CommonAncestorIDs(ids[:i], ids[i:i+1]))
		out = Flatten([]Merge[CommitID]{out, base, {ids[i]}})
	}
	return out
}

// ParentTree is the tree a commit's changes are counted from.
func ParentTree(ctx context.Context, s Store, ix *Index, c *Commit) (MergedTree, error) {
	if c.IsRoot() {
		return EmptyTree(), nil
	}
	parents, err := commits(ctx, s, c.Parents)
	if err != nil {
		return MergedTree{}, err
	}
	return ParentsTree(ctx, s, ix, parents)
}

// IsEmpty says whether a commit changes nothing.
func IsEmpty(ctx context.Context, s Store, ix *Index, c *Commit) (bool, error) {
	base, err := ParentTree(ctx, s, ix, c)
	return err == nil && base.SameIDs(c.Tree), err
}
