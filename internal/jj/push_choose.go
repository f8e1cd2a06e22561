// What `jj git push` pushes, as jj 0.45.1 chooses: by name, by revision, by change, tracked, all, deleted.

package jj

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

// chooseNamed takes the bookmarks and tags that the command line names, and
// those that revisions lead to.
func (x *push) chooseNamed(ctx context.Context) error {
	w, p := x.w, x.p
	made, err := x.newBookmarks(ctx)
	if err != nil {
		return err
	}
	take := func(k refKind, name string, fresh, deleting bool) error {
		if !x.first(k, name) {
			return nil
		}
		m, no := x.classify(k, name, fresh, deleting)
		switch {
		case no != nil:
			return no
		case m == nil:
			w.ui.statusf("%s %s already matches %s\n", k.title(), revset.FormatRemote(name, x.remote), revset.FormatSymbol(name))
		default:
			x.updates = append(x.updates, *m)
		}
		return nil
	}
	for _, name := range made {
		if err := take(bookmarkKind, name, true, false); err != nil {
			return err
		}
	}
	for _, k := range []refKind{bookmarkKind, tagKind} {
		if err := x.byPattern(k, take); err != nil {
			return err
		}
	}
	var heads []repo.CommitID
	for _, u := range x.updates {
		heads = append(heads, u.to)
	}
	bad, err := x.check(ctx, heads...)
	if err != nil {
		return err
	}
	if bad != nil {
		e := userf("Won't push commit %s since it %s", bad.commit.ID.Hex()[:12], bad.why)
		o := w.ui.newText()
		o.Str("Rejected commit: ")
		if err := w.print.summary(ctx, o, bad.commit); err != nil {
			return err
		}
		e.hints = append(e.hints, hint{rich: o})
		if bad.hint != "" {
			e.hinted("%s", bad.hint)
		}
		return e
	}
	revisions, err := x.revisions(ctx, p.has("bookmark") || p.has("tag") || p.has("change") || p.has("named"))
	if err != nil {
		return err
	}
	for _, k := range []refKind{bookmarkKind, tagKind} {
		for _, name := range k.names(w.repo.View, x.remote) {
			old := k.target(w.repo.View, name)
			led := slices.ContainsFunc(repo.TargetIDs(old), func(id repo.CommitID) bool { return revisions[id] })
			if !led || !x.first(k, name) {
				continue
			}
			if err := x.offer(ctx, k, name, false, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// first says whether a ref is looked at for the first time.
func (x *push) first(k refKind, name string) bool {
	key := refMove{kind: k, name: name}
	seen := x.seen[key]
	x.seen[key] = true
	return !seen
}

func (x *push) byPattern(k refKind, take func(k refKind, name string, fresh, deleting bool) error) error {
	if !x.p.has(k.noun) {
		return nil
	}
	pat, err := namePatterns(x.p.all(k.noun))
	if err != nil {
		return err
	}
	here := func(name string) bool {
		return !repo.IsAbsentTarget(k.target(x.View, name)) || k.remote(x.View, x.remote, name).Tracked
	}
	var lost []string
	for _, name := range pat.Exacts() {
		if !here(name) {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		x.w.ui.warnf("No matching %ss for names: %s", k.noun, symbols(lost))
	}
	for _, name := range k.names(x.View, x.remote) {
		if !pat.Match(name) || !here(name) {
			continue
		}
		if err := take(k, name, !k.tracked(x.View, name), true); err != nil {
			return err
		}
	}
	return nil
}

// newBookmarks makes the bookmarks of --change and --named.
func (x *push) newBookmarks(ctx context.Context) ([]string, error) {
	var names []string
	if x.p.has("change") {
		cs, err := x.w.revs.evalSome(ctx, x.p.all("change"))
		if err != nil {
			return nil, err
		}
		l, err := x.w.print.language(ctx)
		if err != nil {
			return nil, err
		}
		r, err := x.w.print.template(l, x.w.conf.Str("templates.git_push_bookmark"), l.Commit)
		if err != nil {
			return nil, err
		}
		for _, c := range cs {
			name, err := r.String(c)
			if err != nil {
				return nil, err
			}
			if name == "" {
				return nil, userf("Empty bookmark name generated")
			}
			names = append(names, name)
			if x.View.Bookmark(name).Equal(repo.Target(c.ID)) {
				continue
			}
			if err := x.mustBeNew(name); err != nil {
				return nil, err
			}
			x.w.ui.statusf("Creating bookmark %s for revision %s\n", revset.FormatSymbol(name), c.ChangeID.String()[:12])
			if err := x.SetBookmark(ctx, name, repo.Target(c.ID)); err != nil {
				return nil, err
			}
		}
	}
	const hint = "For example, `--named myfeature=@` is valid syntax"
	for _, arg := range x.p.all("named") {
		name, rev, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, clif("Argument '%s' must include '=' and have the form NAME=REVISION", arg).hinted(hint)
		}
		if name == "" || rev == "" {
			return nil, clif("Argument '%s' must have the form NAME=REVISION, with both NAME and REVISION non-empty", arg).hinted(hint)
		}
		sym, err := revset.ParseSymbol(name)
		if err != nil {
			return nil, clif("Could not parse '%s' as a bookmark name", name).because(err).hinted(hint)
		}
		c, err := x.w.revs.single(ctx, rev)
		if err != nil {
			return nil, err
		}
		if err := x.mustBeNew(sym); err != nil {
			return nil, err
		}
		if err := x.SetBookmark(ctx, sym, repo.Target(c.ID)); err != nil {
			return nil, err
		}
		names = append(names, sym)
	}
	return names, nil
}

func (x *push) mustBeNew(name string) error {
	s := revset.FormatSymbol(name)
	if !repo.IsAbsentTarget(x.View.Bookmark(name)) {
		return userf("Bookmark already exists: %s", s).
			hinted("Use 'jj bookmark move' to move it, and 'jj git push -b %s' to push it", s)
	}
	if bookmarkKind.tracked(x.View, name) {
		return userf("Tracked remote bookmarks exist for deleted bookmark: %s", s).
			hinted("Use `jj bookmark set` to recreate the local bookmark. Run `jj bookmark untrack %s` to disassociate them.", s)
	}
	return nil
}

// revisions are the commits whose bookmarks are pushed: those asked for or,
// when nothing is named, those between the remote and the working copy.
func (x *push) revisions(ctx context.Context, named bool) (map[repo.CommitID]bool, error) {
	out := map[repo.CommitID]bool{}
	add := func(text string) (int, error) {
		e, err := x.w.revs.compile("(" + text + ") & (bookmarks() | tags())")
		if err != nil {
			return 0, err
		}
		ids, err := x.w.revs.ids(ctx, e)
		for _, id := range ids {
			out[id] = true
		}
		return len(ids), err
	}
	if !named && !x.p.has("revisions") {
		n, err := add("remote_bookmarks(remote=exact:" + dslQuote(x.remote) + ")..@")
		if err == nil && n == 0 {
			x.w.ui.warnf("No bookmarks/tags found in the default push revset: remote_bookmarks(remote=%s)..@", revset.FormatSymbol(x.remote))
		}
		return out, err
	}
	for _, r := range x.p.all("revisions") {
		if _, err := x.w.revs.compile(r); err != nil {
			return nil, err
		}
		n, err := add(r)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			x.w.ui.warnf("No bookmarks/tags point to the specified revisions: %s", r)
		}
	}
	return out, nil
}

func dslQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
