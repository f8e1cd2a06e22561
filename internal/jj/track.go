package jj

import (
	"context"
	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/workcopy"
)

// trackFiles takes files in that the settings leave out.
func (w *session) trackFiles(ctx context.Context, set *fileset.Set, ignored bool, auto workcopy.SnapshotStats) error {
	c, err := w.wcCommit(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return userf("This command requires a working copy")
	}
	var force repo.Matcher
	if ignored {
		force = set
	}
	o, err := w.snapshotOptions(force)
	if err != nil {
		return err
	}
	o.Track = set
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return err
	}
	// Only the state of the files knows of them now; the next command makes
	// them part of the commit.
	_, stats, err := locked.Snapshot(ctx, o)
	if err != nil {
		locked.Discard()
		return internalf(err, "Failed to snapshot the working copy")
	}
	t, err := w.begin()
	if err != nil {
		locked.Discard()
		return err
	}
	n, err := t.RebaseDescendants(ctx, repo.RebaseOptions{})
	if err != nil {
		locked.Discard()
		return err
	}
	if n > 0 {
		w.ui.statusf("Rebased %d descendant commits.\n", n)
	}
	if err := w.publish(ctx, t, "track paths"); err != nil {
		locked.Discard()
		return err
	}
	if err := locked.Finish(w.repo.Operation.ID); err != nil {
		return err
	}
	reasons := map[repo.Path]workcopy.Untracked{}
	for _, u := range auto.Untracked {
		reasons[u.Path] = u
	}
	for i, u := range stats.Untracked {
		if old, ok := reasons[u.Path]; ok && u.Size == 0 {
			stats.Untracked[i] = old
		}
	}
	w.print.warnLeftOut(stats)
	size, names := int64(0), []string{}
	for _, u := range stats.Untracked {
		if u.Size > 0 && u.Size <= repo.LargestFile {
			size = max(size, u.Size)
			names = append(names, w.paths().Format(u.Path))
		}
	}
	if len(names) > 0 {
		w.print.hintLarge(size, names)
	}
	return nil
}

// needsFiles is the error for a command that was told to leave the files alone.
func (w *session) needsFiles() error {
	hint := "Don't use --ignore-working-copy."
	if w.global.atOp != "" {
		hint = "Don't use --at-op."
	}
	return userf("This command must be able to update the working copy.").hinted("%s", hint)
}
