package jj

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/revset"
)

func checkBookmarkName(s string) error { return checkRefName("bookmark", s) }

// checkRefName refuses what cannot be read back as a name.
func checkRefName(what, s string) error {
	_, err := revset.ParseSymbol(s)
	if err == nil {
		return nil
	}
	de := err.(*dsl.Error)
	e := &cmdError{msg: fmt.Sprintf("Failed to parse %s name: %s", what, de.Title), cause: de}
	if n, perr := revset.Parse(s); what == "bookmark" && perr == nil && n.Kind == dsl.Remote {
		return e.hinted("Looks like remote bookmark. Run `jj bookmark track %s` to track it.", revset.FormatRemote(n.Name, n.Remote))
	}
	return e.hinted("%s", symbolHint)
}

func refNames(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i], _ = revset.ParseSymbol(a)
	}
	return out
}

func bookmarkCommand() *command {
	names := opt{id: "names", pos: true, many: true, required: true, value: "NAMES"}
	checked := names
	checked.check = checkBookmarkName
	optional := names
	optional.required = false
	rev := opt{id: "revision", long: "revision", short: "r", alias: []string{"to"}, value: "REVSET"}
	back := opt{id: "allow-backwards", long: "allow-backwards", short: "B"}
	remote := opt{id: "remote", long: "remote", value: "REMOTE", many: true}
	tracked := names
	tracked.value = "BOOKMARK[@REMOTE]"
	return &command{
		name: "bookmark", about: "Manage bookmarks [default alias: b]",
		subs: []*command{
			{name: "advance", alias: []string{"a"}, about: "Advance the closest bookmarks to a target revision", opts: []opt{optional, {id: "to", long: "to", short: "t", value: "REVSET"}}, run: runBookmarkAdvance},
			{name: "create", alias: []string{"c"}, about: "Create a new bookmark", opts: []opt{rev, checked}, run: runBookmarkCreate},
			{name: "delete", alias: []string{"d"}, about: "Delete an existing bookmark and propagate the deletion to remotes on the next push", opts: []opt{names}, run: runBookmarkDelete},
			{name: "forget", alias: []string{"f"}, about: "Forget a bookmark without marking it as a deletion to be pushed", opts: []opt{{id: "include-remotes", long: "include-remotes"}, names}, run: runBookmarkForget},
			{name: "list", alias: []string{"l"}, about: "List bookmarks and their targets", opts: []opt{
				{id: "all-remotes", long: "all-remotes", short: "a", alias: []string{"all"}},
				{id: "remote", long: "remote", value: "REMOTE", many: true, conflicts: []string{"all-remotes"}},
				{id: "tracked", long: "tracked", short: "t", conflicts: []string{"all-remotes"}},
				{id: "conflicted", long: "conflicted", short: "c", conflicts: []string{"all-remotes"}},
				optional,
				{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
				{id: "template", long: "template", short: "T", value: "TEMPLATE"},
				{id: "sort", long: "sort", value: "SORT_KEY", many: true, check: checkSortKeys},
			}, run: runBookmarkList},
			{name: "move", alias: []string{"m"}, about: "Move existing bookmarks to target revision", groups: []group{{id: "source", required: true, multiple: true}}, opts: []opt{
				{id: "names", pos: true, many: true, value: "NAMES", group: "source"},
				{id: "from", long: "from", short: "f", value: "REVSETS", many: true, group: "source"},
				{id: "to", long: "to", short: "t", value: "REVSET"}, back,
			}, run: runBookmarkMove},
			{name: "rename", alias: []string{"r"}, about: "Rename `old` bookmark name to `new` bookmark name", opts: []opt{
				{id: "old", pos: true, value: "OLD", required: true, check: checkBookmarkName},
				{id: "new", pos: true, value: "NEW", required: true, check: checkBookmarkName},
				{id: "overwrite-existing", long: "overwrite-existing"},
			}, run: runBookmarkRename},
			{name: "set", alias: []string{"s"}, about: "Create or update a bookmark to point to a certain commit", opts: []opt{rev, back, checked}, run: runBookmarkSet},
			{name: "track", alias: []string{"t"}, about: "Start tracking given remote bookmarks", opts: []opt{tracked, remote}, run: runBookmarkTrack},
			{name: "untrack", about: "Stop tracking given remote bookmarks", opts: []opt{tracked, remote}, run: runBookmarkTrack},
		},
	}
}

func (p *parsed) or(id, def string) string {
	if v, ok := p.get(id); ok {
		return v
	}
	return def
}

// namePatterns is the union of name patterns.
func namePatterns(texts []string) (*pattern.Expr, error) {
	out := &pattern.Expr{Op: "|"}
	for _, t := range texts {
		x, err := revset.ParseStringExpr(t)
		if err != nil {
			return nil, nameError("name pattern", err)
		}
		out.Args = append(out.Args, x)
	}
	return out, nil
}

func nameError(what string, err error) error {
	de, ok := err.(*dsl.Error)
	if !ok {
		return err
	}
	e := userf("Failed to parse %s: %s", what, de.Title).because(de)
	if h := languageHint("revset", de); h != "" {
		e.hinted("%s", h)
	}
	return e
}

func (w *wsEnv) warnUnknownBookmarks(x *pattern.Expr, remotes bool) {
	var lost []string
	for _, n := range x.Exacts() {
		_, found := w.repo.View.Bookmarks[n]
		if remotes {
			for _, rv := range w.repo.View.Remotes {
				_, ok := rv.Bookmarks[n]
				found = found || ok
			}
		}
		if !found {
			lost = append(lost, n)
		}
	}
	if len(lost) > 0 {
		w.ui.warnf("No matching bookmarks for names: %s", symbols(lost))
	}
}

func (w *wsEnv) warnUnknownRemotes(x *pattern.Expr) {
	var lost []string
	for _, n := range x.Exacts() {
		if _, ok := w.repo.View.Remotes[n]; !ok {
			lost = append(lost, n)
		}
	}
	if len(lost) > 0 {
		w.ui.warnf("No matching remotes for names: %s", symbols(lost))
	}
}

// trackedRemotely says whether a remote's bookmark of that name is followed.
func trackedRemotely(v *repo.View, name string) bool {
	for remote, rv := range v.Remotes {
		if ref, ok := rv.Bookmarks[name]; ok && ref.Tracked && remote != repo.GitRemote {
			return true
		}
	}
	return false
}

func (w *wsEnv) fastForward(old repo.RefTarget, to repo.CommitID) bool {
	if repo.IsAbsentTarget(old) {
		return true
	}
	return slices.ContainsFunc(repo.TargetIDs(old), func(id repo.CommitID) bool { return w.repo.Index.IsAncestor(id, to) })
}

func (w *wsEnv) warnEmpty(c *repo.Commit) error {
	if c.Description != "" {
		return nil
	}
	empty, err := repo.IsEmpty(w.store, w.repo.Index, c)
	if err == nil && empty {
		w.ui.warnf("Target revision is empty.")
	}
	return err
}

// saySummary writes a status line that ends in a commit.
func (t *tx) saySummary(title string, c *repo.Commit) error {
	o := t.w.ui.newText()
	o.Str(title)
	if err := t.summary(o, c); err != nil {
		return err
	}
	o.Str("\n")
	t.w.ui.status(o)
	return nil
}

func runBookmarkCreate(e *env, p *parsed) error {
	w, err := e.open()
	if err != nil {
		return err
	}
	c, err := w.single(p.or("revision", "@"))
	if err != nil {
		return err
	}
	names := refNames(p.all("names"))
	for _, n := range names {
		sym := revset.FormatSymbol(n)
		if _, ok := w.repo.View.Bookmarks[n]; ok {
			return userf("Bookmark already exists: %s", sym).hinted("Use `jj bookmark set` to update it.")
		}
		if trackedRemotely(w.repo.View, n) {
			return userf("Tracked remote bookmarks exist for deleted bookmark: %s", sym).
				hinted("Use `jj bookmark set` to recreate the local bookmark. Run `jj bookmark untrack %s` to disassociate them.", sym)
		}
	}
	if err := w.warnEmpty(c); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := t.SetBookmark(n, repo.Target(c.ID)); err != nil {
			return err
		}
		if err := t.autoTrack(n); err != nil {
			return err
		}
	}
	if err := t.saySummary(fmt.Sprintf("Created %d bookmarks pointing to ", len(names)), c); err != nil {
		return err
	}
	return t.finish(fmt.Sprintf("create bookmark %s pointing to commit %s", symbols(names), c.ID.Hex()))
}

