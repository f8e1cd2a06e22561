// `jj tag delete`, `list`, `set`, `track` and `untrack`, as jj 0.45.1 has them: bookmarks and tags share most of it, see
// refkind.go.

package jj

import (
	"context"
	"fmt"

	"tandem/internal/repo"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

func tagCommand() *command {
	names := opt{id: "names", pos: true, many: true, required: true, value: "NAMES"}
	checked := names
	checked.check = func(s string) error { return checkRefName("tag", s) }
	remote := []opt{
		{id: "names", pos: true, many: true, required: true, value: "TAG[@REMOTE]"},
		{id: "remote", long: "remote", value: "REMOTE", many: true},
	}
	optional := names
	optional.required = false
	return &command{
		name: "tag",
		subs: []*command{
			{name: "delete", alias: []string{"d"}, opts: []opt{names}, run: runTagDelete},
			{name: "list", alias: []string{"l"}, opts: []opt{
				{id: "all-remotes", long: "all-remotes", short: "a", alias: []string{"all"}},
				{id: "remote", long: "remote", value: "REMOTE", many: true, conflicts: []string{"all-remotes"}},
				{id: "tracked", long: "tracked", short: "t", conflicts: []string{"all-remotes"}},
				{id: "conflicted", long: "conflicted", short: "c", conflicts: []string{"all-remotes"}},
				optional,
				{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
				{id: "template", long: "template", short: "T", value: "TEMPLATE"},
				{id: "sort", long: "sort", value: "SORT_KEY", many: true, comma: true, values: sortChoices()},
			}, run: runTagList},
			{name: "set", alias: []string{"s"}, opts: []opt{
				{id: "revision", long: "revision", short: "r", alias: []string{"to"}, value: "REVSET"},
				{id: "allow-move", long: "allow-move"}, checked,
			}, run: runTagSet},
			{name: "track", opts: remote, run: tagKind.runTrack},
			{name: "untrack", opts: remote, run: tagKind.runTrack},
		},
	}
}

func runTagSet(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
	if err != nil {
		return err
	}
	names := refNames(p.all("names"))
	fresh, moved := 0, 0
	for _, n := range names {
		old := w.repo.View.Tag(n)
		if !repo.IsAbsentTarget(old) && !p.has("allow-move") {
			return userf("Refusing to move tag: %s", revset.FormatSymbol(n)).hinted("Use --allow-move to update existing tags.")
		}
		if repo.IsAbsentTarget(old) {
			fresh++
		} else if !old.Equal(repo.Target(c.ID)) {
			moved++
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
		t.View.SetTag(n, repo.Target(c.ID))
	}
	if fresh > 0 {
		if err := t.saySummary(ctx, fmt.Sprintf("Created %d tags pointing to ", fresh), c); err != nil {
			return err
		}
	}
	if moved > 0 {
		if err := t.saySummary(ctx, fmt.Sprintf("Moved %d tags to ", moved), c); err != nil {
			return err
		}
	}
	return t.finish(ctx, fmt.Sprintf("set tag %s to commit %s", symbols(names), c.ID.Hex()))
}

func runTagDelete(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	x, err := namePatterns(p.all("names"))
	if err != nil {
		return err
	}
	names := matching(w.repo.View.Tags, x)
	w.warnUnknownRefs(tagKind, x, false)
	if len(names) == 0 {
		w.ui.statusf("No tags to delete.\n")
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	for _, n := range names {
		t.View.SetTag(n, repo.NoTarget())
	}
	w.ui.statusf("Deleted %d tags.\n", len(names))
	return t.finish(ctx, "delete tag "+symbols(names))
}

func runTagList(ctx context.Context, e *env, p *parsed) error {
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
	r, err := w.print.templateOpt(l, p, "tag_list", l.Ref)
	if err != nil {
		return err
	}
	items := f.collect(render.Refs(w.repo.View, true))
	if err := w.sortRefs(ctx, items, p, "tag-list-sort-keys"); err != nil {
		return err
	}
	w.ui.page(ctx)
	o := w.ui.newText()
	o.Push("tag_list")
	for _, it := range items {
		for _, ref := range append([]*render.Ref{it.primary}, it.tracked...) {
			if err := r.Render(o, ref); err != nil {
				return err
			}
		}
	}
	o.Pop()
	if err := w.ui.print(o); err != nil {
		return err
	}
	w.warnUnknownRefs(tagKind, f.name, false)
	return nil
}
