// The end of a command that changes something, as jj 0.45.1 has it: descendants follow, then git, the operation, the
// files, the report.

package jj

import (
	"context"
	"fmt"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/text"
	"tandem/internal/repo/workcopy"
)

// tx is a transaction of a command.
type tx struct {
	*repo.Tx
	w *session
}

func (w *session) begin() (*tx, error) {
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
func (t *tx) summary(ctx context.Context, o *text.Text, c *repo.Commit) error {
	l, err := t.w.print.newLang(ctx, t.now())
	if err != nil {
		return err
	}
	return t.w.print.summaryWith(l, o, c)
}

// finish rebases what follows, publishes, updates the files and reports.
func (t *tx) finish(ctx context.Context, description string) error {
	return t.finishWith(ctx, description, repo.RebaseOptions{})
}

func (t *tx) finishWith(ctx context.Context, description string, o repo.RebaseOptions) error {
	if !t.HasChanges() {
		t.w.ui.statusf("Nothing changed.\n")
		return nil
	}
	n, err := t.RebaseDescendants(ctx, o)
	if err != nil {
		return err
	}
	if n > 0 {
		t.w.ui.statusf("Rebased %d descendant commits.\n", n)
	}
	return t.conclude(ctx, description)
}

// conclude is finish for a transaction whose descendants are rebased.
func (t *tx) conclude(ctx context.Context, description string) error {
	w := t.w
	old := w.repo
	oldWC, err := w.wcCommit(ctx)
	if err != nil {
		return err
	}
	if err := t.keepMutable(ctx); err != nil {
		return err
	}
	if err := t.admit(ctx); err != nil {
		return err
	}
	if w.git.colocated() && !w.global.noIntegrate {
		return w.git.withGit(ctx, func(ctx context.Context) error {
			ctx, err := whole(ctx)
			if err != nil {
				return err
			}
			if err := t.exportGit(ctx); err != nil {
				return err
			}
			return t.publishAndReport(ctx, description, old, oldWC)
		})
	}
	if ctx, err = whole(ctx); err != nil {
		return err
	}
	return t.publishAndReport(ctx, description, old, oldWC)
}

// admit asks whether the files may become those that the transaction has for
// the workspace.
func (t *tx) admit(ctx context.Context) error {
	w := t.w
	id, ok := t.View.Workspaces[w.name]
	if w.io.Admit == nil || !ok || w.atOp || w.global.noIntegrate || w.global.ignoreWorkingCopy {
		return nil
	}
	c, err := t.Store.Commit(ctx, id)
	if err != nil {
		return err
	}
	return w.io.admit(ctx, t.Store, w.name, w.wc.Tree(), c)
}

func (t *tx) publishAndReport(ctx context.Context, description string, old *repo.Repo, oldWC *repo.Commit) error {
	w := t.w
	if err := w.publish(ctx, t, description); err != nil {
		return err
	}
	newWC, err := w.wcCommit(ctx)
	if err != nil {
		return err
	}
	if !w.atOp && newWC != nil && !w.global.noIntegrate {
		if err := w.updateFiles(ctx, oldWC, newWC); err != nil {
			return err
		}
	}
	if err := w.print.report(ctx, old); err != nil {
		return err
	}
	if w.global.noIntegrate {
		w.ui.statusf("Operation left uncommitted because --no-integrate-operation was requested: %s\n", w.repo.Operation.ID.Hex()[:12])
	}
	w.print.warnIdentity()
	return nil
}

// keepMutable puts a new commit on a working-copy commit that has become
// immutable.
func (t *tx) keepMutable(ctx context.Context) error {
	w := t.w
	id, ok := t.View.Workspaces[w.name]
	if !ok {
		return nil
	}
	x, err := w.revs.immutableExpr()
	if err != nil {
		return nil // said when something is rewritten
	}
	ids, err := w.revs.revRepo(ctx, t.now(), nil).IDs(ctx, revset.And(x, revset.Commits(id)))
	if err != nil || len(ids) == 0 {
		return nil
	}
	c, err := t.Store.Commit(ctx, id)
	if err != nil {
		return err
	}
	fresh, err := t.Write(ctx, t.NewCommit([]repo.CommitID{id}, c.Tree))
	if err != nil {
		return err
	}
	t.View.Workspaces[w.name] = fresh.ID
	w.ui.warnf("The working-copy commit became immutable; a new commit has been created on top of it.")
	return nil
}

func (pr *printer) warnIdentity() {
	name, email := pr.conf.Str("user.name") == "", pr.conf.Str("user.email") == ""
	if !name && !email {
		return
	}
	msg := "Email not configured."
	if name && email {
		msg = "Name and email not configured."
	} else if name {
		msg = "Name not configured."
	}
	pr.ui.warnf("%s Until configured, your commits will be created with the empty identity, and can't be pushed to remotes.", msg)
	pr.ui.hintf("To configure, run:")
	t := pr.ui.newText()
	if name {
		t.Label("hint", "  jj config set --user user.name \"Some One\"\n")
	}
	if email {
		t.Label("hint", "  jj config set --user user.email \"someone@example.com\"\n")
	}
	pr.ui.status(t)
}

// updateFiles makes the files those of the new working-copy commit and says so.
func (w *session) updateFiles(ctx context.Context, old, now *repo.Commit) error {
	locked, err := w.wc.Lock(ctx)
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
	stats, err := locked.CheckOut(ctx, now.Tree)
	if err != nil {
		locked.Discard()
		return internalf(err, "Failed to check out commit %s", now.ID.Hex())
	}
	if err := locked.Finish(w.repo.Operation.ID); err != nil {
		return err
	}
	return w.print.reportFiles(ctx, old, now, stats)
}

func (pr *printer) reportFiles(ctx context.Context, old, now *repo.Commit, stats workcopy.CheckoutStats) error {
	moved := old == nil || old.ID != now.ID
	if moved {
		t := pr.ui.newText()
		t.Str("Working copy  (@) now at: ")
		if err := pr.summary(ctx, t, now); err != nil {
			return err
		}
		t.Str("\n")
		parents, err := pr.commits(ctx, now.Parents)
		if err != nil {
			return err
		}
		for _, p := range parents {
			t.Str("Parent commit (@-)      : ")
			if err := pr.summary(ctx, t, p); err != nil {
				return err
			}
			t.Str("\n")
		}
		pr.ui.status(t)
	}
	pr.reportStats(stats, now)
	if moved && now.Tree.HasConflict() && !pr.ui.quiet {
		pr.ui.warnf("There are unresolved conflicts at these paths:")
		t := pr.ui.newText()
		if err := pr.conflictedPaths(ctx, t, now.Tree, repo.Everything{}); err != nil {
			return err
		}
		pr.ui.status(t)
	}
	return nil
}

func (pr *printer) reportStats(s workcopy.CheckoutStats, c *repo.Commit) {
	if s.Added > 0 || s.Updated > 0 || s.Removed > 0 {
		pr.ui.statusf("Added %d files, modified %d files, removed %d files\n", s.Added, s.Updated, s.Removed)
	}
	if s.Skipped > 0 {
		pr.ui.warnf("%d of those updates were skipped because there were conflicting changes in the working copy.", s.Skipped)
		id := c.ID.Hex()[:12]
		pr.ui.hintf("Inspect the changes compared to the intended target with `jj diff --from %s`.\n"+
			"Discard the conflicting changes with `jj restore --from %s`.", id, id)
	}
}
