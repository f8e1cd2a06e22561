// `jj new`, as jj 0.45.1 has it, and the places --onto, --insert-after and --insert-before, which every command that
// puts commits somewhere reads in the same way.

package jj

import (
	"context"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

func newCommand() *command {
	return &command{
		name:   "new",
		groups: []group{{id: "revisions", multiple: true}},
		opts: []opt{
			{id: "pos", pos: true, many: true, value: "REVSETS", group: "revisions"},
			{id: "opt", short: "o", alias: []string{"d", "r"}, value: "REVSETS", many: true, group: "revisions", hidden: true},
			{id: "message", long: "message", short: "m", value: "MESSAGE", many: true},
			{id: "no-edit", long: "no-edit", conflicts: []string{"edit"}},
			{id: "edit", long: "edit", hidden: true, conflicts: []string{"no-edit"}},
			{id: "insert-after", long: "insert-after", short: "A", alias: []string{"after"}, value: "REVSETS", many: true,
				conflicts: []string{"revisions"}},
			{id: "insert-before", long: "insert-before", short: "B", alias: []string{"before"}, value: "REVSETS", many: true,
				conflicts: []string{"revisions"}},
		},
		run: runNew,
	}
}

func runNew(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	dest := p.inOrder("pos", "opt")
	if dest == nil && !p.has("insert-after") && !p.has("insert-before") {
		dest = []string{"@"}
	}
	parents, children, err := w.revs.location(ctx, dest, p.all("insert-after"), p.all("insert-before"), "new commit")
	if err != nil {
		return err
	}
	parentCommits, err := w.commits(ctx, parents)
	if err != nil {
		return err
	}
	var advance []advanceable
	if dest != nil && len(parents) == 1 {
		if advance, err = w.advanceable(parentCommits[0].Parents); err != nil {
			return err
		}
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	tree, err := repo.ParentsTree(ctx, t.Store, t.Index, parentCommits)
	if err != nil {
		return err
	}
	d := t.NewCommit(parents, tree)
	if p.has("message") {
		d.Description = joinParagraphs(p.all("message"))
	} else if d.Description, err = t.describedBy(ctx, "templates.new_description", d); err != nil {
		return err
	}
	if d.Description != "" {
		if d.Description, err = t.withTrailers(ctx, d); err != nil {
			return err
		}
	}
	c, err := t.Write(ctx, d)
	if err != nil {
		return err
	}
	n, err := t.insertBetween(ctx, c, parents, children)
	if err != nil {
		return err
	}
	if p.has("no-edit") {
		o := w.ui.newText()
		o.Str("Created new commit ")
		if err := t.summary(ctx, o, c); err != nil {
			return err
		}
		o.Str("\n")
		w.ui.status(o)
	} else if err := t.Edit(ctx, w.name, c); err != nil {
		return err
	}
	if n > 0 {
		w.ui.statusf("Rebased %d descendant commits.\n", n)
	}
	if err := t.advance(ctx, advance, c.Parents[0]); err != nil {
		return err
	}
	return t.finish(ctx, "new empty commit")
}

// insertBetween moves children that stood on parents onto a new commit.
func (t *tx) insertBetween(ctx context.Context, c *repo.Commit, parents, children []repo.CommitID) (int, error) {
	n := 0
	for _, id := range children {
		child, err := t.Store.Commit(ctx, id)
		if err != nil {
			return 0, err
		}
		var now []repo.CommitID
		add := func(id repo.CommitID) {
			if !slices.Contains(now, id) {
				now = append(now, id)
			}
		}
		for _, q := range child.Parents {
			if slices.Contains(parents, q) {
				add(c.ID)
			} else {
				add(q)
			}
		}
		add(c.ID)
		if _, err := t.NewMove(child, now).Rebase(ctx, repo.RebaseOptions{}); err != nil {
			return 0, err
		}
		n++
	}
	m, err := t.RebaseDescendants(ctx, repo.RebaseOptions{})
	return n + m, err
}

// location finds where a new commit goes: on which parents, below which
// children.
func (rs *revisions) location(ctx context.Context, dest, after, before []string, what string) (
	parents, children []repo.CommitID, err error) {
	resolve := func(texts []string) ([]repo.CommitID, error) {
		cs, err := rs.evalOrdered(ctx, texts)
		var out []repo.CommitID
		for _, c := range cs {
			out = append(out, c.ID)
		}
		return out, err
	}
	d, err := resolve(dest)
	if err != nil {
		return nil, nil, err
	}
	a, err := resolve(after)
	if err != nil {
		return nil, nil, err
	}
	b, err := resolve(before)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case dest != nil:
		parents = d
	case after != nil && before != nil:
		parents, children = a, b
	case after != nil:
		parents = a
		if children, err = rs.revRepo(ctx, rs.repo, nil).IDs(ctx, revset.Children(revset.Commits(a...))); err != nil {
			return nil, nil, err
		}
	default:
		children = b
		cs, err := rs.commits(ctx, b)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range cs {
			for _, q := range c.Parents {
				if !slices.Contains(parents, q) {
					parents = append(parents, q)
				}
			}
		}
	}
	if len(children) > 0 {
		if err := rs.checkRewritable(ctx, children...); err != nil {
			return nil, nil, err
		}
		if err := rs.noLoop(ctx, children, parents, what); err != nil {
			return nil, nil, err
		}
	}
	if len(parents) == 0 {
		return nil, nil, userf("No revisions found to use as parent")
	}
	return parents, children, nil
}

// noLoop refuses children that are ancestors of the parents.
func (rs *revisions) noLoop(ctx context.Context, children, parents []repo.CommitID, what string) error {
	bad, err := rs.revRepo(ctx, rs.repo, nil).IDs(ctx, revset.DagRange(revset.Commits(children...), revset.Commits(parents...)))
	if err != nil || len(bad) == 0 {
		return err
	}
	return userf("Refusing to create a loop: commit %s would be both an ancestor and a descendant of the %s", bad[0].Hex()[:12], what)
}