// autoTrack follows a new bookmark on the remotes whose settings say so.
func (t *tx) autoTrack(name string) error {
	w := t.w
	table := w.conf.Table("remotes")
	if table == nil {
		return nil
	}
	for _, remote := range table.Keys {
		text, ok, err := w.conf.String("remotes." + quoteKey(remote) + ".auto-track-created-bookmarks")
		if err != nil {
			return err
		}
		if !ok {
			if text, ok, err = w.conf.String("remotes." + quoteKey(remote) + ".auto-track-bookmarks"); err != nil {
				return err
			}
		}
		if !ok {
			continue
		}
		x, err := revset.ParseStringExpr(text)
		if err != nil {
			return w.conf.Wrong("remotes."+quoteKey(remote)+".auto-track-bookmarks", err)
		}
		rv, known := t.Base().View.Remotes[remote]
		if !x.Match(name) || !known {
			continue
		}
		if _, ok := rv.Bookmarks[name]; ok {
			w.ui.warnf("Auto-tracking bookmark that exists on the remote: %s", revset.FormatRemote(name, remote))
		}
		if err := t.TrackBookmark(remote, name); err != nil {
			return err
		}
	}
	return nil
}

func runBookmarkSet(e *env, p *parsed) error {
	w, err := e.open()
	if err != nil {
		return err
	}
	c, err := w.single(p.or("revision", "@"))
	if err != nil {
		return err
	}
	names := refNames(p.all("names"))
	fresh := map[string]bool{}
	moved := 0
	for _, n := range names {
		old := w.repo.View.Bookmark(n)
		if repo.IsAbsentTarget(old) && !trackedRemotely(w.repo.View, n) {
			fresh[n] = true
		} else if !old.Equal(repo.Target(c.ID)) {
			moved++
		}
		if !p.has("allow-backwards") && !w.fastForward(old, c.ID) {
			return userf("Refusing to move bookmark backwards or sideways: %s", revset.FormatSymbol(n)).hinted("Use --allow-backwards to allow it.")
		}
	}
	if err := w.warnEmpty(c); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := t.SetBookmark(n, repo.Target(c.ID)); err != nil {
			return err
		}
		if fresh[n] {
			if err := t.autoTrack(n); err != nil {
				return err
			}
		}
	}
	if len(fresh) > 0 {
		if err := t.saySummary(fmt.Sprintf("Created %d bookmarks pointing to ", len(fresh)), c); err != nil {
			return err
		}
	}
	if moved > 0 {
		if err := t.saySummary(fmt.Sprintf("Moved %d bookmarks to ", moved), c); err != nil {
			return err
		}
	}
	return t.finish(fmt.Sprintf("point bookmark %s to commit %s", symbols(names), c.ID.Hex()))
}

