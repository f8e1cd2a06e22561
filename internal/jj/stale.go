// A working copy that another workspace's operation left behind, as jj 0.45.1 brings it up to date.

package jj

import (
	"context"
	"errors"

	"tandem/internal/repo"
	"tandem/internal/repo/workcopy"
)

// updateStale brings the files of a workspace up to what the repository says
// its commit is. Edits made to stale files are saved first, in the operation
// they belong to, so that they meet the repository's own line by merging.
func (w *session) updateStale(ctx context.Context) (workcopy.SnapshotStats, error) {
	var stats workcopy.SnapshotStats
	if w.global.ignoreWorkingCopy || w.global.atOp != "" {
		return stats, w.needsFiles()
	}
	at, err := w.store.At(ctx, w.wc.Operation())
	var lost *repo.MissingError
	if errors.As(err, &lost) {
		w.ui.statusf("Failed to read working copy's current operation; attempting recovery. Error message from read attempt: %s\n", err)
		return w.recoverLost(ctx)
	}
	if err != nil {
		return stats, err
	}
	w.repo = at
	if err := w.bind(ctx); err != nil {
		return stats, err
	}
	if stats, err = w.snapshot(ctx, nil); err != nil {
		return stats, err
	}
	before, err := w.wcCommit(ctx)
	if err != nil {
		return stats, err
	}
	if err := w.load(ctx); err != nil {
		return stats, err
	}
	if err := w.bind(ctx); err != nil {
		return stats, err
	}
	now, err := w.wcCommit(ctx)
	if err != nil {
		return stats, err
	}
	if now == nil {
		return stats, userf("Nothing checked out in this workspace")
	}
	fresh, err := w.wc.Check(ctx, w.repo, now)
	if err != nil {
		return stats, err
	}
	if fresh == workcopy.Stale || fresh == workcopy.Sibling {
		if err := w.catchUp(ctx, before, now); err != nil {
			return stats, err
		}
	} else {
		w.ui.statusf("Attempted recovery, but the working copy is not stale.\n")
	}
	more, err := w.takeIn(ctx)
	stats.Untracked = append(stats.Untracked, more.Untracked...)
	stats.Outgrown = append(stats.Outgrown, more.Outgrown...)
	return stats, err
}

// catchUp checks out the commit that the repository has for the workspace.
func (w *session) catchUp(ctx context.Context, before, now *repo.Commit) error {
	if err := w.io.admit(ctx, w.store, w.name, w.wc.Tree(), now); err != nil {
		return err
	}
	ctx, err := whole(ctx)
	if err != nil {
		return err
	}
	if w.git.colocated() {
		if err := w.git.withGit(ctx, func(ctx context.Context) error {
			t, err := w.begin()
			if err != nil {
				return err
			}
			if err := w.store.ResetHead(ctx, t.Tx, w.name, w.ws.root, now); err != nil {
				return err
			}
			if !t.HasChanges() {
				return nil
			}
			return w.publish(ctx, t, "reset git head")
		}); err != nil {
			return err
		}
	}
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return err
	}
	if locked.Style, err = w.markerStyle(); err != nil {
		locked.Discard()
		return err
	}
	stats, err := locked.CheckOut(ctx, now.Tree)
	if err != nil {
		locked.Discard()
		return internalf(err, "Failed to check out commit %s", now.ID.Hex())
	}
	if err := locked.Finish(w.repo.Operation.ID); err != nil {
		return err
	}
	if err := w.print.reportFiles(ctx, before, now, stats); err != nil {
		return err
	}
	w.ui.statusf("Updated working copy to fresh commit %s\n", now.ID.Hex()[:12])
	return nil
}

const recoveryText = "RECOVERY COMMIT FROM `jj workspace update-stale`\n\n" +
	"This commit contains changes that were written to the working copy by an\n" +
	"operation that was subsequently lost (or was at least unavailable when you ran\n" +
	"`jj workspace update-stale`). Because the operation was lost, we don't know\n" +
	"what the parent commits are supposed to be. That means that the diff compared\n" +
	"to the current parents may contain changes from multiple commits.\n"

// recoverLost saves the files of a workspace whose operation is gone in a
// commit of their own.
func (w *session) recoverLost(ctx context.Context) (workcopy.SnapshotStats, error) {
	var none workcopy.SnapshotStats
	old, err := w.wcCommit(ctx)
	if err != nil {
		return none, err
	}
	if old == nil {
		return none, userf("Nothing checked out in this workspace")
	}
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return none, err
	}
	w.fresh = true // the operation names neither the workspace nor a command
	t, err := w.begin()
	w.fresh = false
	if err != nil {
		locked.Discard()
		return none, err
	}
	d := t.NewCommit([]repo.CommitID{old.ID}, old.Tree)
	d.Description = recoveryText
	c, err := t.Write(ctx, d)
	if err == nil {
		t.View.Workspaces[w.name] = c.ID
		err = w.publish(ctx, t, "recovery commit")
	}
	if err == nil {
		err = locked.Recover(ctx, c.Tree)
	}
	if err != nil {
		locked.Discard()
		return none, err
	}
	w.ui.statusf("Created and checked out recovery commit %s\n", c.ID.Hex()[:12])
	if err := locked.Finish(w.repo.Operation.ID); err != nil {
		return none, err
	}
	return w.takeIn(ctx)
}
