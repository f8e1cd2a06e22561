// `jj git colocation status`, `enable` and `disable`, as jj 0.45.1 has them: git's folder moves between .git and
// .jj/repo/store/git.

package jj

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
)

func gitColocationCommand() *command {
	return &command{
		name: "colocation",
		subs: []*command{
			{name: "disable", run: runColocationDisable},
			{name: "enable", run: runColocationEnable},
			{name: "status", run: runColocationStatus},
		},
	}
}

// openMain opens the workspace that holds the repository.
func (e *env) openMain(ctx context.Context) (*session, error) {
	w, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(filepath.Join(e.ws.root, ".jj", "repo")); err == nil && !st.IsDir() {
		return nil, userf("This command cannot be used in a non-main Jujutsu workspace")
	}
	return w, nil
}

func runColocationStatus(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openMain(ctx)
	if err != nil {
		return err
	}
	together := w.git.colocated()
	if together {
		w.ui.printf("Workspace is currently colocated with Git.\n")
	} else {
		w.ui.printf("Workspace is currently not colocated with Git.\n")
	}
	w.ui.printf("Last imported/exported Git HEAD: %s\n", gitHeadText(w))
	switch {
	case together:
		w.ui.hintf("To disable colocation, run: `jj git colocation disable`")
	case !exists(w.git.ownGitDir()):
		w.ui.hintf("Colocation cannot be enabled because the workspace is backed by an external Git repository.")
	default:
		w.ui.hintf("To enable colocation, run: `jj git colocation enable`")
	}
	return nil
}

// ownGitDir is where the git repository lies that only jj knows of.
func (gs *gitSide) ownGitDir() string { return filepath.Join(gs.ws.repoDir, "store", "git") }

func gitHeadText(w *session) string {
	t := w.repo.View.GitHeads[w.name]
	if len(t) == 0 {
		t = repo.NoTarget()
	}
	var out []string
	for _, id := range t {
		if id == "" {
			out = append(out, "(none)")
		} else {
			out = append(out, id.Hex())
		}
	}
	return strings.Join(out, ", ")
}

func runColocationEnable(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openMain(ctx)
	if err != nil {
		return err
	}
	if w.git.colocated() {
		w.ui.statusf("Workspace is already colocated with Git.\n")
		return nil
	}
	wc, err := w.wcCommit(ctx)
	if err != nil {
		return err
	}
	if wc == nil {
		return userf("This command requires a working copy")
	}
	beside := filepath.Join(w.ws.root, ".git")
	switch err := os.Rename(w.git.ownGitDir(), beside); {
	case errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY):
		return userf("A .git directory already exists in the workspace root. Cannot colocate.")
	case errors.Is(err, fs.ErrNotExist):
		return userf("Cannot colocate a workspace backed by an external Git repository at %s", w.store.GitDir())
	case err != nil:
		return userf("Failed to move Git repository from .jj/repo/store/git to workspace root directory.").because(err)
	}
	if err := w.moveGit(ctx, "../../../.git", false); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(w.ws.root, ".jj", ".gitignore"), []byte("/*\n"), 0o666); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if err := w.store.ResetHead(ctx, t.Tx, w.name, w.ws.root, wc); err != nil {
		return userf("Failed to reset Git HEAD state").because(err)
	}
	if t.HasChanges() {
		if err := t.finish(ctx, "set git head to working copy parent"); err != nil {
			return err
		}
	}
	w.ui.statusf("Workspace successfully converted into a colocated Jujutsu/Git workspace.\n")
	return nil
}

func runColocationDisable(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openMain(ctx)
	if err != nil {
		return err
	}
	if !w.git.colocated() {
		w.ui.statusf("Workspace is already not colocated with Git.\n")
		return nil
	}
	if err := os.Rename(filepath.Join(w.ws.root, ".git"), w.git.ownGitDir()); err != nil {
		return userf("Failed to move Git repository to .jj/repo/store/git").because(err)
	}
	if err := w.moveGit(ctx, "git", true); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(w.ws.root, ".jj", ".gitignore")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	t.View.SetGitHead(w.name, repo.NoTarget())
	if t.HasChanges() {
		if err := t.finish(ctx, "remove git head reference"); err != nil {
			return err
		}
	}
	w.ui.statusf("Workspace successfully converted into a non-colocated Jujutsu/Git workspace.\n")
	return nil
}

// moveGit notes where the git repository is now, tells it whether it has files
// beside it, and opens it again there.
func (w *session) moveGit(ctx context.Context, target string, bare bool) error {
	if err := os.WriteFile(filepath.Join(w.ws.repoDir, "store", "git_target"), []byte(target), 0o666); err != nil {
		return err
	}
	store, err := gitstore.Open(w.ws.repoDir)
	if err != nil {
		return err
	}
	w.store = store
	word := "false"
	if bare {
		word = "true"
	}
	if _, err := w.git.output(ctx, "config", "core.bare", word); err != nil {
		return err
	}
	w.repo, err = store.At(ctx, w.repo.Operation.ID)
	if err != nil {
		return err
	}
	return w.bind(ctx)
}
