// `jj bookmark create`, `set` and the group they stand in, as jj 0.45.1 has them: a new bookmark follows the remotes whose
// `remotes.NAME.auto-track-created-bookmarks` takes its name.

package jj

import (
	"context"
	"fmt"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

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
		name: "bookmark",
		subs: []*command{
			{name: "advance", alias: []string{"a"}, opts: []opt{optional, {id: "to", long: "to", short: "t", value: "REVSET"}},
				run: runBookmarkAdvance},
			{name: "create", alias: []string{"c"}, opts: []opt{rev, checked}, run: runBookmarkCreate},
			{name: "delete", alias: []string{"d"}, opts: []opt{names}, run: runBookmarkDelete},
			{name: "forget", alias: []string{"f"}, opts: []opt{{id: "include-remotes", long: "include-remotes"}, names}, run: runBookmarkForget},
			{name: "list", alias: []string{"l"}, opts: []opt{
				{id: "all-remotes", long: "all-remotes", short: "a", alias: []string{"all"}},
				{id: "remote", long: "remote", value: "REMOTE", many: true, conflicts: []string{"all-remotes"}},
				{id: "tracked", long: "tracked", short: "t", conflicts: []string{"all-remotes"}},
				{id: "conflicted", long: "conflicted", short: "c", conflicts: []string{"all-remotes"}},
				optional,
				{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
				{id: "template", long: "template", short: "T", value: "TEMPLATE"},
				{id: "sort", long: "sort", value: "SORT_KEY", many: true, comma: true, values: sortChoices()},
			}, run: runBookmarkList},
			{name: "move", alias: []string{"m"}, groups: []group{{id: "source", required: true, multiple: true}}, opts: []opt{
				{id: "names", pos: true, many: true, value: "NAMES", group: "source"},
				{id: "from", long: "from", short: "f", value: "REVSETS", many: true, group: "source"},
				{id: "to", long: "to", short: "t", value: "REVSET"}, back,
			}, run: runBookmarkMove},
			{name: "rename", alias: []string{"r"}, opts: []opt{
				{id: "old", pos: true, value: "OLD", required: true, check: checkBookmarkName},
				{id: "new", pos: true, value: "NEW", required: true, check: checkBookmarkName},
				{id: "overwrite-existing", long: "overwrite-existing"},
			}, run: runBookmarkRename},
			{name: "set", alias: []string{"s"}, opts: []opt{rev, back, checked}, run: runBookmarkSet},
			{name: "track", alias: []string{"t"}, opts: []opt{tracked, remote}, run: bookmarkKind.runTrack},
			{name: "untrack", opts: []opt{tracked, remote}, run: bookmarkKind.runTrack},
		},
	}
}

func (p *parsed) or(id, def string) string {
	if v, ok := p.get(id); ok {
		return v
	}
	return def
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

func (st *state) warnEmpty(ctx context.Context, c *repo.Commit) error {
	if c.Description != "" {
		return nil
	}
	empty, err := repo.IsEmpty(ctx, st.store, st.repo.Index, c)
	if err == nil && empty {
		st.ui.warnf("Target revision is empty.")
	}
	return err
}

// saySummary writes a status line that ends in a commit.
func (t *tx) saySummary(ctx context.Context, title string, c *repo.Commit) error {
	o := t.w.ui.newText()
	o.Str(title)
	if err := t.summary(ctx, o, c); err != nil {
		return err
	}
	o.Str("\n")
	t.w.ui.status(o)
	return nil
}

func runBookmarkCreate(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
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
		if err := t.autoTrack(ctx, n); err != nil {
			return err
		}
	}
	if err := t.saySummary(ctx, fmt.Sprintf("Created %d bookmarks pointing to ", len(names)), c); err != nil {
		return err
	}
	return t.finish(ctx, fmt.Sprintf("create bookmark %s pointing to commit %s", symbols(names), c.ID.Hex()))
}

// autoTrack follows a new bookmark on the remotes whose settings say so.
func (t *tx) autoTrack(ctx context.Context, name string) error {
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
		if err := t.TrackBookmark(ctx, remote, name); err != nil {
			return err
		}
	}
	return nil
}

func runBookmarkSet(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
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
		if fresh[n] {
			if err := t.autoTrack(ctx, n); err != nil {
				return err
			}
		}
	}
	if len(fresh) > 0 {
		if err := t.saySummary(ctx, fmt.Sprintf("Created %d bookmarks pointing to ", len(fresh)), c); err != nil {
			return err
		}
	}
	if moved > 0 {
		if err := t.saySummary(ctx, fmt.Sprintf("Moved %d bookmarks to ", moved), c); err != nil {
			return err
		}
	}
	return t.finish(ctx, fmt.Sprintf("point bookmark %s to commit %s", symbols(names), c.ID.Hex()))
}
