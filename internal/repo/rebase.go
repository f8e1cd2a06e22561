package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// SetRewritten records that a commit was replaced by another.
func (tx *Tx) SetRewritten(old, new CommitID) {
	tx.rewrites[old] = rewrite{rewritten, []CommitID{new}}
}

// SetDivergent records that a commit was replaced by several, none of which
// takes its children.
func (tx *Tx) SetDivergent(old CommitID, new []CommitID) {
	tx.rewrites[old] = rewrite{divergent, slices.Clone(new)}
}

// Abandon records that a commit is to vanish; children move to its parents.
func (tx *Tx) Abandon(c *Commit) { tx.AbandonTo(c.ID, c.Parents) }

// AbandonTo records that a commit is to vanish; children move to parents.
func (tx *Tx) AbandonTo(old CommitID, parents []CommitID) {
	tx.rewrites[old] = rewrite{abandoned, slices.Clone(parents)}
}

// NewParents is what parents have become after the rewrites so far.
func (tx *Tx) NewParents(old []CommitID) ([]CommitID, error) {
	return tx.mapped(old, func(r rewrite) bool { return r.kind != divergent })
}

// mapped follows rewrites that count until nothing changes any more.
func (tx *Tx) mapped(old []CommitID, counts func(rewrite) bool) ([]CommitID, error) {
	var out []CommitID
	stack := slices.Clone(old)
	slices.Reverse(stack)
	seen := map[CommitID]struct{}{}
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if _, ok := seen[id]; ok {
			continue
		}
		seen[id] = struct{}{}
		r, ok := tx.rewrites[id]
		if !ok || !counts(r) {
			out = append(out, id)
			continue
		}
		for _, to := range slices.Backward(r.to) {
			stack = append(stack, to)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("Cycle between rewritten commits involving commit %s", old[0].Hex())
	}
	return out, nil
}

// EmptyBehaviour says what becomes of commits that a rebase leaves empty.
type EmptyBehaviour uint8

// What to do with empty commits.
const (
	KeepEmpty EmptyBehaviour = iota
	AbandonNewlyEmpty
	AbandonAllEmpty
)

// RebaseOptions are choices of a rebase; the zero value is the usual.
type RebaseOptions struct {
	Empty EmptyBehaviour
	// SimplifyAncestorMerge drops parents that are ancestors of other parents.
	SimplifyAncestorMerge bool
	// DeleteAbandonedBookmarks deletes bookmarks of abandoned commits instead
	// of moving them to the parents.
	DeleteAbandonedBookmarks bool
	// Rebased, when set, is told of each rebased commit; new is nil when it
	// was abandoned for being empty.
	Rebased func(old, new *Commit)
}

// RebaseDescendants rebases everything that descends from rewritten commits,
// and moves bookmarks and workspaces. It says how many commits it rebased.
func (tx *Tx) RebaseDescendants(ctx context.Context, o RebaseOptions) (int, error) {
	n := 0
	roots := slices.Collect(maps.Keys(tx.rewrites))
	err := tx.TransformDescendants(ctx, roots, nil, o, func(m *Move) error {
		if !m.ParentsChanged() {
			return nil
		}
		n++
		c, err := m.Rebase(ctx, o)
		if err == nil && o.Rebased != nil {
			o.Rebased(m.Old, c)
		}
		return err
	})
	clear(tx.rewrites)
	return n, err
}

// ReparentDescendants gives descendants of rewritten commits their new parents
// without changing their content.
func (tx *Tx) ReparentDescendants(ctx context.Context) (int, error) {
	n := 0
	roots := slices.Collect(maps.Keys(tx.rewrites))
	err := tx.TransformDescendants(ctx, roots, nil, RebaseOptions{}, func(m *Move) error {
		if !m.ParentsChanged() {
			return nil
		}
		n++
		d, err := m.Reparent(ctx)
		if err != nil {
			return err
		}
		_, err = tx.Write(ctx, d)
		return err
	})
	clear(tx.rewrites)
	return n, err
}

// Move is a commit about to get new parents.
type Move struct {
	Old     *Commit
	Parents []CommitID
	tx      *Tx
}

// NewMove is a commit about to get the parents given.
func (tx *Tx) NewMove(old *Commit, parents []CommitID) *Move { return &Move{old, parents, tx} }

// ParentsChanged says whether there is anything to move.
func (m *Move) ParentsChanged() bool { return !slices.Equal(m.Parents, m.Old.Parents) }

// SimplifyAncestorMerge drops parents that are ancestors of other parents.
func (m *Move) SimplifyAncestorMerge() {
	heads := m.tx.Index.HeadIDs(m.Parents)
	m.Parents = slices.DeleteFunc(slices.Clone(m.Parents), func(p CommitID) bool { return !slices.Contains(heads, p) })
}

// Reparent drafts the commit with the new parents and its content unchanged.
func (m *Move) Reparent(ctx context.Context) (*Draft, error) {
	d, err := m.tx.Rewrite(ctx, m.Old)
	if err != nil {
		return nil, err
	}
	d.Parents = slices.Clone(m.Parents)
	return d, nil
}

// Rebase writes the commit with its changes applied to the new parents. It is
// nil when the options had it abandoned.
func (m *Move) Rebase(ctx context.Context, o RebaseOptions) (*Commit, error) {
	d, err := m.RebaseDraft(ctx, o)
	if err != nil || d == nil {
		return nil, err
	}
	return m.tx.Write(ctx, d)
}

