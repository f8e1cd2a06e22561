package jj

import (
	"bytes"
	"fmt"

	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/text"
	"tandem/internal/repo/workcopy"
)

// tx is a transaction of a command.
type tx struct {
	*repo.Tx
	w    *wsEnv
	lang *render.Lang
}

func (w *wsEnv) begin() (*tx, error) {
	who, err := w.identity()
	if err != nil {
		return nil, err
	}
	t := &tx{Tx: w.repo.Begin(who), w: w}
	if rec, err := w.conf.Bool("experimental.record-predecessors-in-commit"); err != nil {
		return nil, err
	} else if !rec {
		t.Anonymous = true
	}
	if w.fresh {
		return t, nil
	}
	t.SetWorkspace(w.name)
	t.SetAttribute("args", w.commandLine())
	for key, value := range w.io.Attributes {
		t.SetAttribute(key, value)
	}
	return t, nil
}

// now is the repository as the transaction has it so far.
func (t *tx) now() *repo.Repo {
	return &repo.Repo{Store: t.Store, Operation: t.Base().Operation, View: t.View, Index: t.Index}
}

// summary writes a commit's one line as of the transaction.
func (t *tx) summary(o *text.Text, c *repo.Commit) error {
	l, err := t.w.newLang(t.now())
	if err != nil {
		return err
	}
	return t.w.summaryWith(l, o, c)
}

// finish rebases what follows, publishes, updates the files and reports.
func (t *tx) finish(description string) error {
	return t.finishWith(description, repo.RebaseOptions{})
}

func (t *tx) finishWith(description string, o repo.RebaseOptions) error {
	if !t.HasChanges() {
		t.w.ui.statusf("Nothing changed.\n")
		return nil
	}
	n, err := t.RebaseDescendants(o)
	if err != nil {
		return err
	}
	if n > 0 {
		t.w.ui.statusf("Rebased %d descendant commits.\n", n)
	}
	return t.conclude(description)
}

// conclude is finish for a transaction whose descendants are rebased.
func (t *tx) conclude(description string) error {
	w := t.w
	old := w.repo
	oldWC, err := w.wcCommit()
	if err != nil {
		return err
	}
	if err := t.keepMutable(); err != nil {
		return err
	}
	if err := t.admit(); err != nil {
		return err
	}
	if w.colocated() && !w.global.noIntegrate {
		return w.withGit(func() error {
			if err := t.exportGit(); err != nil {
				return err
			}
			return t.publishAndReport(description, old, oldWC)
		})
	}
	return t.publishAndReport(description, old, oldWC)
}

// admit asks whether the files may become those that the transaction has for
// the workspace.
func (t *tx) admit() error {
	w := t.w
	id, ok := t.View.Workspaces[w.name]
	if w.io.Admit == nil || !ok || w.atOp || w.global.noIntegrate || w.global.ignoreWorkingCopy {
		return nil
	}
	c, err := t.Store.Commit(id)
	if err != nil {
		return err
	}
	return w.io.admit(t.Store, w.name, w.wc.Tree(), c)
}

func (t *tx) publishAndReport(description string, old *repo.Repo, oldWC *repo.Commit) error {
	w := t.w
	if err := w.publish(t, description); err != nil {
		return err
	}
	newWC, err := w.wcCommit()
	if err != nil {
		return err
	}
	if !w.atOp && newWC != nil && !w.global.noIntegrate {
		if err := w.updateFiles(oldWC, newWC); err != nil {
			return err
		}
	}
	if err := w.report(old); err != nil {
		return err
	}
	if w.global.noIntegrate {
		w.ui.statusf("Operation left uncommitted because --no-integrate-operation was requested: %s\n", w.repo.Operation.ID.Hex()[:12])
	}
	w.warnIdentity()
	return nil
}

