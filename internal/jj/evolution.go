package jj

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
)

// evolutionGraph is how the versions of a divergent change came from each
// other: edges lead from a version to those made of it. It has one start; when
// the versions have none in common, the root commit stands for it.
type evolutionGraph struct {
	rs     *revisions
	change repo.ChangeID
	ends   []*repo.Commit // the divergent commits, in the order given
	start  repo.CommitID
	nodes  []repo.CommitID // in order of appearance
	next   map[repo.CommitID][]repo.CommitID
}

func (rs *revisions) evolutionGraph(ctx context.Context, ends []*repo.Commit) (*evolutionGraph, error) {
	g := &evolutionGraph{rs: rs, change: ends[0].ChangeID, ends: ends, next: map[repo.CommitID][]repo.CommitID{}}
	var ids []repo.CommitID
	open := map[repo.CommitID]bool{}
	for _, c := range ends {
		ids = append(ids, c.ID)
		open[c.ID] = true
	}
	entries, err := rs.evolution(ctx, ids)
	if err != nil {
		return nil, err
	}
	var firsts []repo.CommitID
	for _, e := range entries {
		if e.Commit.ChangeID != g.change {
			continue
		}
		delete(open, e.Commit.ID)
		older := 0
		for _, p := range e.Predecessors {
			if p.ChangeID == g.change {
				g.add(p.ID, e.Commit.ID)
				open[p.ID] = true
				older++
			}
		}
		if older > 0 {
			continue
		}
		firsts = append(firsts, e.Commit.ID)
		if len(open) == 0 {
			break
		}
	}
	if len(firsts) == 0 {
		return nil, fmt.Errorf("change %s has no first version", shortChange(g.change))
	}
	g.start = firsts[0]
	if len(firsts) > 1 {
		g.start = repo.RootCommitID
		for _, id := range firsts {
			g.add(g.start, id)
		}
	}
	return g, nil
}

func (g *evolutionGraph) add(from, to repo.CommitID) {
	for _, id := range []repo.CommitID{from, to} {
		if _, ok := g.next[id]; !ok {
			g.next[id] = nil
			g.nodes = append(g.nodes, id)
		}
	}
	if !slices.Contains(g.next[from], to) {
		g.next[from] = append(g.next[from], to)
	}
}

// valueMerge is an attribute of divergent commits as a merge: what the commits
// have, over what the last version that all ways pass through had.
type valueMerge struct {
	value func(*repo.Commit) (string, error)
	terms repo.Merge[string]
	base  *repo.Commit
	ends  []*repo.Commit
}

// resolve is the merged value and a commit that has it.
func (m *valueMerge) resolve() (string, *repo.Commit, bool) {
	v, ok := m.terms.Trivial()
	if !ok {
		return "", nil, false
	}
	for i, c := range m.ends {
		if m.terms[2*i+2] == v {
			return v, c, true
		}
	}
	return v, m.base, true
}

// merge compares an attribute along the graph.
func (g *evolutionGraph) merge(ctx context.Context, ends []*repo.Commit, value func(*repo.Commit) (string, error)) (*valueMerge, error) {
	m := &valueMerge{value: value, ends: ends}
	base, values, err := g.dominator(ctx, ends, value)
	if err != nil {
		return nil, err
	}
	m.base = base
	v := values[base.ID]
	m.terms = repo.Merge[string]{v}
	for _, c := range ends {
		m.terms = append(m.terms, v, values[c.ID])
	}
	return m, nil
}