// RebaseDraft drafts the commit with its changes applied to the new parents.
func (m *Move) RebaseDraft(ctx context.Context, o RebaseOptions) (*Draft, error) {
	if o.SimplifyAncestorMerge {
		m.SimplifyAncestorMerge()
	}
	tx := m.tx
	oldParents, err := commits(ctx, tx.Store, m.Old.Parents)
	if err != nil {
		return nil, err
	}
	newParents, err := commits(ctx, tx.Store, m.Parents)
	if err != nil {
		return nil, err
	}
	sameTree := func(a, b *Commit) bool { return a.Tree.SameIDs(b.Tree) }
	tree, wasEmpty := m.Old.Tree, true
	if !slices.EqualFunc(oldParents, newParents, sameTree) {
		oldBase, err := ParentsTree(ctx, tx.Store, tx.Index, oldParents)
		if err != nil {
			return nil, err
		}
		newBase, err := ParentsTree(ctx, tx.Store, tx.Index, newParents)
		if err != nil {
			return nil, err
		}
		wasEmpty = oldBase.SameIDs(m.Old.Tree)
		tree, err = MergeMergedTrees(ctx, tx.Store,
			Labelled{newBase, ConflictLabelFor(newParents) + " (rebase destination)"},
			Labelled{oldBase, ConflictLabelFor(oldParents) + " (parents of rebased revision)"},
			Labelled{m.Old.Tree, m.Old.ConflictLabel() + " (rebased revision)"})
		if err != nil {
			return nil, err
		}
	}
	// A merge is never abandoned for being empty.
	if len(newParents) == 1 && newParents[0].Tree.SameIDs(tree) &&
		(o.Empty == AbandonAllEmpty || o.Empty == AbandonNewlyEmpty && !wasEmpty) {
		tx.AbandonTo(m.Old.ID, m.Parents)
		return nil, nil
	}
	d, err := m.Reparent(ctx)
	if err != nil {
		return nil, err
	}
	d.Tree = tree
	return d, nil
}

func commits(ctx context.Context, s Store, ids []CommitID) ([]*Commit, error) {
	out := make([]*Commit, len(ids))
	for i, id := range ids {
		c, err := s.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// TransformDescendants visits the visible descendants of roots, parents first,
// each with the parents it would have after the rewrites so far, or after
// those newParents gives it instead. Commits already rewritten are left out,
// as roots usually are. Then refs and heads follow.
func (tx *Tx) TransformDescendants(ctx context.Context, roots []CommitID, newParents map[CommitID][]CommitID, o RebaseOptions,
	visit func(*Move) error) error {
	var visitIDs []CommitID
	at := tx.Index.Positions(roots)
	// A root may be hidden: then it alone is visited.
	for _, p := range tx.Index.Descendants(at, append(tx.headPositions(), at...)) {
		if id := tx.Index.ID(p); !tx.isRewritten(id) {
			visitIDs = append(visitIDs, id)
		}
	}
	return tx.TransformCommits(ctx, visitIDs, newParents, o, visit)
}

// TransformCommits is TransformDescendants for commits the caller has chosen,
// children before parents.
func (tx *Tx) TransformCommits(ctx context.Context, ids []CommitID, newParents map[CommitID][]CommitID, o RebaseOptions,
	visit func(*Move) error) error {
	parentsOf := func(c *Commit) []CommitID {
		if p, ok := newParents[c.ID]; ok {
			return p
		}
		return c.Parents
	}
	order, err := tx.rebaseOrder(ctx, ids, parentsOf)
	if err != nil {
		return err
	}
	for _, c := range order {
		parents, err := tx.NewParents(parentsOf(c))
		if err != nil {
			return err
		}
		if err := visit(&Move{c, parents, tx}); err != nil {
			return err
		}
	}
	return tx.updateReferences(ctx, o)
}

func (tx *Tx) isRewritten(id CommitID) bool {
	_, ok := tx.rewrites[id]
	return ok
}

func (tx *Tx) headPositions() []Pos {
	return tx.Index.Positions(slices.Collect(maps.Keys(tx.View.Heads)))
}

// rebaseOrder puts parents before children; where a parent was rewritten to a
// commit that will itself move, that commit comes first too.
func (tx *Tx) rebaseOrder(ctx context.Context, ids []CommitID, parentsOf func(*Commit) []CommitID) ([]*Commit, error) {
	wanted := make(map[CommitID]struct{}, len(ids))
	for _, id := range ids {
		wanted[id] = struct{}{}
	}
	type frame struct {
		id   CommitID
		done bool
	}
	var stack []frame
	for _, id := range ids {
		stack = append(stack, frame{id, false})
	}
	visited, visiting, emitted := map[CommitID]struct{}{}, map[CommitID]struct{}{}, map[CommitID]struct{}{}
	var out []*Commit
	for len(stack) > 0 {
		f := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if _, ok := emitted[f.id]; ok {
			continue
		}
		c, err := tx.Store.Commit(ctx, f.id)
		if err != nil {
			return nil, err
		}
		if f.done {
			emitted[f.id] = struct{}{}
			out = append(out, c)
			continue
		}
		if _, ok := visiting[f.id]; ok {
			return nil, fmt.Errorf("Cycle between rewritten commits involving commit %s", f.id.Hex())
		}
		visiting[f.id] = struct{}{}
		visited[f.id] = struct{}{}
		stack = append(stack, frame{f.id, true})
		for _, p := range parentsOf(c) {
			for _, to := range tx.rewrites[p].to {
				_, want := wanted[to]
				_, seen := visited[to]
				if want && !seen {
					stack = append(stack, frame{to, false})
				}
			}
			if _, ok := wanted[p]; ok {
				stack = append(stack, frame{p, false})
			}
		}
	}
	return out, nil
}
