// A folder that git works in too, as jj 0.45.1 has it: git's HEAD and refs are taken in before each command and written
// back after it, both under one lock.

package jj

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/revset"
)

// A workspace is colocated when git works in the same folder. Git's HEAD then
// follows the parent of the working copy, and branches and tags go to and fro
// with every command.

// importOptions are the settings of imports from git.
func (gs *gitSide) importOptions() (gitstore.ImportOptions, error) {
	track, err := gs.autoTracked()
	if err != nil {
		return gitstore.ImportOptions{}, err
	}
	drop, err := gs.conf.Bool("git.abandon-unreachable-commits")
	if err != nil {
		return gitstore.ImportOptions{}, err
	}
	link, err := gs.conf.Bool("git.record-synthetic-predecessors")
	return gitstore.ImportOptions{Track: track, KeepUnreachable: !drop, Unlinked: !link}, err
}

// autoTracked says which bookmarks of remotes are tracked when they appear.
func (gs *gitSide) autoTracked() (func(remote, name string) bool, error) {
	match := map[string]func(string) bool{}
	remotes := gs.conf.Table("remotes")
	if remotes != nil {
		for _, r := range remotes.Keys {
			name := "remotes." + quoteKey(r) + ".auto-track-bookmarks"
			text, ok, err := gs.conf.String(name)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			x, err := revset.ParseStringExpr(text)
			if err != nil {
				return nil, gs.conf.Wrong(name, err)
			}
			match[r] = x.Match
		}
	}
	return func(remote, name string) bool {
		m := match[remote]
		return m != nil && m(name)
	}, nil
}

// importHead takes a HEAD that git has moved for the parent of the working
// copy.
func (w *session) importHead(ctx context.Context) error {
	t, err := w.begin()
	if err != nil {
		return err
	}
	old := w.repo.View.GitHeads[w.name]
	id, err := w.store.ImportHead(ctx, t.Tx, w.name, w.ws.root)
	if err != nil {
		return internalf(err, "Failed to import Git HEAD")
	}
	if !t.HasChanges() {
		return nil
	}
	if id == "" {
		n, err := t.RebaseDescendants(ctx, repo.RebaseOptions{})
		if err != nil {
			return err
		}
		if n > 0 {
			w.ui.statusf("Rebased %d descendant commits.\n", n)
		}
		return t.conclude(ctx, "import git head")
	}
	head, err := w.store.Commit(ctx, id)
	if err != nil {
		return err
	}
	c, err := t.CheckOut(ctx, w.name, head)
	if err != nil {
		return err
	}
	if _, err := t.RebaseDescendants(ctx, repo.RebaseOptions{}); err != nil {
		return err
	}
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return internalf(err, "Failed to access working copy state")
	}
	if err := locked.Reset(ctx, c.Tree); err != nil {
		locked.Discard()
		return err
	}
	if err := w.publish(ctx, t, "import git head"); err != nil {
		locked.Discard()
		return err
	}
	if w.global.noIntegrate {
		locked.Discard()
	} else if err := locked.Finish(w.repo.Operation.ID); err != nil {
		return err
	}
	if len(old) > 0 && !repo.IsAbsentTarget(old) {
		w.ui.statusf("Reset the working copy parent to the new Git HEAD.\n")
	}
	return nil
}

// importRefs takes branches and tags that git has moved.
func (w *session) importRefs(ctx context.Context) error {
	o, err := w.git.importOptions()
	if err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	stats, err := w.store.ImportRefs(ctx, t.Tx, o)
	if err != nil {
		return internalf(err, "Failed to import refs from underlying Git repo")
	}
	if n := len(stats.Abandoned); n > 0 {
		w.ui.statusf("Abandoned %d commits that are no longer reachable.\n", n)
	}
	if stats.Rewritten > 0 {
		w.ui.statusf("Updated %d rewritten commits.\n", stats.Rewritten)
	}
	if !t.HasChanges() {
		return nil
	}
	n, err := t.RebaseDescendants(ctx, repo.RebaseOptions{})
	if err != nil {
		return err
	}
	if n > 0 {
		w.ui.statusf("Rebased %d descendant commits off of commits rewritten from Git.\n", n)
	}
	if err := t.conclude(ctx, "import git refs"); err != nil {
		return err
	}
	w.ui.statusf("Done importing changes from the underlying Git repo.\n")
	return nil
}

// exportGit gives git what the transaction has moved. It is called with the
// lock held.
func (t *tx) exportGit(ctx context.Context) error {
	w := t.w
	if id, ok := t.View.Workspaces[w.name]; ok {
		c, err := t.Store.Commit(ctx, id)
		if err != nil {
			return err
		}
		if err := w.store.ResetHead(ctx, t.Tx, w.name, w.ws.root, c); err != nil {
			w.ui.warnf("Failed to update Git HEAD ref")
			w.ui.causes(err)
		}
	}
	failed, err := w.store.ExportRefs(ctx, t.Tx)
	if err != nil {
		return internalf(err, "Failed to export refs to underlying Git repo")
	}
	w.ui.exportFailures(failed)
	return nil
}

// exportFailures tells which refs git did not take.
func (u *ui) exportFailures(failed map[string]string) {
	hint := false
	for _, kind := range []string{"bookmark", "tag"} {
		var names []string
		for _, full := range slices.Sorted(maps.Keys(failed)) {
			if strings.HasPrefix(full, "refs/tags/") == (kind == "tag") {
				names = append(names, full)
			}
		}
		if len(names) == 0 {
			continue
		}
		u.warnf("Failed to export some %ss:", kind)
		t := u.newText()
		for _, full := range names {
			t.Str("  ")
			t.Label(kind, refSymbolOf(full))
			t.Str(": " + failed[full] + "\n")
			hint = hint || strings.HasPrefix(failed[full], "Failed to set")
		}
		u.colours.WriteTo(u.io.Stderr, t)
	}
	if hint {
		u.hintf("Git doesn't allow a branch/tag name that looks like a parent directory of\n" +
			"another (e.g. `foo` and `foo/bar`). Try to rename the bookmarks/tags that failed\nto export or their \"parent\" bookmarks/tags.")
	}
}

// refSymbolOf writes a full ref name as jj does.
func refSymbolOf(full string) string {
	for _, local := range []string{"refs/heads/", "refs/tags/"} {
		if n, ok := strings.CutPrefix(full, local); ok {
			return revset.FormatRemote(n, repo.GitRemote)
		}
	}
	if rest, ok := strings.CutPrefix(full, "refs/remotes/"); ok {
		if remote, n, ok := strings.Cut(rest, "/"); ok {
			return revset.FormatRemote(n, remote)
		}
	}
	return revset.FormatRemote(full, repo.GitRemote)
}

// withGit runs a step while no other jj imports from or exports to git.
func (gs *gitSide) withGit(ctx context.Context, step func(context.Context) error) error {
	if gs.locked {
		return step(ctx)
	}
	unlock, err := gs.store.LockGit(ctx)
	if err != nil {
		return userf("Failed to take lock for Git import/export").because(err)
	}
	gs.locked = true
	defer func() {
		gs.locked = false
		unlock()
	}()
	return step(ctx)
}

// colocated says whether git works in the same folder.
func (gs *gitSide) colocated() bool { return gs.store.IsColocated(gs.ws.root) }