// keepMutable puts a new commit on a working-copy commit that has become
// immutable.
func (t *tx) keepMutable() error {
	w := t.w
	id, ok := t.View.Workspaces[w.name]
	if !ok {
		return nil
	}
	x, err := w.immutableExpr()
	if err != nil {
		return nil // said when something is rewritten
	}
	ids, err := w.revRepo(t.now(), nil).IDs(revset.And(x, revset.Commits(id)))
	if err != nil || len(ids) == 0 {
		return nil
	}
	c, err := t.Store.Commit(id)
	if err != nil {
		return err
	}
	fresh, err := t.Write(t.NewCommit([]repo.CommitID{id}, c.Tree))
	if err != nil {
		return err
	}
	t.View.Workspaces[w.name] = fresh.ID
	w.ui.warnf("The working-copy commit became immutable; a new commit has been created on top of it.")
	return nil
}

func (w *wsEnv) warnIdentity() {
	name, email := w.conf.Str("user.name") == "", w.conf.Str("user.email") == ""
	if !name && !email {
		return
	}
	msg := "Email not configured."
	if name && email {
		msg = "Name and email not configured."
	} else if name {
		msg = "Name not configured."
	}
	w.ui.warnf("%s Until configured, your commits will be created with the empty identity, and can't be pushed to remotes.", msg)
	w.ui.hintf("To configure, run:")
	t := w.ui.newText()
	if name {
		t.Label("hint", "  jj config set --user user.name \"Some One\"\n")
	}
	if email {
		t.Label("hint", "  jj config set --user user.email \"someone@example.com\"\n")
	}
	w.ui.status(t)
}

// updateFiles makes the files those of the new working-copy commit and says so.
func (w *wsEnv) updateFiles(old, now *repo.Commit) error {
	locked, err := w.wc.Lock()
	if err != nil {
		return internalf(err, "Failed to access working copy state")
	}
	if locked.Style, err = w.markerStyle(); err != nil {
		locked.Discard()
		return err
	}
	if old != nil && !old.Tree.Equal(w.wc.Tree()) {
		locked.Discard()
		return internalf(fmt.Errorf("Concurrent checkout"), "Failed to check out commit %s", now.ID.Hex())
	}
	stats, err := locked.CheckOut(now.Tree)
	if err != nil {
		locked.Discard()
		return internalf(err, "Failed to check out commit %s", now.ID.Hex())
	}
	if err := locked.Finish(w.repo.Operation.ID); err != nil {
		return err
	}
	return w.reportFiles(old, now, stats)
}

func (w *wsEnv) reportFiles(old, now *repo.Commit, stats workcopy.CheckoutStats) error {
	moved := old == nil || old.ID != now.ID
	if moved {
		t := w.ui.newText()
		t.Str("Working copy  (@) now at: ")
		if err := w.summary(t, now); err != nil {
			return err
		}
		t.Str("\n")
		parents, err := w.commits(now.Parents)
		if err != nil {
			return err
		}
		for _, p := range parents {
			t.Str("Parent commit (@-)      : ")
			if err := w.summary(t, p); err != nil {
				return err
			}
			t.Str("\n")
		}
		w.ui.status(t)
	}
	w.reportStats(stats, now)
	if moved && now.Tree.HasConflict() && !w.ui.quiet {
		w.ui.warnf("There are unresolved conflicts at these paths:")
		t := w.ui.newText()
		if err := w.conflictedPaths(t, now.Tree, repo.Everything{}); err != nil {
			return err
		}
		w.ui.status(t)
	}
	return nil
}

func (w *wsEnv) reportStats(s workcopy.CheckoutStats, c *repo.Commit) {
	if s.Added > 0 || s.Updated > 0 || s.Removed > 0 {
		w.ui.statusf("Added %d files, modified %d files, removed %d files\n", s.Added, s.Updated, s.Removed)
	}
	if s.Skipped > 0 {
		w.ui.warnf("%d of those updates were skipped because there were conflicting changes in the working copy.", s.Skipped)
		id := c.ID.Hex()[:12]
		w.ui.hintf("Inspect the changes compared to the intended target with `jj diff --from %s`.\nDiscard the conflicting changes with `jj restore --from %s`.", id, id)
	}
}

