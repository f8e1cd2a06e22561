// Bookmarks that move along with `jj commit` and `jj new`, as jj 0.45.1 has them: by `experimental-advance-branches`.

package jj

import (
	"context"
	"maps"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/revset"
)

// advanceable is a bookmark that follows when a commit is made on its target.
type advanceable struct {
	name string
	from repo.CommitID
}

// advanceable lists the bookmarks at commits that the settings let move along.
func (st *state) advanceable(from []repo.CommitID) ([]advanceable, error) {
	match, err := st.advanceMatcher()
	if err != nil || match == nil {
		return nil, err
	}
	var out []advanceable
	for _, id := range from {
		for _, name := range slices.Sorted(maps.Keys(st.repo.View.Bookmarks)) {
			t := st.repo.View.Bookmarks[name]
			if slices.Contains(repo.TargetIDs(t), id) && match(name) {
				out = append(out, advanceable{name, id})
			}
		}
	}
	return out, nil
}

func (st *state) advanceMatcher() (func(string) bool, error) {
	read := func(key string) ([]*pattern.Expr, error) {
		texts, err := st.conf.Strings("experimental-advance-branches", key)
		if err != nil {
			return nil, err
		}
		var out []*pattern.Expr
		for _, s := range texts {
			x, err := revset.ParseStringExpr(s)
			if err != nil {
				return nil, st.conf.Wrong("experimental-advance-branches."+key, err)
			}
			out = append(out, x)
		}
		return out, nil
	}
	on, err := read("enabled-branches")
	if err != nil || len(on) == 0 {
		return nil, err
	}
	off, err := read("disabled-branches")
	if err != nil {
		return nil, err
	}
	any := func(xs []*pattern.Expr, s string) bool {
		return slices.ContainsFunc(xs, func(x *pattern.Expr) bool { return x.Match(s) })
	}
	return func(s string) bool { return any(on, s) && !any(off, s) }, nil
}

// advance moves bookmarks to a new commit.
func (t *tx) advance(ctx context.Context, list []advanceable, to repo.CommitID) error {
	for _, a := range list {
		if err := t.MergeBookmark(ctx, a.name, repo.Target(a.from), repo.Target(to)); err != nil {
			return err
		}
	}
	return nil
}