// dominator finds the last value of an attribute that every way from the start
// to the ends has passed through, and a commit that has it.
func (g *evolutionGraph) dominator(ctx context.Context, ends []*repo.Commit,
	value func(*repo.Commit) (string, error)) (*repo.Commit, map[repo.CommitID]string, error) {
	values := map[repo.CommitID]string{}
	commits := map[repo.CommitID]*repo.Commit{}
	for _, id := range g.nodes {
		c, err := g.rs.store.Commit(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if values[id], err = value(c); err != nil {
			return nil, nil, err
		}
		commits[id] = c
	}
	before := map[string][]string{} // the same graph, over values
	for _, from := range g.nodes {
		for _, to := range g.next[from] {
			before[values[to]] = append(before[values[to]], values[from])
		}
	}
	var order []string
	for _, id := range g.nodes {
		if !slices.Contains(order, values[id]) {
			order = append(order, values[id])
		}
	}
	through := dominators(order, before, values[g.start])
	best := values[g.start]
	for _, v := range order {
		common := !slices.ContainsFunc(ends, func(c *repo.Commit) bool { return !slices.Contains(through[values[c.ID]], v) })
		if common && len(through[v]) > len(through[best]) {
			best = v
		}
	}
	var makers []*repo.Commit
	for _, id := range g.nodes {
		if values[id] == best {
			makers = append(makers, commits[id])
		}
	}
	return g.first(ctx, makers), values, nil
}

// dominators lists for each node the nodes on all ways to it, itself included.
func dominators(nodes []string, before map[string][]string, start string) map[string][]string {
	out := map[string][]string{start: {start}}
	for changed := true; changed; {
		changed = false
		for _, n := range nodes {
			if n == start {
				continue
			}
			var common []string
			first := true
			for _, p := range before[n] {
				switch {
				case out[p] == nil || p == n:
				case first:
					common, first = slices.Clone(out[p]), false
				default:
					common = slices.DeleteFunc(common, func(v string) bool { return !slices.Contains(out[p], v) })
				}
			}
			if first {
				continue
			}
			if !slices.Contains(common, n) {
				common = append(common, n)
			}
			if len(common) != len(out[n]) {
				out[n], changed = common, true
			}
		}
	}
	return out
}

// first chooses among commits of one value: by the number jj gives them, by
// the order of the divergent commits, the latest.
func (g *evolutionGraph) first(ctx context.Context, cs []*repo.Commit) *repo.Commit {
	numbered, _ := g.rs.rev(ctx).ChangeTargets(g.change)
	rank := func(i int) int {
		if i < 0 {
			return math.MaxInt
		}
		return i
	}
	return slices.MinFunc(cs, func(a, b *repo.Commit) int {
		end := func(c *repo.Commit) int {
			return rank(slices.IndexFunc(g.ends, func(e *repo.Commit) bool { return e.ID == c.ID }))
		}
		return cmp.Or(
			cmp.Compare(rank(slices.Index(numbered, a.ID)), rank(slices.Index(numbered, b.ID))),
			cmp.Compare(end(a), end(b)),
			cmp.Compare(b.Committer.When.Millis, a.Committer.When.Millis),
			cmp.Compare(a.ID, b.ID))
	})
}

// tree merges the trees of the divergent commits, each first moved to the
// parents that were decided on.
func (c *convergence) tree(ctx context.Context, parents []repo.CommitID) (repo.MergedTree, error) {
	var none repo.MergedTree
	w := c.w
	ps, err := w.commits(ctx, parents)
	if err != nil {
		return none, err
	}
	onto, err := repo.UnresolvedParentsTree(ctx, w.store, w.repo.Index, ps)
	if err != nil {
		return none, err
	}
	moved := map[repo.CommitID]repo.MergedTree{}
	move := func(x *repo.Commit) (string, error) {
		t, err := w.movedTree(ctx, x, parents, onto)
		moved[x.ID] = t
		key := ""
		for _, id := range t.IDs {
			key += string(id)
		}
		return key, err
	}
	base, _, err := c.graph.dominator(ctx, c.commits, move)
	if err != nil {
		return none, err
	}
	term := func(x *repo.Commit, what string) repo.Labelled {
		label := what + ": " + x.ConflictLabel()
		if !slices.Equal(x.Parents, parents) {
			label = what + ": tree of " + x.ConflictLabel() + " rebased onto parents"
		}
		return repo.Labelled{Tree: moved[x.ID], Label: label}
	}
	terms := []repo.Labelled{term(base, "converge base")}
	for _, x := range c.commits {
		terms = append(terms, term(base, "converge base"), term(x, "divergent commit"))
	}
	return repo.MergeMergedTrees(ctx, w.store, terms...)
}

// movedTree is the tree of a commit as it would be on other parents.
func (st *state) movedTree(ctx context.Context, x *repo.Commit, parents []repo.CommitID, onto repo.MergedTree) (repo.MergedTree, error) {
	if slices.Equal(x.Parents, parents) {
		return x.Tree, nil
	}
	own, err := st.commits(ctx, x.Parents)
	if err != nil {
		return onto, err
	}
	from, err := repo.UnresolvedParentsTree(ctx, st.store, st.repo.Index, own)
	if err != nil {
		return onto, err
	}
	label, err := render.ParentsLabel(ctx, st.store, x)
	if err != nil {
		return onto, err
	}
	return repo.MergeMergedTrees(ctx, st.store,
		repo.Labelled{Tree: onto, Label: "converge solution parent(s)"},
		repo.Labelled{Tree: from, Label: label},
		repo.Labelled{Tree: x.Tree, Label: x.ConflictLabel()})
}
