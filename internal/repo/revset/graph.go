package revset

import (
	"context"
	"slices"

	"tandem/internal/repo"
)

// Link is an edge from a selected commit to another.
type Link struct {
	To       repo.Pos
	Indirect bool // commits between are not selected
	Missing  bool // nothing that way is selected
}

// graphWalk finds the edges between selected commits.
type graphWalk struct {
	ix     *repo.Index
	in     func(repo.Pos) bool
	lowest repo.Pos
	cache  map[repo.Pos][]Link // of commits outside the selection
}

// Links returns, for each selected position, its edges to the nearest selected
// ancestors. Edges that others imply are left out.
func (r *Repo) Links(ps []repo.Pos) [][]Link {
	in := repo.NewPosSet(r.Index.Len())
	for _, p := range ps {
		in.Add(p)
	}
	g := &graphWalk{ix: r.Index, in: in.Has, cache: map[repo.Pos][]Link{}}
	if len(ps) > 0 {
		g.lowest = ps[len(ps)-1]
	}
	out := make([][]Link, len(ps))
	for i, p := range ps {
		out[i] = g.inner(p)
	}
	return out
}

// WalkLinks visits the commits of x that keep chooses, newest first, with
// their edges, until visit has enough. Commits are looked at as late as can be,
// so that an early end is a cheap one.
func (r *Repo) WalkLinks(ctx context.Context, x *Expr, keep func(*repo.Commit) (bool, error),
	visit func(repo.Pos, []Link) (more bool, err error)) error {
	all, err := r.Set(ctx, x)
	if err != nil {
		return err
	}
	var failed error
	known := map[repo.Pos]bool{}
	g := &graphWalk{ix: r.Index, cache: map[repo.Pos][]Link{}, in: func(p repo.Pos) bool {
		if !all.Has(p) || failed != nil {
			return false
		}
		kept, ok := known[p]
		if !ok {
			var c *repo.Commit
			if c, failed = r.Store.Commit(ctx, r.Index.ID(p)); failed == nil {
				kept, failed = keep(c)
			}
			known[p] = kept
		}
		return kept
	}}
	for _, p := range members(all) {
		if !g.in(p) {
			if failed != nil {
				return failed
			}
			continue
		}
		links := g.inner(p)
		if failed != nil {
			return failed
		}
		if more, err := visit(p, links); err != nil || !more {
			return err
		}
	}
	return nil
}

func allMissing(ls []Link) bool {
	return !slices.ContainsFunc(ls, func(l Link) bool { return !l.Missing })
}

// inner finds the edges of a selected commit.
func (g *graphWalk) inner(p repo.Pos) []Link {
	return g.join(p, g.ix.Parents(p), func(q repo.Pos) Link { return Link{To: q} })
}

// join collects edges over the parents of a commit.
func (g *graphWalk) join(p repo.Pos, parents []repo.Pos, direct func(repo.Pos) Link) []Link {
	var out []Link
	known := map[repo.Pos]bool{}
	for _, q := range parents {
		if g.in(q) {
			out = append(out, direct(q))
			continue
		}
		ls := g.outer(q)
		if allMissing(ls) {
			out = append(out, Link{To: q, Missing: true})
			continue
		}
		if len(parents) == 1 {
			return ls
		}
		for _, l := range ls {
			if !known[l.To] {
				known[l.To] = true
				out = append(out, l)
			}
		}
	}
	if len(parents) > 1 {
		out = g.reduce(out)
	}
	return out
}

// outer finds the edges of a commit that is not selected, without recursion:
// histories are long.
func (g *graphWalk) outer(p repo.Pos) []Link {
	if p < g.lowest {
		return nil
	}
	stack := []repo.Pos{p}
	for len(stack) > 0 {
		q := stack[len(stack)-1]
		if _, ok := g.cache[q]; ok {
			stack = stack[:len(stack)-1]
			continue
		}
		ready := true
		parents := g.ix.Parents(q)
		for _, x := range parents {
			if !g.in(x) && x >= g.lowest {
				if _, ok := g.cache[x]; !ok {
					stack = append(stack, x)
					ready = false
				}
			}
		}
		if ready {
			stack = stack[:len(stack)-1]
			g.cache[q] = g.join(q, parents, func(x repo.Pos) Link { return Link{To: x, Indirect: true} })
		}
	}
	return g.cache[p]
}

// reduce drops edges to ancestors of other edges' targets.
func (g *graphWalk) reduce(ls []Link) []Link {
	if !slices.ContainsFunc(ls, func(l Link) bool { return l.Indirect }) {
		return ls
	}
	var work []repo.Pos
	targets := map[repo.Pos]bool{}
	low, gen := ^repo.Pos(0), ^uint32(0)
	for _, l := range ls {
		if !l.Missing {
			targets[l.To] = true
			low = min(low, l.To)
			gen = min(gen, g.ix.Generation(l.To))
		}
	}
	push := func(p repo.Pos) {
		if es, ok := g.cache[p]; ok {
			for _, e := range es {
				if !e.Missing && e.To >= low {
					work = append(work, e.To)
				}
			}
			return
		}
		for _, q := range g.ix.Parents(p) {
			if q >= low {
				work = append(work, q)
			}
		}
	}
	for t := range targets {
		push(t)
	}
	unwanted := map[repo.Pos]bool{}
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if unwanted[p] {
			continue
		}
		unwanted[p] = true
		if targets[p] || g.ix.Generation(p) < gen {
			continue
		}
		push(p)
	}
	return slices.DeleteFunc(slices.Clone(ls), func(l Link) bool { return !l.Missing && unwanted[l.To] })
}
