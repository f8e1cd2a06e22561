package revset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tandem/internal/repo"
)

type set = repo.PosSet

// evaluator computes sets of positions of one index.
type evaluator struct {
	r        *Repo
	n        int
	heads    []repo.Pos // visible heads and commits named in the expression
	universe set
}

// Positions evaluates an expression; the newest position comes first.
func (r *Repo) Positions(ctx context.Context, x *Expr) ([]repo.Pos, error) {
	ev, err := r.evaluator(x)
	if err != nil {
		return nil, err
	}
	s, err := ev.eval(ctx, x)
	if err != nil {
		return nil, err
	}
	return members(s), nil
}

// IDs evaluates an expression; children come before their parents.
func (r *Repo) IDs(ctx context.Context, x *Expr) ([]repo.CommitID, error) {
	ps, err := r.Positions(ctx, x)
	out := make([]repo.CommitID, len(ps))
	for i, p := range ps {
		out[i] = r.Index.ID(p)
	}
	return out, err
}

// Set evaluates an expression as a set of positions.
func (r *Repo) Set(ctx context.Context, x *Expr) (repo.PosSet, error) {
	ev, err := r.evaluator(x)
	if err != nil {
		return nil, err
	}
	return ev.eval(ctx, x)
}

// Resolve says whether everything an expression names is there.
func (r *Repo) Resolve(x *Expr) error {
	_, err := r.evaluator(x)
	return err
}

func (r *Repo) evaluator(x *Expr) (*evaluator, error) {
	ev := &evaluator{r: r, n: r.Index.Len()}
	for id := range r.View.Heads {
		if p, ok := r.Index.Pos(id); ok {
			ev.heads = append(ev.heads, p)
		}
	}
	if err := ev.named(x); err != nil {
		return nil, err
	}
	return ev, nil
}

// named adds the commits an expression names to the heads, so that hidden
// commits asked for are seen, and reports unknown names early.
func (ev *evaluator) named(x *Expr) error {
	switch x.kind {
	case kSymbol, kRemote, kWorkspace, kWorkspaces, kChangeID, kCommitID, kRefs, kCommits:
		ids, err := ev.lookup(x)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if p, ok := ev.r.Index.Pos(id); ok {
				ev.heads = append(ev.heads, p)
			}
		}
		return nil
	case kPresent:
		saved := ev.heads
		if err := ev.named(x.args[0]); err != nil {
			var none *NoSuchRevision
			var wc *NoWorkingCopy
			if errors.As(err, &none) || errors.As(err, &wc) {
				ev.heads = saved
				return nil
			}
			return err
		}
		return nil
	case kAtOp:
		return nil
	}
	for _, a := range x.args {
		if err := ev.named(a); err != nil {
			return err
		}
	}
	return nil
}

func (ev *evaluator) lookup(x *Expr) ([]repo.CommitID, error) {
	r := ev.r
	one := func(id repo.CommitID, err error) ([]repo.CommitID, error) { return []repo.CommitID{id}, err }
	switch x.kind {
	case kSymbol:
		return one(r.symbol(x.text))
	case kRemote:
		return one(r.remoteSymbol(x.text, x.remote))
	case kWorkspace:
		if id, ok := r.View.Workspaces[x.text]; ok {
			return one(id, nil)
		}
		return nil, &NoWorkingCopy{x.text}
	case kWorkspaces:
		var out []repo.CommitID
		for _, id := range r.View.Workspaces {
			out = append(out, id)
		}
		return out, nil
	case kCommits:
		var out []repo.CommitID
		for _, id := range x.ids {
			out = append(out, repo.CommitID(id))
		}
		return out, nil
	case kCommitID:
		id, err := r.commitPrefix(x.text)
		if err != nil || id == "" {
			return nil, err
		}
		return one(id, nil)
	case kChangeID:
		id, err := r.changePrefix(x.text)
		if err != nil || id == "" {
			return nil, err
		}
		ids, visible := r.ChangeTargets(id)
		var out []repo.CommitID
		for i, c := range ids {
			if visible[i] {
				out = append(out, c)
			}
		}
		return out, nil
	}
	return r.refs(x.refs), nil
}

func (ev *evaluator) empty() set { return repo.NewPosSet(ev.n) }

func members(s set) []repo.Pos {
	var out []repo.Pos
	for w := len(s) - 1; w >= 0; w-- {
		for b := 63; s[w] != 0 && b >= 0; b-- {
			if s[w]>>b&1 != 0 {
				out = append(out, repo.Pos(w*64+b))
			}
		}
	}
	return out
}

func or(a, b set) set {
	out := slices.Clone(a)
	for i := range b {
		out[i] |= b[i]
	}
	return out
}

func and(a, b set) set {
	out := slices.Clone(a)
	for i := range out {
		out[i] &= b[i]
	}
	return out
}

func minus(a, b set) set {
	out := slices.Clone(a)
	for i := range out {
		out[i] &^= b[i]
	}
	return out
}

