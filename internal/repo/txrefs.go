package repo

import (
	"context"
	"fmt"
	"slices"
)

// SetBookmark points a local bookmark; its commits become visible.
func (tx *Tx) SetBookmark(ctx context.Context, name string, t RefTarget) error {
	if ids := TargetIDs(t); len(ids) > 0 {
		if err := tx.AddHeads(ctx, ids); err != nil {
			return err
		}
	}
	tx.View.SetBookmark(name, t)
	return nil
}

// MergeBookmark applies a move from base to other to a local bookmark.
func (tx *Tx) MergeBookmark(ctx context.Context, name string, base, other RefTarget) error {
	return tx.SetBookmark(ctx, name, MergeTargets(tx.Index, tx.View.Bookmark(name), base, other))
}

// MergeTag applies a move from base to other to a local tag.
func (tx *Tx) MergeTag(name string, base, other RefTarget) {
	tx.View.SetTag(name, MergeTargets(tx.Index, tx.View.Tag(name), base, other))
}

// TrackBookmark follows a remote's bookmark from now on: its target is merged
// into the local one.
func (tx *Tx) TrackBookmark(ctx context.Context, remote, name string) error {
	ref := tx.View.RemoteBookmark(remote, name)
	base := NoTarget()
	if ref.Tracked {
		base = ref.Target
	}
	if err := tx.MergeBookmark(ctx, name, base, ref.Target); err != nil {
		return err
	}
	ref.Tracked = true
	tx.View.SetRemoteBookmark(remote, name, ref)
	return nil
}

// TrackTag follows a remote's tag from now on: its target is merged into the
// local one.
func (tx *Tx) TrackTag(remote, name string) {
	ref := tx.View.RemoteTag(remote, name)
	base := NoTarget()
	if ref.Tracked {
		base = ref.Target
	}
	tx.MergeTag(name, base, ref.Target)
	ref.Tracked = true
	tx.View.SetRemoteTag(remote, name, ref)
}

// CheckOut makes a new empty commit on top of c the working copy of a
// workspace.
func (tx *Tx) CheckOut(ctx context.Context, workspace string, c *Commit) (*Commit, error) {
	wc, err := tx.Write(ctx, tx.NewCommit([]CommitID{c.ID}, c.Tree))
	if err != nil {
		return nil, err
	}
	return wc, tx.Edit(ctx, workspace, wc)
}

// Edit makes a commit the working copy of a workspace. The one it leaves is
// abandoned if nothing is lost by that.
func (tx *Tx) Edit(ctx context.Context, workspace string, c *Commit) error {
	if c.IsRoot() {
		return fmt.Errorf("Cannot rewrite the root commit")
	}
	if err := tx.leaveWorkingCopy(ctx, workspace); err != nil {
		return err
	}
	if err := tx.AddHead(ctx, c); err != nil {
		return err
	}
	tx.View.Workspaces[workspace] = c.ID
	return nil
}

// RemoveWorkspace forgets a workspace.
func (tx *Tx) RemoveWorkspace(ctx context.Context, workspace string) error {
	if err := tx.leaveWorkingCopy(ctx, workspace); err != nil {
		return err
	}
	tx.View.removeWorkspace(workspace)
	return nil
}

func (v *View) removeWorkspace(name string) {
	delete(v.Workspaces, name)
	delete(v.GitHeads, name)
}

func (tx *Tx) leaveWorkingCopy(ctx context.Context, workspace string) error {
	id, ok := tx.View.Workspaces[workspace]
	if !ok {
		return nil
	}
	c, err := tx.Store.Commit(ctx, id)
	if err != nil {
		return fmt.Errorf("Current working-copy commit not found: %w", err)
	}
	tx.normalizeHeads()
	if _, head := tx.View.Heads[id]; !head || tx.isReferenced(id, workspace) {
		return nil
	}
	discardable, err := tx.IsDiscardable(ctx, c)
	if err != nil || !discardable {
		return err
	}
	tx.Abandon(c)
	return nil
}

// isReferenced says whether anything but one workspace points at a commit.
func (tx *Tx) isReferenced(id CommitID, except string) bool {
	for name, wc := range tx.View.Workspaces {
		if name != except && wc == id {
			return true
		}
	}
	for _, refs := range []map[string]RefTarget{tx.View.Bookmarks, tx.View.Tags} {
		for _, t := range refs {
			if slices.Contains(TargetIDs(t), id) {
				return true
			}
		}
	}
	return false
}
