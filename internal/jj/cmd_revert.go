// `jj revert`, as jj 0.45.1 has it: the inverse of commits at a chosen place, described by
// `templates.revert_description`.

package jj

import (
	"context"
	"fmt"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
)

func revertCommand() *command {
	opts := []opt{{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true, required: true}}
	return &command{
		name:   "revert",
		groups: []group{{id: "location", required: true, multiple: true}},
		opts:   append(opts, destinationOpts("location")...),
		run:    runRevert,
	}
}

func runRevert(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	cs, err := w.revs.evalCommits(ctx, p.all("revisions")...)
	if err != nil {
		return err
	}
	if len(cs) == 0 {
		w.ui.statusf("No revisions to revert.\n")
		return nil
	}
	parents, children, err := w.revs.location(ctx, p.all("onto"), p.all("insert-after"), p.all("insert-before"), "reverted commits")
	if err != nil {
		return err
	}
	var ids []repo.CommitID
	for _, c := range cs {
		ids = append(ids, c.ID)
	}
	texts, err := w.print.templated(ctx, "templates.revert_description", ids)
	if err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	pcs, err := w.commits(ctx, parents)
	if err != nil {
		return err
	}
	base, err := repo.ParentsTree(ctx, t.Store, t.Index, pcs)
	if err != nil {
		return err
	}
	on, label := parents, repo.ConflictLabelFor(pcs)
	var made []*repo.Commit
	for _, c := range cs {
		old, err := repo.ParentTree(ctx, t.Store, t.Index, c)
		if err != nil {
			return err
		}
		oldLabel, err := render.ParentsLabel(ctx, t.Store, c)
		if err != nil {
			return err
		}
		if base, err = repo.MergeMergedTrees(ctx, t.Store,
			repo.Labelled{Tree: base, Label: label + " (revert destination)"},
			repo.Labelled{Tree: c.Tree, Label: c.ConflictLabel() + " (reverted revision)"},
			repo.Labelled{Tree: old, Label: oldLabel + " (parents of reverted revision)"}); err != nil {
			return err
		}
		d := t.NewCommit(on, base)
		d.Description = texts[c.ID]
		n, err := t.Write(ctx, d)
		if err != nil {
			return err
		}
		made = append(made, n)
		on, label = []repo.CommitID{n.ID}, n.ConflictLabel()
	}
	rebased, err := t.adopt(ctx, parents, children, on)
	if err != nil {
		return err
	}
	o := w.ui.newText()
	o.Printf("Reverted %d commits as follows:\n", len(made))
	l, err := w.print.newLang(ctx, t.now())
	if err != nil {
		return err
	}
	if err := w.print.commitListWith(l, o, made); err != nil {
		return err
	}
	if rebased > 0 {
		o.Printf("Rebased %d descendant commits.\n", rebased)
	}
	w.ui.status(o)
	title := "revert commit " + ids[0].Hex()
	if len(ids) > 1 {
		title += fmt.Sprintf(" and %d more", len(ids)-1)
	}
	return t.finish(ctx, title)
}