func runBookmarkDelete(e *env, p *parsed) error {
	w, err := e.open()
	if err != nil {
		return err
	}
	x, err := namePatterns(p.all("names"))
	if err != nil {
		return err
	}
	names := matching(w.repo.View.Bookmarks, x)
	w.warnUnknownBookmarks(x, false)
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
	return t.finish("delete bookmark " + symbols(names))
}

func matching[V any](m map[string]V, x *pattern.Expr) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(m)) {
		if x.Match(n) {
			out = append(out, n)
		}
	}
	return out
}

func runBookmarkForget(e *env, p *parsed) error {
	w, err := e.open()
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
	w.warnUnknownBookmarks(x, true)
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
			ref, ok := rv.Bookmarks[n]
			switch {
			case !ok:
			case p.has("include-remotes"):
				t.View.SetRemoteBookmark(r, n, repo.RemoteRef{Target: repo.NoTarget()})
				remote++
			case r != repo.GitRemote:
				t.untrack(r, n, ref)
			}
		}
	}
	if local > 0 {
		w.ui.statusf("Forgot %d local bookmarks.\n", local)
	}
	if remote > 0 {
		w.ui.statusf("Forgot %d remote bookmarks.\n", remote)
	}
	return t.finish("forget bookmark " + symbols(names))
}