// report tells about conflicts that came or went.
func (w *wsEnv) report(old *repo.Repo) error {
	if w.ui.quiet {
		return nil
	}
	_, was := old.View.Workspaces[w.name]
	if _, is := w.repo.View.Workspaces[w.name]; was && !is {
		w.ui.warnf("The current workspace '%s' no longer exists after this operation. The working copy was left untouched.", revset.FormatSymbol(w.name))
		w.ui.hintf("Restore to an operation that contains the workspace (e.g. `jj undo` or `jj redo`).")
	}
	rr := w.revRepo(w.repo, nil)
	conflicted := func(from, to *repo.Repo) ([]*repo.Commit, error) {
		x := revset.And(revset.Range(revset.Commits(from.View.HeadIDs()...), revset.Commits(to.View.HeadIDs()...)), revset.And(revset.WithConflicts(), revset.WithFiles(fileset.All())))
		ids, err := rr.IDs(x)
		if err != nil {
			return nil, err
		}
		var out []*repo.Commit
		for _, id := range ids {
			c, err := w.store.Commit(id)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
		return out, nil
	}
	removed, err := conflicted(w.repo, old)
	if err != nil {
		return err
	}
	added, err := conflicted(old, w.repo)
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
		w.ui.statusf("Existing conflicts were resolved or abandoned from %d commits.\n", len(resolved))
	}
	if len(fresh) > 0 {
		t := w.ui.newText()
		t.Printf("New conflicts appeared in %d commits:\n", len(fresh))
		if err := w.commitList(t, fresh); err != nil {
			return err
		}
		w.ui.status(t)
	}
	if len(added) == 0 || len(resolved) == 0 && len(fresh) == 0 {
		return nil
	}
	if len(fresh) == 0 {
		w.ui.statusf("There are still unresolved conflicts in rebased descendants.\n")
	}
	var ids []repo.CommitID
	for _, c := range added {
		ids = append(ids, c.ID)
	}
	return w.conflictHint(ids)
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
func (w *wsEnv) conflictHint(ids []repo.CommitID) error {
	t, err := w.conflictHintText(ids)
	if err == nil && t != nil {
		w.ui.status(t)
	}
	return err
}

func (w *wsEnv) conflictHintText(ids []repo.CommitID) (*text.Text, error) {
	on, err := w.conf.Bool("hints.resolving-conflicts")
	if err != nil || !on || len(ids) == 0 {
		return nil, err
	}
	roots, err := w.revRepo(w.repo, nil).IDs(revset.Roots(revset.Commits(ids...)))
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
	l, err := w.language()
	if err != nil {
		return nil, err
	}
	short, err := w.template(l, "format_short_change_id_with_change_offset(self)", l.Commit)
	if err != nil {
		return nil, err
	}
	t := w.ui.newText()
	t.Push("hint")
	t.Label("heading", "Hint: ")
	t.Printf("To resolve the conflicts, start by creating a commit on top of\n%s:\n", which)
	for _, id := range roots {
		c, err := w.store.Commit(id)
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
func (w *wsEnv) commitList(t *text.Text, cs []*repo.Commit) error {
	l, err := w.language()
	if err != nil {
		return err
	}
	return w.commitListWith(l, t, cs)
}

func (w *wsEnv) commitListWith(l *render.Lang, t *text.Text, cs []*repo.Commit) error {
	const most = 10
	for i, c := range cs {
		if i == most {
			t.Str("  ...\n")
			break
		}
		t.Str("  ")
		if err := w.summaryWith(l, t, c); err != nil {
			return err
		}
		t.Str("\n")
	}
	return nil
}

// changedLines gives the lines a commit removes and adds.
func (w *wsEnv) changedLines(r *repo.Repo) func(*repo.Commit, func(repo.Path) bool, func(int, string) bool) error {
	return func(c *repo.Commit, match func(repo.Path) bool, yield func(int, string) bool) error {
		from, err := repo.ParentTree(r.Store, r.Index, c)
		if err != nil {
			return err
		}
		d := &render.Diff{Store: r.Store, From: from, To: c.Tree, Match: matchFunc(match)}
		return d.Lines(func(side int, line []byte) bool {
			return yield(side, string(bytes.TrimSuffix(line, []byte("\n"))))
		})
	}
}
