// `jj bookmark delete`, `forget` and `rename`, as jj 0.45.1 has them: deleting is passed on by the next push, forgetting is
// not. The hints say so in stock jj's words.

package jj

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

func runBookmarkDelete(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	x, err := namePatterns(p.all("names"))
	if err != nil {
		return err
	}
	names := matching(w.repo.View.Bookmarks, x)
	w.warnUnknownRefs(bookmarkKind, x, false)
	if len(names) == 0 {
		w.ui.statusf("No bookmarks to delete.\n")
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	for _, n := range names {
		t.View.SetBookmark(n, repo.NoTarget())
	}
	w.ui.statusf("Deleted %d bookmarks.\n", len(names))
	return t.finish(ctx, "delete bookmark "+symbols(names))
}

func runBookmarkForget(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	x, err := namePatterns(p.all("names"))
	if err != nil {
		return err
	}
	v := w.repo.View
	all := map[string]bool{}
	for n := range v.Bookmarks {
		all[n] = true
	}
	for _, rv := range v.Remotes {
		for n := range rv.Bookmarks {
			all[n] = true
		}
	}
	names := matching(all, x)
	w.warnUnknownRefs(bookmarkKind, x, true)
	if len(names) == 0 {
		w.ui.statusf("No bookmarks to forget.\n")
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	local, remote := 0, 0
	for _, n := range names {
		if _, ok := v.Bookmarks[n]; ok {
			local++
		}
		t.View.SetBookmark(n, repo.NoTarget())
		for r, rv := range v.Remotes {
			_, ok := rv.Bookmarks[n]
			switch {
			case !ok:
			case p.has("include-remotes"):
				t.View.SetRemoteBookmark(r, n, repo.RemoteRef{Target: repo.NoTarget()})
				remote++
			case r != repo.GitRemote:
				t.untrack(bookmarkKind, r, n)
			}
		}
	}
	if local > 0 {
		w.ui.statusf("Forgot %d local bookmarks.\n", local)
	}
	if remote > 0 {
		w.ui.statusf("Forgot %d remote bookmarks.\n", remote)
	}
	return t.finish(ctx, "forget bookmark "+symbols(names))
}

func (t *tx) untrack(k refKind, remote, name string) {
	ref := k.remote(t.View, remote, name)
	ref.Tracked = false
	k.setRemote(t.View, remote, name, ref)
}

func runBookmarkRename(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	names := refNames([]string{p.str("old"), p.str("new")})
	old, now := names[0], names[1]
	v := w.repo.View
	target := v.Bookmark(old)
	if repo.IsAbsentTarget(target) {
		return userf("No such bookmark: %s", revset.FormatSymbol(old))
	}
	over := p.has("overwrite-existing")
	if _, ok := v.Bookmarks[now]; ok && !over {
		return userf("Bookmark already exists: %s", revset.FormatSymbol(now))
	}
	if old == now {
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	remotes := slices.DeleteFunc(slices.Sorted(maps.Keys(v.Remotes)), func(r string) bool { return r == repo.GitRemote })
	if over {
		for _, r := range remotes {
			if ref, ok := v.Remotes[r].Bookmarks[now]; ok && ref.Tracked {
				t.untrack(bookmarkKind, r, now)
			}
		}
	}
	if err := t.SetBookmark(ctx, now, target); err != nil {
		return err
	}
	t.View.SetBookmark(old, repo.NoTarget())
	left := false
	for _, r := range remotes {
		ref, ok := v.Remotes[r].Bookmarks[old]
		if !ok || !ref.Tracked {
			continue
		}
		left = left || !repo.IsAbsentTarget(ref.Target)
		there := t.View.RemoteBookmark(r, now)
		if !repo.IsAbsentTarget(there.Target) && !there.Tracked {
			w.ui.warnf("The renamed bookmark already exists on the remote '%s', tracking state was dropped.", revset.FormatSymbol(r))
			w.ui.hintf("To track the existing remote bookmark, run `jj bookmark track %s`.", revset.FormatRemote(now, r))
			continue
		}
		if err := t.TrackBookmark(ctx, r, now); err != nil {
			return err
		}
	}
	if over {
		for _, r := range remotes {
			ref, ok := v.Remotes[r].Bookmarks[now]
			if !ok || !ref.Tracked || repo.IsAbsentTarget(ref.Target) || v.RemoteBookmark(r, old).Tracked {
				continue
			}
			w.ui.warnf("Tracking of remote bookmark %s was dropped.", revset.FormatRemote(now, r))
			w.ui.hintf("Use `jj bookmark track` to re-track if needed.")
		}
	}
	os, ns := revset.FormatSymbol(old), revset.FormatSymbol(now)
	if err := t.finish(ctx, fmt.Sprintf("rename bookmark %s to %s", os, ns)); err != nil {
		return err
	}
	if left {
		w.ui.warnf("Tracked remote bookmarks for bookmark %s were not renamed.", os)
		w.ui.hintf("To rename the bookmark on the remote, you can `jj git push --bookmark %s` first (to delete it on the remote), and then "+
			"`jj git push --bookmark %s`. `jj git push --all --deleted` would also be sufficient.", os, ns)
	}
	if !over {
		for _, r := range remotes {
			if ref, ok := v.Remotes[r].Bookmarks[now]; ok && ref.Tracked && !repo.IsAbsentTarget(ref.Target) {
				w.ui.warnf("Tracked remote bookmarks for bookmark %s exist.", ns)
				w.ui.hintf("Run `jj bookmark untrack %s` to disassociate them.", ns)
				break
			}
		}
	}
	return nil
}
