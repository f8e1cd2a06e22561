package revset

import (
	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
)

// None selects nothing.
func None() *Expr { return &Expr{kind: kNone} }

// All selects every visible commit.
func All() *Expr { return &Expr{kind: kAll} }

// Root selects the root commit.
func Root() *Expr { return &Expr{kind: kRoot} }

// Commits selects commits by id.
func Commits(ids ...repo.CommitID) *Expr {
	e := &Expr{kind: kCommits}
	for _, id := range ids {
		e.ids = append(e.ids, string(id))
	}
	return e
}

// Ancestors selects commits and their ancestors.
func Ancestors(x *Expr) *Expr { return &Expr{kind: kAncestors, args: []*Expr{x}, hi: unbounded} }

// Parents selects the parents of commits.
func Parents(x *Expr) *Expr { return &Expr{kind: kAncestors, args: []*Expr{x}, lo: 1, hi: 2} }

// AncestorsAt selects the ancestors at one distance.
func AncestorsAt(x *Expr, n uint32) *Expr {
	return &Expr{kind: kAncestors, args: []*Expr{x}, lo: n, hi: n + 1}
}

// DescendantsAt selects the descendants at one distance.
func DescendantsAt(x *Expr, n uint32) *Expr {
	return &Expr{kind: kDescendants, args: []*Expr{x}, lo: n, hi: n + 1}
}

// Children selects the children of commits.
func Children(x *Expr) *Expr { return &Expr{kind: kDescendants, args: []*Expr{x}, lo: 1, hi: 2} }

// Descendants selects commits and their descendants.
func Descendants(x *Expr) *Expr { return &Expr{kind: kDescendants, args: []*Expr{x}, hi: unbounded} }

// Range selects ancestors of heads that are not ancestors of roots.
func Range(roots, heads *Expr) *Expr { return &Expr{kind: kRange, args: []*Expr{roots, heads}} }

// DagRange selects descendants of roots that are ancestors of heads.
func DagRange(roots, heads *Expr) *Expr { return &Expr{kind: kDagRange, args: []*Expr{roots, heads}} }

// Heads selects the commits that are ancestors of no other of them.
func Heads(x *Expr) *Expr { return &Expr{kind: kHeads, args: []*Expr{x}} }

// Roots selects the commits that are descendants of no other of them.
func Roots(x *Expr) *Expr { return &Expr{kind: kRoots, args: []*Expr{x}} }

// Not selects the visible commits that x does not.
func Not(x *Expr) *Expr { return &Expr{kind: kNegate, args: []*Expr{x}} }

// And selects what both select.
func And(a, b *Expr) *Expr { return &Expr{kind: kIntersection, args: []*Expr{a, b}} }

// Minus selects what a selects and b does not.
func Minus(a, b *Expr) *Expr { return &Expr{kind: kDifference, args: []*Expr{a, b}} }

// Union selects what any selects.
func Union(xs ...*Expr) *Expr {
	switch len(xs) {
	case 0:
		return None()
	case 1:
		return xs[0]
	}
	return &Expr{kind: kUnion, args: xs}
}

// Present selects nothing instead of failing on an unknown name.
func Present(x *Expr) *Expr { return &Expr{kind: kPresent, args: []*Expr{x}} }

// WithFiles selects the commits that change files of a set.
func WithFiles(set *fileset.Set) *Expr {
	return &Expr{kind: kFilter, pred: &predicate{field: "files", files: set}}
}

// WithConflicts selects conflicted commits.
func WithConflicts() *Expr { return &Expr{kind: kFilter, pred: &predicate{field: "conflicts"}} }

// Bisect selects the commits that split x best in two.
func Bisect(x *Expr) *Expr { return &Expr{kind: kBisect, args: []*Expr{x}} }

// Latest selects the last n commits by committer time.
func Latest(x *Expr, n uint32) *Expr { return &Expr{kind: kLatest, args: []*Expr{x}, n: n} }
