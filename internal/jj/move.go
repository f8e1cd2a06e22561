// Moving commits, with what follows them, as jj 0.45.1 does for rebase, parallelize, and whatever inserts.

package jj

import (
	"context"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

// idSet is a set of commits that keeps the order of first addition.
type idSet struct {
	list []repo.CommitID
	has  map[repo.CommitID]bool
}

func newIDSet(ids ...repo.CommitID) *idSet {
	s := &idSet{has: map[repo.CommitID]bool{}}
	s.add(ids...)
	return s
}

func (s *idSet) add(ids ...repo.CommitID) {
	for _, id := range ids {
		if !s.has[id] {
			s.has[id] = true
			s.list = append(s.list, id)
		}
	}
}

// move is a plan to put commits somewhere else.
type move struct {
	t         *tx
	targets   *idSet // children before parents
	whole     bool   // the targets are roots with all their descendants
	roots     *idSet
	connected []*repo.Commit
	internal  map[repo.CommitID][]repo.CommitID // parents within the targets
	external  map[repo.CommitID][]repo.CommitID // nearest parents outside of them
	parents   []repo.CommitID
	children  []*repo.Commit
	planned   map[repo.CommitID][]repo.CommitID
	abandon   map[repo.CommitID]bool
}

type moveStats struct{ targets, descendants, skipped, emptied int }

func (t *tx) rev(ctx context.Context) *revset.Repo { return t.w.revs.revRepo(ctx, t.now(), nil) }

func (t *tx) commitsOf(ctx context.Context, ids []repo.CommitID) ([]*repo.Commit, error) {
	out := make([]*repo.Commit, len(ids))
	for i, id := range ids {
		c, err := t.Store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// planMove works out new parents for commits, alone or as roots of what
// descends from them.
func (t *tx) planMove(ctx context.Context, ids []repo.CommitID, whole bool, parents, children []repo.CommitID) (*move, error) {
	m := &move{t: t, whole: whole, abandon: map[repo.CommitID]bool{}, planned: map[repo.CommitID][]repo.CommitID{}}
	rr := t.rev(ctx)
	var err error
	if whole {
		all, err := rr.IDs(ctx, revset.Descendants(revset.Commits(ids...)))
		if err != nil {
			return nil, err
		}
		m.targets, m.roots = newIDSet(all...), newIDSet(ids...)
		if m.connected, err = t.commitsOf(ctx, all); err != nil {
			return nil, err
		}
	} else {
		m.targets = newIDSet(ids...)
		con, err := rr.IDs(ctx, revset.DagRange(revset.Commits(ids...), revset.Commits(ids...)))
		if err != nil {
			return nil, err
		}
		if m.connected, err = t.commitsOf(ctx, con); err != nil {
			return nil, err
		}
		m.internal = internalParents(m.targets, m.connected)
		m.roots = newIDSet()
		for _, c := range m.connected {
			if m.targets.has[c.ID] && len(m.internal[c.ID]) == 0 {
				m.roots.add(c.ID)
			}
		}
	}
	if err := m.findExternal(ctx); err != nil {
		return nil, err
	}
	for _, p := range parents {
		if ext, ok := m.external[p]; ok {
			m.parents = append(m.parents, ext...)
		} else {
			m.parents = append(m.parents, p)
		}
	}
	if m.children, err = m.newChildren(ctx, children); err != nil {
		return nil, err
	}
	return m, m.plan(ctx)
}

func internalParents(targets *idSet, graph []*repo.Commit) map[repo.CommitID][]repo.CommitID {
	out := map[repo.CommitID][]repo.CommitID{}
	for _, c := range slices.Backward(graph) {
		now := newIDSet()
		for _, p := range c.Parents {
			if targets.has[p] {
				now.add(p)
			} else {
				now.add(out[p]...)
			}
		}
		out[c.ID] = now.list
	}
	return out
}

func (m *move) findExternal(ctx context.Context) error {
	m.external = map[repo.CommitID][]repo.CommitID{}
	for _, id := range slices.Backward(m.targets.list) {
		c, err := m.t.Store.Commit(ctx, id)
		if err != nil {
			return err
		}
		now := newIDSet()
		for _, p := range c.Parents {
			if ext, ok := m.external[p]; ok {
				now.add(ext...)
			} else {
				now.add(p)
			}
		}
		m.external[id] = now.list
	}
	return nil
}

// newChildren replaces targets among the children by what descends from them
// outside of the targets.
func (m *move) newChildren(ctx context.Context, ids []repo.CommitID) ([]*repo.Commit, error) {
	if !slices.ContainsFunc(ids, func(id repo.CommitID) bool { return m.targets.has[id] }) {
		return m.t.commitsOf(ctx, ids)
	}
	x := revset.Commits(m.targets.list...)
	around, err := m.t.rev(ctx).IDs(ctx, revset.Union(x, revset.Children(x)))
	if err != nil {
		return nil, err
	}
	cs, err := m.t.commitsOf(ctx, around)
	if err != nil {
		return nil, err
	}
	below := map[repo.CommitID]*idSet{}
	at := func(id repo.CommitID) *idSet {
		if below[id] == nil {
			below[id] = newIDSet()
		}
		return below[id]
	}
	for _, c := range cs {
		if below[c.ID] == nil && !m.targets.has[c.ID] {
			at(c.ID).add(c.ID)
		}
		own := at(c.ID).list
		for _, p := range c.Parents {
			if m.targets.has[p] {
				at(p).add(own...)
			}
		}
	}
	out := newIDSet()
	var list []repo.CommitID
	for _, id := range ids {
		if s := below[id]; s != nil {
			list = append(list, s.list...)
		} else {
			list = append(list, id)
		}
	}
	out.add(list...)
	return m.t.commitsOf(ctx, out.list)
}

// heads of the targets, lowest position first.
func heads(targets *idSet, connected []*repo.Commit) []repo.CommitID {
	open := map[repo.CommitID]bool{}
	for _, c := range slices.Backward(connected) {
		open[c.ID] = true
		for _, p := range c.Parents {
			delete(open, p)
		}
	}
	var out []repo.CommitID
	for _, c := range slices.Backward(connected) {
		if open[c.ID] && targets.has[c.ID] {
			out = append(out, c.ID)
		}
	}
	return out
}

func (m *move) plan(ctx context.Context) error {
	tops := heads(m.targets, m.connected)
	childParents := map[repo.CommitID][]repo.CommitID{}
	for _, child := range m.children {
		now := newIDSet()
		for _, p := range child.Parents {
			olds := []repo.CommitID{p}
			if ext, ok := m.external[p]; ok {
				olds = ext
			}
			for _, id := range olds {
				if slices.Contains(m.parents, id) {
					now.add(tops...)
				} else {
					now.add(id)
				}
			}
		}
		now.add(tops...)
		childParents[child.ID] = now.list
	}
	affected, err := m.t.rev(ctx).IDs(ctx, revset.Descendants(revset.Commits(m.startIDs()...)))
	if err != nil {
		return err
	}
	cs, err := m.t.commitsOf(ctx, affected)
	if err != nil {
		return err
	}
	for _, c := range cs {
		if ps, ok := childParents[c.ID]; ok {
			m.planned[c.ID] = ps
		} else if m.targets.has[c.ID] {
			m.planned[c.ID] = m.targetParents(c)
		} else {
			m.planned[c.ID] = m.otherParents(c)
		}
	}
	return nil
}

func (m *move) startIDs() []repo.CommitID {
	out := slices.Clone(m.roots.list)
	for _, c := range m.children {
		out = append(out, c.ID)
	}
	return out
}

func (m *move) targetParents(c *repo.Commit) []repo.CommitID {
	if m.roots.has[c.ID] {
		return m.parents
	}
	var out []repo.CommitID
	for _, p := range c.Parents {
		in, inside := m.internal[p]
		switch {
		case m.targets.has[p]:
			out = append(out, p)
		case inside:
			out = append(out, in...)
		case !slices.ContainsFunc(m.children, func(k *repo.Commit) bool { return m.t.Index.IsAncestor(k.ID, p) }):
			out = append(out, p)
		}
	}
	return out
}

func (m *move) otherParents(c *repo.Commit) []repo.CommitID {
	var out []repo.CommitID
	for _, p := range c.Parents {
		if ext, ok := m.external[p]; ok {
			out = append(out, ext...)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// apply carries the plan out.
func (m *move) apply(ctx context.Context, o repo.RebaseOptions) (moveStats, error) {
	var s moveStats
	plain := repo.RebaseOptions{DeleteAbandonedBookmarks: o.DeleteAbandonedBookmarks}
	err := m.t.TransformDescendants(ctx, m.startIDs(), m.planned, o, func(mv *repo.Move) error {
		id := mv.Old.ID
		if m.abandon[id] {
			m.t.AbandonTo(id, mv.Parents)
			return nil
		}
		if !mv.ParentsChanged() {
			s.skipped++
			return nil
		}
		opts := plain
		if m.targets.has[id] {
			opts = o
		}
		c, err := mv.Rebase(ctx, opts)
		switch {
		case err != nil:
			return err
		case c == nil:
			s.emptied++
		case m.targets.has[id]:
			s.targets++
		default:
			s.descendants++
		}
		return nil
	})
	return s, err
}
