// `jj commit`, as jj 0.45.1 has it: the chosen part is described, and the rest stays in a new working-copy commit. The
// words and the order of editor and diff editor are stock jj's, because scripts drive both.

package jj

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/repo"
)

func commitCommand() *command {
	return &command{
		name: "commit",
		opts: []opt{
			{id: "interactive", long: "interactive", short: "i"},
			{id: "tool", long: "tool", value: "NAME"},
			{id: "message", long: "message", short: "m", value: "MESSAGE", many: true},
			{id: "editor", long: "editor"},
			{id: "pos", pos: true, many: true, value: "FILESETS"},
		},
		run: runCommit,
	}
}

func runCommit(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.wcCommit(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return userf("This command requires a working copy")
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	advance, err := w.advanceable(c.Parents)
	if err != nil {
		return err
	}
	sel, err := w.tools.selector(p.str("tool"), p.has("interactive"))
	if err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	base, err := repo.ParentTree(ctx, t.Store, t.Index, c)
	if err != nil {
		return err
	}
	tree, err := sel.chooseOf(ctx, c, base, set, func() (string, error) {
		s, err := w.print.summaryText(ctx, c)
		return "You are splitting the working-copy commit: " + s + "\n\n" +
			"The diff initially shows all changes. Adjust the right side until it shows the\n" +
			"contents you want for the first commit. The remainder will be included in the\n" +
			"new working-copy commit.\n", err
	})
	if err != nil {
		return err
	}
	if p.has("pos") && tree.SameIDs(base) {
		w.ui.warnf("The given paths do not match any file: %s", strings.Join(p.all("pos"), " "))
	}
	d, err := t.Rewrite(ctx, c)
	if err != nil {
		return err
	}
	d.Tree = tree
	edit := !p.has("message") || p.has("editor")
	if p.has("message") {
		d.Description = joinParagraphs(p.all("message"))
	}
	if d.Description != "" || edit {
		if d.Description, err = t.withTrailers(ctx, d); err != nil {
			return err
		}
	}
	if edit {
		s, err := t.descriptionText(ctx, "", d)
		if err != nil {
			return err
		}
		if d.Description, err = w.editDescription(ctx, s); err != nil {
			return err
		}
		if d.Description == "" {
			w.ui.hintf("The commit message was left empty.\nIf this was not intentional, run `jj undo` to restore the previous state.\n" +
				"Or run `jj desc @-` to add a description to the parent commit.")
		}
	}
	made, err := t.Write(ctx, d)
	if err != nil {
		return err
	}
	var names []string
	for name, id := range t.View.Workspaces {
		if id == c.ID {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > 0 {
		fresh, err := t.Write(ctx, t.NewCommit([]repo.CommitID{made.ID}, c.Tree))
		if err != nil {
			return err
		}
		if err := t.advance(ctx, advance, made.ID); err != nil {
			return err
		}
		for _, name := range names {
			if err := t.Edit(ctx, name, fresh); err != nil {
				return err
			}
		}
	}
	return t.finish(ctx, fmt.Sprintf("commit %s", c.ID.Hex()))
}
