package jj

import (
	"tandem/internal/repo"
	"tandem/internal/repo/workcopy"
)

// updateStale brings the files of a workspace up to what the repository says
// its commit is.
func (w *wsEnv) updateStale() error {
	if w.global.ignoreWorkingCopy || w.global.atOp != "" {
		return w.needsFiles()
	}
	now, err := w.wcCommit()
	if err != nil {
		return err
	}
	if now == nil {
		return userf("Nothing checked out in this workspace")
	}
	fresh, err := w.wc.Check(w.repo, now)
	if err != nil {
		return err
	}
	switch fresh {
	case workcopy.Lost:
		return w.recoverLost()
	case workcopy.Stale:
	default:
		if _, err := w.snapshot(nil); err != nil {
			return err
		}
		w.ui.statusf("Attempted recovery, but the working copy is not stale\n")
		return nil
	}
	if err := w.snapshotOld(); err != nil {
		return err
	}
	if now, err = w.wcCommit(); err != nil {
		return err
	}
	old := w.wc.Tree()
	locked, err := w.wc.Lock()
	if err != nil {
		return err
	}
	if locked.Style, err = w.markerStyle(); err != nil {
		locked.Discard()
		return err
	}
	stats, err := locked.CheckOut(now.Tree)
	if err != nil {
		locked.Discard()
		return internalf(err, "Failed to check out commit %s", now.ID.Hex())
	}
	if err := locked.Finish(w.repo.Operation.ID); err != nil {
		return err
	}
	var before *repo.Commit
	if old.Equal(now.Tree) {
		before = now
	}
	if err := w.reportFiles(before, now, stats); err != nil {
		return err
	}
	w.ui.statusf("Updated working copy to fresh commit %s\n", now.ID.Hex()[:12])
	return nil
}

// snapshotOld saves edits made to stale files in the operation they belong to,
// so that they meet the repository's own line by merging.
func (w *wsEnv) snapshotOld() error {
	head := w.repo
	at, err := w.store.At(w.wc.Operation())
	if err != nil {
		return err
	}
	w.repo = at
	if err := w.bind(); err != nil {
		return err
	}
	if _, err := w.snapshot(nil); err != nil {
		return err
	}
	if w.repo.Operation.ID == at.Operation.ID {
		w.repo = head
		return w.bind()
	}
	if err := w.load(); err != nil {
		return err
	}
	return w.bind()
}

func (w *wsEnv) recoverLost() error {
	return missing("recovering a working copy whose operation is lost")
}
