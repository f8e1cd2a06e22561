// Commits that may not be rewritten, as jj 0.45.1 has them: `immutable_heads()`, their ancestors and the root.

package jj

import (
	"context"
	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

// immutableTest is a test for commits that may not be rewritten.
func (rs *revisions) immutableTest(ctx context.Context) (func(repo.CommitID) (bool, error), error) {
	if rs.immutable == nil {
		x, err := rs.immutableExpr()
		if err != nil {
			return nil, err
		}
		rr := rs.revRepo(ctx, rs.repo, nil)
		set, err := rr.Set(ctx, x)
		if err != nil {
			return nil, configf(err, "Invalid `revset-aliases.immutable_heads()`")
		}
		rs.immutable = &immutability{set, rr}
	}
	im := rs.immutable
	return func(id repo.CommitID) (bool, error) {
		p, ok := im.rev.Index.Pos(id)
		return ok && im.set.Has(p), nil
	}, nil
}

// immutableExpr is the revset of commits that may not be rewritten now.
func (rs *revisions) immutableExpr() (*revset.Expr, error) {
	if rs.global.ignoreImmutable {
		return revset.Root(), nil
	}
	return rs.protectedExpr()
}

// protectedExpr is the revset of commits that are shown as immutable.
func (rs *revisions) protectedExpr() (*revset.Expr, error) {
	heads, err := revset.Compile("immutable_heads()", rs.scope())
	if err != nil {
		return nil, configf(err, "Invalid `revset-aliases.immutable_heads()`")
	}
	return revset.Ancestors(revset.Union(heads, revset.Root())), nil
}

// checkRewritable refuses to touch commits that may not be rewritten.
func (rs *revisions) checkRewritable(ctx context.Context, ids ...repo.CommitID) error {
	if len(ids) == 0 {
		return nil
	}
	return rs.checkRewritableExpr(ctx, revset.Commits(ids...))
}

func (rs *revisions) checkRewritableExpr(ctx context.Context, x *revset.Expr) error {
	fixed, err := rs.immutableExpr()
	if err != nil {
		return err
	}
	rr := rs.revRepo(ctx, rs.repo, nil)
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
	c, err := rs.store.Commit(ctx, id)
	if err != nil {
		return err
	}
	t := rs.ui.newText()
	t.Str("Could not modify commit: ")
	if err := rs.summary(ctx, t, c); err != nil {
		return err
	}
	e.hints = append(e.hints, hint{rich: t})
	e.hinted("Immutable commits are used to protect shared history.")
	e.hinted("For more information, see:\n      - https://docs.jj-vcs.dev/latest/config/#set-of-immutable-commits\n" +
		"      - `jj help -k config`, \"Set of immutable commits\"")
	all, err := rr.IDs(ctx, revset.And(fixed, revset.Descendants(x)))
	if err != nil {
		return err
	}
	return e.hinted("This operation would rewrite %d immutable commits.", len(all))
}
