// `jj rebase`, as jj 0.45.1 has it: -b, -s and -r differ in what comes along; a divergent commit whose change the
// destination has already is left out.

package jj

import (
	"context"
	"fmt"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

// destinationOpts are where rebased or copied commits go.
func destinationOpts(groupID string) []opt {
	return []opt{
		{id: "onto", long: "onto", short: "o", alias: []string{"destination", "d"}, value: "REVSETS", many: true, group: groupID},
		{id: "insert-after", long: "insert-after", short: "A", alias: []string{"after"}, value: "REVSETS", many: true, group: groupID,
			conflicts: []string{"onto"}},
		{id: "insert-before", long: "insert-before", short: "B", alias: []string{"before"}, value: "REVSETS", many: true, group: groupID,
			conflicts: []string{"onto"}},
	}
}

func rebaseCommand() *command {
	opts := []opt{
		{id: "branch", long: "branch", short: "b", value: "REVSETS", many: true, group: "to_rebase"},
		{id: "source", long: "source", short: "s", value: "REVSETS", many: true, group: "to_rebase"},
		{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true, group: "to_rebase"},
	}
	opts = append(opts, destinationOpts("RebaseDestinationArgs")...)
	return &command{
		name:   "rebase",
		groups: []group{{id: "to_rebase"}, {id: "RebaseDestinationArgs", required: true, multiple: true}},
		opts: append(opts,
			opt{id: "skip-emptied", long: "skip-emptied"},
			opt{id: "keep-divergent", long: "keep-divergent"},
			opt{id: "simplify-parents", long: "simplify-parents"}),
		run: runRebase,
	}
}

func runRebase(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	o := repo.RebaseOptions{SimplifyAncestorMerge: p.has("simplify-parents")}
	if p.has("skip-emptied") {
		o.Empty = repo.AbandonNewlyEmpty
	}
	ids, whole, parents, children, err := w.revs.rebasePlan(ctx, p)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		w.ui.statusf("No revisions to rebase.\n")
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	m, err := t.planMove(ctx, ids, whole, parents, children)
	if err != nil {
		return err
	}
	if !p.has("keep-divergent") {
		if err := m.dropPresent(ctx, ids, parents); err != nil {
			return err
		}
	}
	stats, err := m.apply(ctx, o)
	if err != nil {
		return err
	}
	stats.print(w.ui)
	return t.finish(ctx, rebaseTitle(ids, whole))
}

func (s moveStats) print(u *ui) {
	if s.skipped > 0 {
		u.statusf("Skipped rebase of %d commits that were already in place.\n", s.skipped)
	}
	if s.targets > 0 {
		u.statusf("Rebased %d commits to destination.\n", s.targets)
	}
	if s.descendants > 0 {
		u.statusf("Rebased %d descendant commits.\n", s.descendants)
	}
	if s.emptied > 0 {
		u.statusf("Abandoned %d newly emptied commits.\n", s.emptied)
	}
}

func rebaseTitle(ids []repo.CommitID, whole bool) string {
	switch {
	case whole && len(ids) == 1:
		return fmt.Sprintf("rebase commit %s and descendants", ids[0].Hex())
	case whole:
		return fmt.Sprintf("rebase %d commits and their descendants", len(ids))
	case len(ids) == 1:
		return "rebase commit " + ids[0].Hex()
	}
	return fmt.Sprintf("rebase commit %s and %d more", ids[0].Hex(), len(ids)-1)
}

// rebasePlan reads what to move and where.
func (rs *revisions) rebasePlan(ctx context.Context, p *parsed) (
	ids []repo.CommitID, whole bool, parents, children []repo.CommitID, err error) {
	fail := func(err error) ([]repo.CommitID, bool, []repo.CommitID, []repo.CommitID, error) {
		return nil, false, nil, nil, err
	}
	where := func() error {
		parents, children, err = rs.location(ctx, p.all("onto"), p.all("insert-after"), p.all("insert-before"), "rebased commits")
		return err
	}
	ordered := func(texts []string) ([]repo.CommitID, error) {
		cs, err := rs.evalOrdered(ctx, texts)
		var out []repo.CommitID
		for _, c := range cs {
			out = append(out, c.ID)
		}
		return out, err
	}
	switch {
	case p.has("revisions"):
		x, err := rs.compileAll(p.all("revisions"))
		if err != nil {
			return fail(err)
		}
		if ids, err = rs.ids(ctx, x); err != nil {
			return fail(err)
		}
		if err := rs.checkRewritable(ctx, ids...); err != nil {
			return fail(err)
		}
		if err := where(); err != nil {
			return fail(err)
		}
		if p.has("onto") {
			for _, id := range ids {
				if slices.Contains(parents, id) {
					return fail(userf("Cannot rebase %s onto itself", id.Hex()[:12]))
				}
			}
		}
		return ids, false, parents, children, nil
	case p.has("source"):
		if ids, err = ordered(p.all("source")); err != nil {
			return fail(err)
		}
		if err := rs.checkRewritable(ctx, ids...); err != nil {
			return fail(err)
		}
		if err := where(); err != nil {
			return fail(err)
		}
	default:
		texts := p.all("branch")
		var branch []repo.CommitID
		if len(texts) == 0 {
			c, err := rs.single(ctx, "@")
			if err != nil {
				return fail(err)
			}
			branch = []repo.CommitID{c.ID}
		} else if branch, err = ordered(texts); err != nil {
			return fail(err)
		}
		if err := where(); err != nil {
			return fail(err)
		}
		if ids, err = rs.revRepo(ctx, rs.repo, nil).IDs(ctx,
			revset.Roots(revset.Range(revset.Commits(parents...), revset.Commits(branch...)))); err != nil {
			return fail(err)
		}
		if err := rs.checkRewritable(ctx, ids...); err != nil {
			return fail(err)
		}
	}
	if p.has("onto") {
		for _, id := range ids {
			for _, q := range parents {
				if q == id {
					return fail(userf("Cannot rebase %s onto itself", id.Hex()[:12]))
				}
				if rs.repo.Index.IsAncestor(id, q) {
					return fail(userf("Cannot rebase %s onto descendant %s", id.Hex()[:12], q.Hex()[:12]))
				}
			}
		}
	}
	return ids, true, parents, children, nil
}

// dropPresent leaves out divergent commits whose change the destination
// already has.
func (m *move) dropPresent(ctx context.Context, roots, parents []repo.CommitID) error {
	w := m.t.w
	rr := m.t.rev(ctx)
	var above map[repo.CommitID]bool
	var gone []*repo.Commit
	l := &render.Lang{Repo: rr}
	for _, id := range m.targets.list {
		c, err := m.t.Store.Commit(ctx, id)
		if err != nil {
			return err
		}
		others, visible := rr.ChangeTargets(c.ChangeID)
		for i, o := range others {
			if !visible[i] || m.targets.has[o] {
				continue
			}
			if above == nil {
				ids, err := rr.IDs(ctx, revset.Range(revset.Commits(roots...), revset.Commits(parents...)))
				if err != nil {
					return err
				}
				above = map[repo.CommitID]bool{}
				for _, id := range ids {
					above[id] = true
				}
			}
			if !above[o] {
				continue
			}
			oc, err := m.t.Store.Commit(ctx, o)
			if err != nil {
				return err
			}
			tree, err := l.RebasedTree(ctx, []*repo.Commit{c}, oc)
			if err != nil {
				return err
			}
			if tree.SameIDs(oc.Tree) {
				gone = append(gone, c)
				m.abandon[c.ID] = true
				break
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	t := w.ui.newText()
	t.Printf("Abandoned %d divergent commits that were already present in the destination:\n", len(gone))
	if err := w.print.commitList(ctx, t, gone); err != nil {
		return err
	}
	w.ui.status(t)
	return nil
}
