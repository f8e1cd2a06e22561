package revset

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tandem/internal/repo"
)

// graph evaluates the expressions that follow edges.
func (ev *evaluator) graph(ctx context.Context, x *Expr) (set, error) {
	args := make([]set, len(x.args))
	for i, a := range x.args {
		s, err := ev.eval(ctx, a)
		if err != nil {
			return nil, err
		}
		args[i] = s
	}
	ix := ev.r.Index
	switch x.kind {
	case kAncestors:
		if x.lo == 0 && x.hi == unbounded && !x.firstParent {
			return ix.Ancestors(members(args[0])), nil
		}
		return ev.steps(ctx, args[0], x, func(p repo.Pos) []repo.Pos {
			ps := ix.Parents(p)
			if x.firstParent && len(ps) > 1 {
				ps = ps[:1]
			}
			return ps
		})
	case kDescendants:
		if x.lo == 0 && x.hi == unbounded {
			return ev.descendants(args[0], ev.all()), nil
		}
		children := ev.children()
		return ev.steps(ctx, args[0], x, func(p repo.Pos) []repo.Pos { return children[p] })
	case kRange:
		out := ev.empty()
		for _, p := range ix.Range(members(args[0]), members(args[1])) {
			out.Add(p)
		}
		return out, nil
	case kDagRange:
		return ev.descendants(args[0], ix.Ancestors(members(args[1]))), nil
	case kReachable:
		return ev.reachable(args[0], args[1]), nil
	case kHeads:
		return ev.of(ix.Heads(members(args[0]))), nil
	case kRoots:
		return ev.roots(args[0]), nil
	case kForkPoint:
		return ev.forkPoint(ctx, members(args[0]))
	case kMergePoint:
		return ev.mergePoint(ctx, members(args[0]))
	case kBisect:
		ps := members(args[0])
		if len(ps) > 0 {
			ps = ps[len(ps)/2 : len(ps)/2+1]
		}
		return ev.of(ps), nil
	case kForks:
		return ev.forks(), nil
	case kDivergent:
		return ev.divergent(), nil
	case kLatest:
		return ev.latest(ctx, members(args[0]), int(x.n))
	case kExactly:
		n := len(members(args[0]))
		switch {
		case n > int(x.n):
			return nil, fmt.Errorf("The revset has more than the expected %d revisions", x.n)
		case n < int(x.n):
			return nil, fmt.Errorf("The revset has fewer than the expected %d revisions (got %d)", x.n, n)
		}
		return args[0], nil
	}
	return nil, fmt.Errorf("revset: unknown expression %d", x.kind)
}

func (ev *evaluator) of(ps []repo.Pos) set {
	out := ev.empty()
	for _, p := range ps {
		out.Add(p)
	}
	return out
}

// steps collects what is lo to hi-1 steps away.
func (ev *evaluator) steps(ctx context.Context, from set, x *Expr, next func(repo.Pos) []repo.Pos) (set, error) {
	out := ev.empty()
	level := members(from)
	for d := uint32(0); d < x.hi && len(level) > 0; d++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen := ev.empty()
		var further []repo.Pos
		grew := false
		for _, p := range level {
			if d >= x.lo {
				grew = out.Add(p) || grew
			}
			for _, q := range next(p) {
				if seen.Add(q) {
					further = append(further, q)
				}
			}
		}
		// A level that adds nothing new cannot lead to anything new when all
		// distances from here on count.
		if d >= x.lo && x.hi == unbounded && !grew {
			break
		}
		level = further
	}
	return out, nil
}

// children maps positions to their visible children.
func (ev *evaluator) children() map[repo.Pos][]repo.Pos {
	out := map[repo.Pos][]repo.Pos{}
	for _, p := range members(ev.all()) {
		for _, q := range ev.r.Index.Parents(p) {
			out[q] = append(out[q], p)
		}
	}
	return out
}

// descendants walks upwards from roots inside a domain. Positions grow from
// parents to children, so one pass is enough.
func (ev *evaluator) descendants(roots, domain set) set {
	out := and(roots, domain)
	list := members(domain)
	for i := len(list) - 1; i >= 0; i-- {
		p := list[i]
		if out.Has(p) {
			continue
		}
		for _, q := range ev.r.Index.Parents(p) {
			if out.Has(q) {
				out.Add(p)
				break
			}
		}
	}
	return out
}

