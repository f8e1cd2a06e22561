// Tracking of remote bookmarks and tags, as jj 0.45.1 has it.

package jj

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

// remoteName is a bookmark or a tag on a remote.
type remoteName struct{ name, remote string }

func (r remoteName) String() string { return revset.FormatRemote(r.name, r.remote) }

// runTrack starts or stops following bookmarks or tags of remotes.
func (k refKind) runTrack(ctx context.Context, e *env, p *parsed) error {
	track := p.command().name == "track"
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	var patterns []*pattern.Expr
	var exact []remoteName
	for _, s := range p.all("names") {
		n, err := revset.Parse(s)
		if err != nil {
			return nameError("name pattern or remote symbol", err)
		}
		if n.Kind == dsl.Remote {
			exact = append(exact, remoteName{n.Name, n.Remote})
			continue
		}
		x, err := revset.StringExpr(n)
		if err != nil {
			return nameError("name pattern or remote symbol", err)
		}
		patterns = append(patterns, x)
	}
	if len(patterns) > 0 && len(exact) > 0 {
		return clif("Cannot specify both <%[1]s> patterns and <%[1]s>@<remote> symbols", k.noun)
	}
	if p.has("remote") && len(exact) > 0 {
		return clif("--remote cannot be used with <%s>@<remote> symbols", k.noun)
	}
	var found []remoteName
	if len(exact) > 0 {
		found = k.trackable(w, exact)
	} else {
		x := &pattern.Expr{Op: "|", Args: patterns}
		rx := &pattern.Expr{Op: "~", Args: []*pattern.Expr{pattern.One(pattern.Exact(repo.GitRemote))}}
		if p.has("remote") {
			if rx, err = namePatterns(p.all("remote")); err != nil {
				return err
			}
		}
		found = k.trackableMatching(w.repo.View, x, rx)
		w.warnUnknownRefs(k, x, true)
		w.warnUnknownRemotes(rx)
	}
	var todo []remoteName
	for _, f := range found {
		ref := k.remote(w.repo.View, f.remote, f.name)
		switch {
		case !track && f.remote == repo.GitRemote:
			w.ui.warnf("Git-tracking %s cannot be untracked: %s", k.noun, f)
		case track && ref.Tracked:
			w.ui.warnf("Remote %s already tracked: %s", k.noun, f)
		case !track && !ref.Tracked:
			w.ui.warnf("Remote %s not tracked yet: %s", k.noun, f)
		default:
			todo = append(todo, f)
		}
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	var shown []string
	for _, f := range todo {
		shown = append(shown, f.String())
		switch {
		case !track:
			t.untrack(k, f.remote, f.name)
		case k == tagKind:
			t.TrackTag(f.remote, f.name)
		default:
			if err := t.TrackBookmark(ctx, f.remote, f.name); err != nil {
				return err
			}
		}
	}
	word, verb := "Started", "track"
	if !track {
		word, verb = "Stopped", "untrack"
	}
	if len(todo) > 0 {
		w.ui.statusf("%s tracking %d remote %ss.\n", word, len(todo), k.noun)
	}
	if err := t.finish(ctx, fmt.Sprintf("%s remote %s %s", verb, k.noun, strings.Join(shown, ", "))); err != nil || !track || k == tagKind {
		return err
	}
	return w.print.listConflicted(ctx, todo)
}

// trackable keeps the symbols that stand for something, in order.
func (k refKind) trackable(w *session, list []remoteName) []remoteName {
	v := w.repo.View
	var out []remoteName
	var lost []string
	for _, r := range list {
		rv, known := v.Remotes[r.remote]
		ref, there := k.on(rv)[r.name]
		_, local := k.local(v)[r.name]
		if there && !repo.IsAbsentTarget(ref.Target) || local && known {
			out = append(out, r)
		} else {
			lost = append(lost, r.String())
		}
	}
	slices.SortFunc(out, func(a, b remoteName) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.remote, b.remote)) })
	if len(lost) > 0 {
		w.ui.warnf("No matching remote %ss for names: %s", k.noun, strings.Join(lost, ", "))
	}
	return slices.Compact(out)
}

func (k refKind) trackableMatching(v *repo.View, x, rx *pattern.Expr) []remoteName {
	var out, absent []remoteName
	remotes := slices.Sorted(maps.Keys(v.Remotes))
	names := map[string]bool{}
	for _, rv := range v.Remotes {
		for n := range k.on(rv) {
			names[n] = true
		}
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		for _, r := range remotes {
			if _, ok := k.on(v.Remotes[r])[n]; ok && rx.Match(r) && x.Match(n) {
				out = append(out, remoteName{n, r})
			}
		}
	}
	for _, r := range remotes {
		if !rx.Match(r) {
			continue
		}
		for _, n := range slices.Sorted(maps.Keys(k.local(v))) {
			if _, ok := k.on(v.Remotes[r])[n]; !ok && x.Match(n) {
				absent = append(absent, remoteName{n, r})
			}
		}
	}
	return append(out, absent...)
}

// listConflicted shows the bookmarks that tracking made conflicted.
func (pr *printer) listConflicted(ctx context.Context, done []remoteName) error {
	l, err := pr.language(ctx)
	if err != nil {
		return err
	}
	r, err := pr.template(l, pr.conf.Str("templates.bookmark_list"), l.Ref)
	if err != nil {
		return err
	}
	o := pr.ui.newText()
	o.Push("bookmark_list")
	for _, n := range render.Refs(pr.repo.View, false) {
		if len(n.Local.Target) < 2 || !slices.ContainsFunc(done, func(d remoteName) bool { return d.name == n.Name }) {
			continue
		}
		if err := r.Render(o, n.Local); err != nil {
			return err
		}
		for _, ref := range n.Remotes {
			if slices.Contains(done, remoteName{n.Name, ref.Remote}) {
				if err := r.Render(o, ref); err != nil {
					return err
				}
			}
		}
	}
	o.Pop()
	pr.ui.status(o)
	return nil
}
