// Conflicts that came or went with an operation, as jj 0.45.1 reports them after each command.

package jj

import (
	"context"
	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/text"
)

// report tells about conflicts that came or went.
func (pr *printer) report(ctx context.Context, old *repo.Repo) error {
	if pr.ui.quiet {
		return nil
	}
	_, was := old.View.Workspaces[pr.name]
	if _, is := pr.repo.View.Workspaces[pr.name]; was && !is {
		pr.ui.warnf("The current workspace '%s' no longer exists after this operation. The working copy was left untouched.",
			revset.FormatSymbol(pr.name))
		pr.ui.hintf("Restore to an operation that contains the workspace (e.g. `jj undo` or `jj redo`).")
	}
	rr := pr.revs.revRepo(ctx, pr.repo, nil)
	conflicted := func(from, to *repo.Repo) ([]*repo.Commit, error) {
		x := revset.And(revset.Range(revset.Commits(from.View.HeadIDs()...), revset.Commits(to.View.HeadIDs()...)),
			revset.And(revset.WithConflicts(), revset.WithFiles(fileset.All())))
		ids, err := rr.IDs(ctx, x)
		if err != nil {
			return nil, err
		}
		var out []*repo.Commit
		for _, id := range ids {
			c, err := pr.store.Commit(ctx, id)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
		return out, nil
	}
	removed, err := conflicted(pr.repo, old)
	if err != nil {
		return err
	}
	added, err := conflicted(old, pr.repo)
	if err != nil {
		return err
	}
	inChanges := func(cs, others []*repo.Commit) (out []*repo.Commit) {
		for _, c := range cs {
			found := false
			for _, o := range others {
				found = found || o.ChangeID == c.ChangeID
			}
			if !found {
				out = append(out, c)
			}
		}
		return groupByChange(out)
	}
	resolved, fresh := inChanges(removed, added), inChanges(added, removed)
	if len(resolved) > 0 {
		pr.ui.statusf("Existing conflicts were resolved or abandoned from %d commits.\n", len(resolved))
	}
	if len(fresh) > 0 {
		t := pr.ui.newText()
		t.Printf("New conflicts appeared in %d commits:\n", len(fresh))
		if err := pr.commitList(ctx, t, fresh); err != nil {
			return err
		}
		pr.ui.status(t)
	}
	if len(added) == 0 || len(resolved) == 0 && len(fresh) == 0 {
		return nil
	}
	if len(fresh) == 0 {
		pr.ui.statusf("There are still unresolved conflicts in rebased descendants.\n")
	}
	var ids []repo.CommitID
	for _, c := range added {
		ids = append(ids, c.ID)
	}
	return pr.conflictHint(ctx, ids)
}

// groupByChange puts commits of one change together, in order of the first.
func groupByChange(cs []*repo.Commit) []*repo.Commit {
	var out []*repo.Commit
	done := map[repo.ChangeID]bool{}
	for _, c := range cs {
		if done[c.ChangeID] {
			continue
		}
		done[c.ChangeID] = true
		for _, d := range cs {
			if d.ChangeID == c.ChangeID {
				out = append(out, d)
			}
		}
	}
	return out
}

// conflictHint says how to begin resolving.
func (pr *printer) conflictHint(ctx context.Context, ids []repo.CommitID) error {
	t, err := pr.conflictHintText(ctx, ids)
	if err == nil && t != nil {
		pr.ui.status(t)
	}
	return err
}

func (pr *printer) conflictHintText(ctx context.Context, ids []repo.CommitID) (*text.Text, error) {
	on, err := pr.conf.Bool("hints.resolving-conflicts")
	if err != nil || !on || len(ids) == 0 {
		return nil, err
	}
	roots, err := pr.revs.revRepo(ctx, pr.repo, nil).IDs(ctx, revset.Roots(revset.Commits(ids...)))
	if err != nil {
		return nil, err
	}
	which := "one of the first conflicted commits"
	switch {
	case len(ids) == 1:
		which = "the conflicted commit"
	case len(roots) == 1:
		which = "the first conflicted commit"
	}
	l, err := pr.language(ctx)
	if err != nil {
		return nil, err
	}
	short, err := pr.template(l, "format_short_change_id_with_change_offset(self)", l.Commit)
	if err != nil {
		return nil, err
	}
	t := pr.ui.newText()
	t.Push("hint")
	t.Label("heading", "Hint: ")
	t.Printf("To resolve the conflicts, start by creating a commit on top of\n%s:\n", which)
	for _, id := range roots {
		c, err := pr.store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		t.Str("  jj new ")
		if err := short.Render(t, c); err != nil {
			return nil, err
		}
		t.Str("\n")
	}
	t.Str("Then use `jj resolve`, or edit the conflict markers in the file directly.\n" +
		"Once the conflicts are resolved, you can inspect the result with `jj diff`.\n" +
		"Then run `jj squash` to move the resolution into the conflicted commit.\n")
	t.Pop()
	return t, nil
}

// commitList writes indented summaries, at most ten.
func (pr *printer) commitList(ctx context.Context, t *text.Text, cs []*repo.Commit) error {
	l, err := pr.language(ctx)
	if err != nil {
		return err
	}
	return pr.commitListWith(l, t, cs)
}

func (pr *printer) commitListWith(l *render.Lang, t *text.Text, cs []*repo.Commit) error {
	const most = 10
	for i, c := range cs {
		if i == most {
			t.Str("  ...\n")
			break
		}
		t.Str("  ")
		if err := pr.summaryWith(l, t, c); err != nil {
			return err
		}
		t.Str("\n")
	}
	return nil
}