func (t *tx) untrack(remote, name string, ref repo.RemoteRef) {
	ref.Tracked = false
	t.View.SetRemoteBookmark(remote, name, ref)
}

func runBookmarkMove(e *env, p *parsed) error {
	w, err := e.open()
	if err != nil {
		return err
	}
	c, err := w.single(p.or("to", "@"))
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
		if names, err = w.atRevs(names, p.all("from")); err != nil {
			return err
		}
	}
	w.warnUnknownBookmarks(x, false)
	return w.moveBookmarks(names, c, p.has("allow-backwards"), p.has("names"), "Moved", "move")
}

// atRevs keeps the bookmarks that point into a revset.
func (w *wsEnv) atRevs(names, texts []string) ([]string, error) {
	x, err := w.compileAll(texts)
	if err != nil {
		return nil, err
	}
	ids, err := w.ids(x)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(n string) bool {
		return !slices.ContainsFunc(repo.TargetIDs(w.repo.View.Bookmarks[n]), func(id repo.CommitID) bool { return slices.Contains(ids, id) })
	}), nil
}

func (w *wsEnv) moveBookmarks(names []string, c *repo.Commit, back, named bool, verb, word string) error {
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
	if err := w.warnEmpty(c); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := t.SetBookmark(n, repo.Target(c.ID)); err != nil {
			return err
		}
	}
	if err := t.saySummary(fmt.Sprintf("%s %d bookmarks to ", verb, len(names)), c); err != nil {
		return err
	}
	if len(names) > 1 && !named {
		w.ui.hintf("Specify bookmark by name to update just one of the bookmarks.")
	}
	return t.finish(fmt.Sprintf("point bookmark %s to commit %s", symbols(names), c.ID.Hex()))
}

func runBookmarkAdvance(e *env, p *parsed) error {
	w, err := e.open()
	if err != nil {
		return err
	}
	to, given := p.get("to")
	if !given {
		to = w.conf.Str("revsets.bookmark-advance-to")
	}
	c, err := w.single(to)
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
		w.warnUnknownBookmarks(x, false)
	} else {
		s := w.scope()
		hex := c.ID.Hex()
		s.Locals = map[string]*dsl.Node{"to": {Kind: dsl.String, Name: hex, Span: dsl.Span{Src: hex, End: len(hex)}}}
		x, err := revset.Compile(w.conf.Str("revsets.bookmark-advance-from"), s)
		if err != nil {
			return parseError("revset", err)
		}
		ids, err := w.ids(x)
		if err != nil {
			return err
		}
		for _, n := range slices.Sorted(maps.Keys(w.repo.View.Bookmarks)) {
			if slices.ContainsFunc(repo.TargetIDs(w.repo.View.Bookmarks[n]), func(id repo.CommitID) bool { return slices.Contains(ids, id) }) {
				names = append(names, n)
			}
		}
	}
	return w.moveBookmarks(names, c, false, p.has("names"), "Advanced", "advance")
}

func runBookmarkRename(e *env, p *parsed) error {
	w, err := e.open()
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
				t.untrack(r, now, ref)
			}
		}
	}
	if err := t.SetBookmark(now, target); err != nil {
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
		if err := t.TrackBookmark(r, now); err != nil {
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
	if err := t.finish(fmt.Sprintf("rename bookmark %s to %s", os, ns)); err != nil {
		return err
	}
	if left {
		w.ui.warnf("Tracked remote bookmarks for bookmark %s were not renamed.", os)
		w.ui.hintf("To rename the bookmark on the remote, you can `jj git push --bookmark %s` first (to delete it on the remote), and then `jj git push --bookmark %s`. `jj git push --all --deleted` would also be sufficient.", os, ns)
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

func quoteKey(k string) string {
	if strings.ContainsAny(k, ". \"'") {
		return `"` + k + `"`
	}
	return k
}