func (ev *evaluator) all() set {
	if ev.universe == nil {
		ev.universe = ev.r.Index.Ancestors(ev.heads)
	}
	return ev.universe
}

// lazy says whether testing the members of another set is cheaper than
// computing this one.
func lazy(x *Expr) bool {
	switch x.kind {
	case kFilter:
		return true
	case kUnion, kIntersection, kDifference, kNegate, kPresent:
		return slices.ContainsFunc(x.args, lazy)
	}
	return false
}

func (ev *evaluator) eval(ctx context.Context, x *Expr) (set, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch x.kind {
	case kNone:
		return ev.empty(), nil
	case kAll:
		return ev.all(), nil
	case kRoot, kVisibleHeads, kSymbol, kRemote, kWorkspace, kWorkspaces, kChangeID, kCommitID, kRefs, kCommits:
		return ev.leaf(x)
	case kUnion:
		out := ev.empty()
		for _, a := range x.args {
			s, err := ev.eval(ctx, a)
			if err != nil {
				return nil, err
			}
			out = or(out, s)
		}
		return out, nil
	case kIntersection:
		first, second := x.args[0], x.args[1]
		if lazy(first) && !lazy(second) {
			first, second = second, first
		}
		s, err := ev.eval(ctx, first)
		if err != nil {
			return nil, err
		}
		return ev.within(ctx, second, s)
	case kDifference:
		s, err := ev.eval(ctx, x.args[0])
		if err != nil {
			return nil, err
		}
		t, err := ev.within(ctx, x.args[1], s)
		return minus(s, orEmpty(t, s)), err
	case kNegate, kFilter:
		return ev.within(ctx, x, ev.all())
	case kPresent:
		return ev.present(ctx, x)
	case kCoalesce:
		for _, a := range x.args {
			s, err := ev.eval(ctx, a)
			if err != nil || slices.ContainsFunc(s, func(w uint64) bool { return w != 0 }) {
				return s, err
			}
		}
		return ev.empty(), nil
	case kAtOp:
		return ev.atOp(ctx, x)
	}
	return ev.graph(ctx, x)
}

func orEmpty(t, like set) set {
	if t == nil {
		return make(set, len(like))
	}
	return t
}

// within computes the part of x inside s.
func (ev *evaluator) within(ctx context.Context, x *Expr, s set) (set, error) {
	switch x.kind {
	case kFilter:
		return ev.filter(ctx, x.pred, s)
	case kNegate:
		t, err := ev.within(ctx, x.args[0], s)
		if err != nil {
			return nil, err
		}
		return minus(and(s, ev.all()), t), nil
	case kUnion:
		out := ev.empty()
		for _, a := range x.args {
			t, err := ev.within(ctx, a, minus(s, out))
			if err != nil {
				return nil, err
			}
			out = or(out, t)
		}
		return out, nil
	case kIntersection:
		t, err := ev.within(ctx, x.args[0], s)
		if err != nil {
			return nil, err
		}
		return ev.within(ctx, x.args[1], t)
	case kDifference:
		t, err := ev.within(ctx, x.args[0], s)
		if err != nil {
			return nil, err
		}
		u, err := ev.within(ctx, x.args[1], t)
		if err != nil {
			return nil, err
		}
		return minus(t, u), nil
	}
	t, err := ev.eval(ctx, x)
	if err != nil {
		return nil, err
	}
	return and(s, t), nil
}

func (ev *evaluator) leaf(x *Expr) (set, error) {
	out := ev.empty()
	var ids []repo.CommitID
	switch x.kind {
	case kRoot:
		ids = []repo.CommitID{repo.RootCommitID}
	case kVisibleHeads:
		ids = ev.r.View.HeadIDs()
	default:
		var err error
		if ids, err = ev.lookup(x); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		p, ok := ev.r.Index.Pos(id)
		if !ok {
			return nil, &repo.MissingError{Type: "commit", ID: id.Hex()}
		}
		out.Add(p)
	}
	return out, nil
}

func (ev *evaluator) present(ctx context.Context, x *Expr) (set, error) {
	s, err := ev.eval(ctx, x.args[0])
	var none *NoSuchRevision
	var wc *NoWorkingCopy
	if errors.As(err, &none) || errors.As(err, &wc) {
		return ev.empty(), nil
	}
	return s, err
}

func (ev *evaluator) atOp(ctx context.Context, x *Expr) (set, error) {
	if ev.r.AtOp == nil {
		return nil, fmt.Errorf("at_operation() is not available here")
	}
	at, err := ev.r.AtOp(x.text)
	if err != nil {
		return nil, err
	}
	there := *ev.r
	there.Repo = at
	ids, err := there.IDs(ctx, x.args[0])
	if err != nil {
		return nil, err
	}
	out := ev.empty()
	for _, id := range ids {
		p, ok := ev.r.Index.Pos(id)
		if !ok {
			return nil, &repo.MissingError{Type: "commit", ID: id.Hex()}
		}
		out.Add(p)
	}
	return out, nil
}
