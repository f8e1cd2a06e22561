// `jj bookmark list`, as jj 0.45.1 has it, with the filters, sort keys and templates that tags share: a remote bookmark
// that agrees with its local one is not listed.

package jj

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

// refItem is a ref of a list with the tracked remote ones below it.
type refItem struct {
	primary *render.Ref
	tracked []*render.Ref
}

// refFilter chooses what is listed.
type refFilter struct {
	name, remote                 *pattern.Expr
	targets                      map[repo.CommitID]bool
	conflicted                   bool
	localOnly, synced, strangers bool
}

func (f refFilter) collect(refs []render.NamedRefs) []refItem {
	var out []refItem
	for _, n := range refs {
		hit := f.name.Match(n.Name) || slices.ContainsFunc(repo.TargetIDs(n.Local.Target), func(id repo.CommitID) bool { return f.targets[id] })
		if !hit || f.conflicted && len(n.Local.Target) < 2 {
			continue
		}
		var tracked, others []*render.Ref
		for _, r := range n.Remotes {
			switch {
			case !f.remote.Match(r.Remote):
			case !r.Tracked:
				others = append(others, r)
			case f.synced || !r.Target.Equal(n.Local.Target):
				tracked = append(tracked, r)
			}
		}
		if f.localOnly && !repo.IsAbsentTarget(n.Local.Target) || len(tracked) > 0 {
			out = append(out, refItem{n.Local, tracked})
		}
		if f.strangers {
			for _, r := range others {
				out = append(out, refItem{primary: r})
			}
		}
	}
	return out
}

var sortKeys = []string{"name", "author-name", "author-email", "author-date", "committer-name", "committer-email", "committer-date"}

// sortChoices are the keys as options take them: a dash turns the order round.
func sortChoices() []string {
	var out []string
	for _, k := range sortKeys {
		out = append(out, k, k+"-")
	}
	return out
}

func (st *state) sortRefs(ctx context.Context, items []refItem, p *parsed, setting string) error {
	var keys []string
	if p.has("sort") {
		keys = p.all("sort")
	} else {
		var err error
		if keys, err = st.conf.Strings("ui", setting); err != nil {
			return err
		}
		for _, k := range keys {
			if !slices.Contains(sortChoices(), k) {
				return st.conf.Wrong("ui."+setting, fmt.Errorf("invalid sort key: %s", k))
			}
		}
	}
	commits := map[*render.Ref]*repo.Commit{}
	for _, it := range items {
		if ids := repo.TargetIDs(it.primary.Target); len(ids) > 0 {
			c, err := st.store.Commit(ctx, ids[0])
			if err != nil {
				return err
			}
			commits[it.primary] = c
		}
	}
	for _, k := range slices.Backward(keys) {
		key, desc := strings.CutSuffix(k, "-")
		slices.SortStableFunc(items, func(a, b refItem) int {
			c := compareRefs(key, a.primary, b.primary, commits)
			if desc {
				return -c
			}
			return c
		})
	}
	return nil
}

func compareRefs(key string, a, b *render.Ref, commits map[*render.Ref]*repo.Commit) int {
	if key == "name" {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Remote, b.Remote))
	}
	x, y := commits[a], commits[b]
	if x == nil || y == nil {
		return cmp.Compare(boolInt(x != nil), boolInt(y != nil))
	}
	sx, sy := x.Author, y.Author
	if strings.HasPrefix(key, "committer") {
		sx, sy = x.Committer, y.Committer
	}
	switch key[strings.IndexByte(key, '-')+1:] {
	case "name":
		return cmp.Compare(sx.Name, sy.Name)
	case "email":
		return cmp.Compare(sx.Email, sy.Email)
	}
	return cmp.Compare(sx.When.Millis, sy.When.Millis)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func runBookmarkList(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	f, err := w.revs.refFilter(ctx, p, &pattern.Expr{Op: "|"})
	if err != nil {
		return err
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	r, err := w.print.templateOpt(l, p, "bookmark_list", l.Ref)
	if err != nil {
		return err
	}
	items := f.collect(render.Refs(w.repo.View, false))
	if err := w.sortRefs(ctx, items, p, "bookmark-list-sort-keys"); err != nil {
		return err
	}
	w.ui.page(ctx)
	o := w.ui.newText()
	o.Push("bookmark_list")
	conflict, gone, remoteGone := false, false, false
	for _, it := range items {
		for _, ref := range append([]*render.Ref{it.primary}, it.tracked...) {
			if err := r.Render(o, ref); err != nil {
				return err
			}
		}
		if it.primary.Remote != "" {
			continue
		}
		conflict = conflict || len(it.primary.Target) > 1
		if repo.IsAbsentTarget(it.primary.Target) {
			gone = true
			remoteGone = remoteGone || slices.ContainsFunc(it.tracked, func(x *render.Ref) bool { return x.Remote != repo.GitRemote })
		}
	}
	o.Pop()
	if err := w.ui.print(o); err != nil {
		return err
	}
	w.warnUnknownRefs(bookmarkKind, f.name, true)
	if conflict {
		w.ui.hintf("Some bookmarks have conflicts. Use `jj bookmark set <name> -r <rev>` to resolve.")
	}
	switch {
	case remoteGone:
		w.ui.hintf("Bookmarks marked as deleted can be *deleted permanently* on the remote by running `jj git push --deleted`. " +
			"Use `jj bookmark forget` if you don't want that.")
	case gone:
		w.ui.hintf("Bookmarks marked as deleted will be deleted from the underlying Git repo on the next `jj git export`.")
	}
	return nil
}

// refFilter reads the options that bookmark and tag lists share.
func (rs *revisions) refFilter(ctx context.Context, p *parsed, none *pattern.Expr) (refFilter, error) {
	f := refFilter{name: pattern.One(pattern.All()), remote: pattern.One(pattern.All()), conflicted: p.has("conflicted")}
	var err error
	if p.has("names") {
		if f.name, err = namePatterns(p.all("names")); err != nil {
			return f, err
		}
	} else if p.has("revisions") {
		f.name = none
	}
	if p.has("revisions") {
		x, err := rs.compileAll(p.all("revisions"))
		if err != nil {
			return f, err
		}
		ids, err := rs.ids(ctx, x)
		if err != nil {
			return f, err
		}
		f.targets = map[repo.CommitID]bool{}
		for _, id := range ids {
			f.targets[id] = true
		}
	}
	if p.has("remote") {
		if f.remote, err = namePatterns(p.all("remote")); err != nil {
			return f, err
		}
	} else if p.has("tracked") {
		f.remote = &pattern.Expr{Op: "~", Args: []*pattern.Expr{pattern.One(pattern.Exact(repo.GitRemote))}}
	}
	f.localOnly = !p.has("tracked") && !p.has("remote")
	f.synced = p.has("tracked") || p.has("all-remotes") || p.has("remote")
	f.strangers = !p.has("tracked") && (p.has("all-remotes") || p.has("remote"))
	return f, nil
}

var _ = revset.None
