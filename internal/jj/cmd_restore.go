// `jj restore`, as jj 0.45.1 has it: content of paths comes from another commit; with --changes-in what a commit changed
// is undone.

package jj

import (
	"context"
	"strings"

	"tandem/internal/repo"
)

func restoreCommand() *command {
	return &command{
		name: "restore",
		opts: []opt{
			{id: "pos", pos: true, many: true, value: "FILESETS"},
			{id: "from", long: "from", short: "f", value: "REVSET"},
			{id: "into", long: "into", short: "t", alias: []string{"to"}, value: "REVSET"},
			{id: "changes-in", long: "changes-in", short: "c", value: "REVSET", conflicts: []string{"into", "from"}},
			{id: "revision", long: "revision", short: "r", value: "REVISION", hidden: true},
			{id: "interactive", long: "interactive", short: "i"},
			{id: "tool", long: "tool", value: "NAME"},
			{id: "restore-descendants", long: "restore-descendants"},
		},
		run: runRestore,
	}
}

func runRestore(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	if p.has("revision") {
		return userf("`jj restore` does not have a `--revision`/`-r` option.").
			hinted("To modify the current revision, use `--from`.").
			hinted("To undo changes in a revision compared to its parents, use `--changes-in`.")
	}
	at := func(id string) (*repo.Commit, error) {
		if s, ok := p.get(id); ok {
			return w.revs.single(ctx, s)
		}
		return w.revs.single(ctx, "@")
	}
	var to *repo.Commit
	var from []*repo.Commit
	var tree repo.MergedTree
	if p.has("from") || p.has("into") {
		if to, err = at("into"); err != nil {
			return err
		}
		f, err := at("from")
		if err != nil {
			return err
		}
		from, tree = []*repo.Commit{f}, f.Tree
	} else {
		if to, err = at("changes-in"); err != nil {
			return err
		}
		if tree, err = repo.ParentTree(ctx, w.store, w.repo.Index, to); err != nil {
			return err
		}
		if from, err = w.commits(ctx, to.Parents); err != nil {
			return err
		}
	}
	if err := w.revs.checkRewritable(ctx, to.ID); err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	sel, err := w.tools.selector(p.str("tool"), p.has("interactive"))
	if err != nil {
		return err
	}
	now, err := sel.choose(ctx, repo.Labelled{Tree: to.Tree, Label: to.ConflictLabel()},
		repo.Labelled{Tree: tree, Label: repo.ConflictLabelFor(from)}, set, func() (string, error) {
			var lines []string
			for _, c := range from {
				s, err := w.print.summaryText(ctx, c)
				if err != nil {
					return "", err
				}
				lines = append(lines, s)
			}
			s, err := w.print.summaryText(ctx, to)
			return "You are restoring changes from: " + strings.Join(lines, "\n                                ") + "\nto commit: " + s + "\n\n" +
				"The diff initially shows all changes restored. Adjust the right side until it\n" +
				"shows the contents you want for the destination commit.\n", err
		})
	if err != nil {
		return err
	}
	if err := w.warnUnmatched(ctx, set, to.Tree, tree); err != nil {
		return err
	}
	if now.SameIDs(to.Tree) {
		w.ui.statusf("Nothing changed.\n")
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	return t.rewriteTree(ctx, to, now, p.has("restore-descendants"), "restore into commit "+to.ID.Hex())
}

// rewriteTree gives a commit other content and finishes.
func (t *tx) rewriteTree(ctx context.Context, c *repo.Commit, tree repo.MergedTree, keep bool, title string) error {
	d, err := t.Rewrite(ctx, c)
	if err != nil {
		return err
	}
	d.Tree = tree
	if _, err := t.Write(ctx, d); err != nil {
		return err
	}
	n, how := 0, ""
	if keep {
		n, err = t.ReparentDescendants(ctx)
		how = " (while preserving their content)"
	} else {
		n, err = t.RebaseDescendants(ctx, repo.RebaseOptions{})
	}
	if err != nil {
		return err
	}
	if n > 0 {
		t.w.ui.statusf("Rebased %d descendant commits%s.\n", n, how)
	}
	return t.finish(ctx, title)
}
