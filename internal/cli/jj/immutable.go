package jj

import (
	"context"
	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

// immutableTest is a test for commits that may not be rewritten.
func (w *wsEnv) immutableTest(ctx context.Context) (func(repo.CommitID) (bool, error), error) {
	if w.immutable == nil {
		x, err := w.immutableExpr()
		if err != nil {
			return nil, err
		}
		rr := w.revRepo(ctx, w.repo, nil)
		set, err := rr.Set(ctx, x)
		if err != nil {
			return nil, configf(err, "Invalid `revset-aliases.immutable_heads()`")
		}
		w.immutable = &immutability{set, rr}
	}
	im := w.immutable
	return func(id repo.CommitID) (bool, error) {
		p, ok := im.rev.Index.Pos(id)
		return ok && im.set.Has(p), nil
	}, nil
}

// immutableExpr is the revset of commits that may not be rewritten now.
func (w *wsEnv) immutableExpr() (*revset.Expr, error) {
	if w.global.ignoreImmutable {
		return revset.Root(), nil
	}
	return w.protectedExpr()
}

// protectedExpr is the revset of commits that are shown as immutable.
func (w *wsEnv) protectedExpr() (*revset.Expr, error) {
	heads, err := revset.Compile("immutable_heads()", w.scope())
	if err != nil {
		return nil, configf(err, "Invalid `revset-aliases.immutable_heads()`")
	}
	return revset.Ancestors(revset.Union(heads, revset.Root())), nil
}

// checkRewritable refuses to touch commits that may not be rewritten.
func (w *wsEnv) checkRewritable(ctx context.Context, ids ...repo.CommitID) error {
	if len(ids) == 0 {
		return nil
	}
	return w.checkRewritableExpr(ctx, revset.Commits(ids...))
}

func (w *wsEnv) checkRewritableExpr(ctx context.Context, x *revset.Expr) error {
	fixed, err := w.immutableExpr()
	if err != nil {
		return err
	}
	rr := w.revRepo(ctx, w.repo, nil)
	if _, err := rr.Set(ctx, fixed); err != nil {
		return configf(err, "Invalid `revset-aliases.immutable_heads()`")
	}
	bad, err := rr.IDs(ctx, revset.And(fixed, x))
	if err != nil || len(bad) == 0 {
		return err
	}
	id := bad[0]
	if id == repo.RootCommitID {
		return userf("The root commit %s is immutable", id.Hex()[:12])
	}
	e := userf("Commit %s is immutable", id.Hex()[:12])
	c, err := w.store.Commit(ctx, id)
	if err != nil {
		return err
	}
	t := w.ui.newText()
	t.Str("Could not modify commit: ")
	if err := w.summary(ctx, t, c); err != nil {
		return err
	}
	e.hints = append(e.hints, hint{rich: t})
	e.hinted("Immutable commits are used to protect shared history.")
	e.hinted("For more information, see:\n      - https://docs.jj-vcs.dev/latest/config/#set-of-immutable-commits\n      - `jj help -k config`, \"Set of immutable commits\"")
	all, err := rr.IDs(ctx, revset.And(fixed, revset.Descendants(x)))
	if err != nil {
		return err
	}
	return e.hinted("This operation would rewrite %d immutable commits.", len(all))
}