func (ev *evaluator) roots(s set) set {
	out := ev.empty()
	under := ev.empty() // s and everything above it
	list := members(s)
	if len(list) == 0 {
		return out
	}
	lowest := list[len(list)-1]
	span := members(ev.r.Index.Ancestors(list))
	for i := len(span) - 1; i >= 0; i-- {
		p := span[i]
		if p < lowest {
			continue
		}
		below := slices.ContainsFunc(ev.r.Index.Parents(p), under.Has)
		if s.Has(p) && !below {
			out.Add(p)
		}
		if below || s.Has(p) {
			under.Add(p)
		}
	}
	return out
}

func (ev *evaluator) reachable(sources, domain set) set {
	list := members(domain)
	group := map[repo.Pos]repo.Pos{}
	var find func(p repo.Pos) repo.Pos
	find = func(p repo.Pos) repo.Pos {
		g, ok := group[p]
		if !ok || g == p {
			return p
		}
		g = find(g)
		group[p] = g
		return g
	}
	for _, p := range list {
		for _, q := range ev.r.Index.Parents(p) {
			if domain.Has(q) {
				group[find(p)] = find(q)
			}
		}
	}
	wanted := map[repo.Pos]bool{}
	for _, p := range list {
		if sources.Has(p) {
			wanted[find(p)] = true
		}
	}
	out := ev.empty()
	for _, p := range list {
		if wanted[find(p)] {
			out.Add(p)
		}
	}
	return out
}

func (ev *evaluator) forkPoint(ctx context.Context, ps []repo.Pos) (set, error) {
	if len(ps) == 0 {
		return ev.empty(), nil
	}
	at := ps[:1]
	for _, p := range ps[1:] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at = ev.r.Index.CommonAncestors(at, []repo.Pos{p})
	}
	return ev.of(at), nil
}

func (ev *evaluator) mergePoint(ctx context.Context, ps []repo.Pos) (set, error) {
	if len(ps) == 0 {
		return ev.empty(), nil
	}
	common := ev.all()
	for _, p := range ps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		common = ev.descendants(ev.of([]repo.Pos{p}), common)
	}
	return ev.roots(common), nil
}

func (ev *evaluator) forks() set {
	counts := map[repo.Pos]int{}
	out := ev.empty()
	for _, p := range members(ev.all()) {
		for _, q := range ev.r.Index.Parents(p) {
			if counts[q]++; counts[q] == 2 {
				out.Add(q)
			}
		}
	}
	return out
}

func (ev *evaluator) divergent() set {
	seen := map[repo.ChangeID][]repo.Pos{}
	visible := members(ev.r.Index.Ancestors(ev.visibleHeads()))
	for _, p := range visible {
		id := ev.r.Index.ChangeID(p)
		seen[id] = append(seen[id], p)
	}
	out := ev.empty()
	for _, ps := range seen {
		if len(ps) > 1 {
			for _, p := range ps {
				out.Add(p)
			}
		}
	}
	return out
}

func (ev *evaluator) visibleHeads() []repo.Pos {
	var out []repo.Pos
	for id := range ev.r.View.Heads {
		if p, ok := ev.r.Index.Pos(id); ok {
			out = append(out, p)
		}
	}
	return out
}

func (ev *evaluator) latest(ctx context.Context, ps []repo.Pos, n int) (set, error) {
	if len(ps) > 1 || n == 0 {
		when := map[repo.Pos]int64{}
		for _, p := range ps {
			c, err := ev.r.Store.Commit(ctx, ev.r.Index.ID(p))
			if err != nil {
				return nil, err
			}
			when[p] = c.Committer.When.Millis
		}
		slices.SortFunc(ps, func(a, b repo.Pos) int {
			return cmp.Or(cmp.Compare(when[b], when[a]), cmp.Compare(b, a))
		})
		ps = ps[:min(n, len(ps))]
	}
	return ev.of(ps), nil
}
