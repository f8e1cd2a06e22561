// `jj diffedit`, as jj 0.45.1 has it: what the editor leaves on the right side becomes the commit's content.

package jj

import (
	"context"
	"tandem/internal/repo"
)

func diffeditCommand() *command {
	return &command{
		name: "diffedit",
		opts: []opt{
			{id: "revision", long: "revision", short: "r", value: "REVSET"},
			{id: "from", long: "from", short: "f", value: "REVSET", conflicts: []string{"revision"}},
			{id: "to", long: "to", short: "t", value: "REVSET", conflicts: []string{"revision"}},
			{id: "pos", pos: true, many: true, value: "FILESETS"},
			{id: "tool", long: "tool", value: "NAME"},
			{id: "restore-descendants", long: "restore-descendants"},
		},
		run: runDiffedit,
	}
}

func runDiffedit(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	var target *repo.Commit
	var bases []*repo.Commit
	about := "The diff initially shows the commit's changes."
	if p.has("from") || p.has("to") {
		if target, err = w.revs.single(ctx, p.or("to", "@")); err != nil {
			return err
		}
		base, err := w.revs.single(ctx, p.or("from", "@"))
		if err != nil {
			return err
		}
		bases = []*repo.Commit{base}
		s, err := w.print.summaryText(ctx, base)
		if err != nil {
			return err
		}
		about = "The diff initially shows the commit's changes relative to:\n" + s
	} else {
		if target, err = w.revs.single(ctx, p.or("revision", "@")); err != nil {
			return err
		}
		if bases, err = w.commits(ctx, target.Parents); err != nil {
			return err
		}
	}
	if err := w.revs.checkRewritable(ctx, target.ID); err != nil {
		return err
	}
	d, err := w.tools.diffEditor(p.str("tool"))
	if err != nil {
		return err
	}
	base, err := repo.ParentsTree(ctx, w.store, w.repo.Index, bases)
	if err != nil {
		return err
	}
	s, err := w.print.summaryText(ctx, target)
	if err != nil {
		return err
	}
	tree, err := d.edit(ctx, base, target.Tree, set, "You are editing changes in: "+s+"\n\n"+about+
		"\n\nAdjust the right side until it shows the contents you want. If you\ndon't make any changes, then the operation will be aborted.")
	if err != nil {
		return err
	}
	if tree.SameIDs(target.Tree) {
		w.ui.statusf("Nothing changed.\n")
	} else {
		t, err := w.begin()
		if err != nil {
			return err
		}
		if err := t.rewriteTree(ctx, target, tree, p.has("restore-descendants"), "edit commit "+target.ID.Hex()); err != nil {
			return err
		}
	}
	return w.warnUnmatched(ctx, set, base, target.Tree)
}
