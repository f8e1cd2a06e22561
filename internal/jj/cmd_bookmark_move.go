// `jj bookmark move` and `advance`, as jj 0.45.1 has them: backwards or sideways only with --allow-backwards.

package jj

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/revset"
)

func (st *state) fastForward(old repo.RefTarget, to repo.CommitID) bool {
	if repo.IsAbsentTarget(old) {
		return true
	}
	return slices.ContainsFunc(repo.TargetIDs(old), func(id repo.CommitID) bool { return st.repo.Index.IsAncestor(id, to) })
}

func runBookmarkMove(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("to", "@"))
	if err != nil {
		return err
	}
	x := pattern.One(pattern.All())
	if p.has("names") {
		if x, err = namePatterns(p.all("names")); err != nil {
			return err
		}
	}
	names := matching(w.repo.View.Bookmarks, x)
	if p.has("from") {
		if names, err = w.revs.atRevs(ctx, names, p.all("from")); err != nil {
			return err
		}
	}
	w.warnUnknownRefs(bookmarkKind, x, false)
	return w.moveBookmarks(ctx, names, c, p.has("allow-backwards"), p.has("names"), "Moved", "move")
}

// atRevs keeps the bookmarks that point into a revset.
func (rs *revisions) atRevs(ctx context.Context, names, texts []string) ([]string, error) {
	x, err := rs.compileAll(texts)
	if err != nil {
		return nil, err
	}
	ids, err := rs.ids(ctx, x)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(n string) bool {
		return !slices.ContainsFunc(repo.TargetIDs(rs.repo.View.Bookmarks[n]), func(id repo.CommitID) bool { return slices.Contains(ids, id) })
	}), nil
}

func (w *session) moveBookmarks(ctx context.Context, names []string, c *repo.Commit, back, named bool, verb, word string) error {
	names = slices.DeleteFunc(names, func(n string) bool { return w.repo.View.Bookmark(n).Equal(repo.Target(c.ID)) })
	if len(names) == 0 {
		w.ui.statusf("No bookmarks to update.\n")
		return nil
	}
	for _, n := range names {
		if !back && !w.fastForward(w.repo.View.Bookmark(n), c.ID) {
			err := userf("Refusing to %s bookmark backwards or sideways: %s", word, revset.FormatSymbol(n))
			if word == "move" {
				err.hinted("Use --allow-backwards to allow it.")
			}
			return err
		}
	}
	if err := w.warnEmpty(ctx, c); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := t.SetBookmark(ctx, n, repo.Target(c.ID)); err != nil {
			return err
		}
	}
	if err := t.saySummary(ctx, fmt.Sprintf("%s %d bookmarks to ", verb, len(names)), c); err != nil {
		return err
	}
	if len(names) > 1 && !named {
		w.ui.hintf("Specify bookmark by name to update just one of the bookmarks.")
	}
	return t.finish(ctx, fmt.Sprintf("point bookmark %s to commit %s", symbols(names), c.ID.Hex()))
}

func runBookmarkAdvance(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	to, given := p.get("to")
	if !given {
		to = w.conf.Str("revsets.bookmark-advance-to")
	}
	c, err := w.revs.single(ctx, to)
	if err != nil {
		if !given {
			ce := asCommand(err)
			return ce.hinted("`revsets.bookmark-advance-to` controls the default target. You can also specify a specific target with `--to`.")
		}
		return err
	}
	var names []string
	if p.has("names") {
		x, err := namePatterns(p.all("names"))
		if err != nil {
			return err
		}
		names = matching(w.repo.View.Bookmarks, x)
		w.warnUnknownRefs(bookmarkKind, x, false)
	} else {
		s := w.revs.scope()
		hex := c.ID.Hex()
		s.Locals = map[string]*dsl.Node{"to": {Kind: dsl.String, Name: hex, Span: dsl.Span{Src: hex, End: len(hex)}}}
		x, err := revset.Compile(w.conf.Str("revsets.bookmark-advance-from"), s)
		if err != nil {
			return parseError("revset", err)
		}
		ids, err := w.revs.ids(ctx, x)
		if err != nil {
			return err
		}
		for _, n := range slices.Sorted(maps.Keys(w.repo.View.Bookmarks)) {
			if slices.ContainsFunc(repo.TargetIDs(w.repo.View.Bookmarks[n]), func(id repo.CommitID) bool { return slices.Contains(ids, id) }) {
				names = append(names, n)
			}
		}
	}
	return w.moveBookmarks(ctx, names, c, false, p.has("names"), "Advanced", "advance")
}
