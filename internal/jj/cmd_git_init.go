// `jj git init`, as jj 0.45.1 has it: colocated unless `git.colocate` says otherwise, and taking in what a git
// repository already has.

package jj

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/revset"
)

func gitInitCommand() *command {
	return &command{
		name: "init",
		opts: []opt{
			{id: "destination", pos: true, value: "DESTINATION"},
			{id: "colocate", long: "colocate", conflicts: []string{"git-repo"}},
			{id: "no-colocate", long: "no-colocate", conflicts: []string{"colocate"}},
			{id: "object-hash", long: "object-hash", value: "OBJECT_HASH", values: []string{"sha1", "sha256"}, conflicts: []string{"git-repo"}},
			{id: "git-repo", long: "git-repo", value: "GIT_REPO"},
		},
		run: runGitInit,
	}
}

func runGitInit(ctx context.Context, e *env, p *parsed) error {
	switch {
	case e.global.noIntegrate:
		return clif("--no-integrate-operation is not respected")
	case e.global.ignoreWorkingCopy:
		return clif("--ignore-working-copy is not respected")
	case e.global.atOp != "":
		return clif("--at-op is not respected")
	}
	dir := p.or("destination", ".")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(e.io.Dir, dir)
	}
	colocate, err := e.conf.Bool("git.colocate")
	if err != nil {
		return err
	}
	if colocate {
		colocate = !p.has("no-colocate")
	} else {
		colocate = p.has("colocate")
	}
	if p.or("object-hash", e.conf.Str("git.object-hash")) != "sha1" {
		return missing("a repository whose objects are named by SHA-256")
	}
	if st, err := os.Stat(dir); err != nil {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return userf("Failed to create workspace").because(err)
		}
	} else if !st.IsDir() {
		return userf("Failed to create workspace").because(&fs.PathError{Op: "mkdir", Path: dir, Err: syscall.EEXIST})
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if exists(filepath.Join(dir, ".jj")) {
		return userf("The target repo already exists")
	}
	git, err := e.gitDirFor(p, dir, colocate)
	if err != nil {
		return err
	}
	existed := git != "" && exists(git)
	store, err := gitstore.Init(dir, git)
	if err != nil {
		return err
	}
	w, err := e.newPlace(ctx, dir, store)
	if err != nil {
		return err
	}
	if existed {
		if err := w.adoptGit(ctx); err != nil {
			return err
		}
	}
	rel, err := filepath.Rel(e.io.Dir, dir)
	if err != nil {
		rel = dir
	}
	w.ui.statusf("Initialized repo in %q\n", rel)
	return nil
}

// gitDirFor is the git repository to work on: one named, the one beside, or
// "" for a hidden one.
func (e *env) gitDirFor(p *parsed, dir string, colocate bool) (string, error) {
	beside := filepath.Join(dir, ".git")
	if p.has("git-repo") {
		git := p.str("git-repo")
		if !filepath.IsAbs(git) {
			git = filepath.Join(e.io.Dir, git)
		}
		if filepath.Base(git) != ".git" && exists(filepath.Join(git, ".git")) {
			git = filepath.Join(git, ".git")
		}
		if err := checkGitDir(git); err != nil {
			return "", err
		}
		if st, err := os.Stat(git); err != nil || !st.IsDir() {
			return "", missing("`jj git init --git-repo` for a worktree of git")
		}
		return filepath.EvalSymlinks(git)
	}
	switch st, err := os.Stat(beside); {
	case err != nil && !colocate:
		return "", nil
	case err != nil:
		return beside, nil
	case !colocate:
		return "", userf("Did not create a jj repo because there is an existing Git repo in this directory.").
			hinted("To create a repo backed by the existing Git repo, run `jj git init --colocate` instead.")
	case !st.IsDir():
		if err := checkGitDir(beside); err != nil {
			return "", err
		}
		return "", userf("Cannot create a colocated jj repo inside a Git worktree.").
			hinted("Run `jj git init` in the main Git repository instead, or use `jj workspace add` to create additional jj workspaces.")
	}
	return beside, checkGitDir(beside)
}

// newPlace gives a new repository its first workspace.
func (e *env) newPlace(ctx context.Context, dir string, store *gitstore.Store) (*session, error) {
	e.ws = &place{root: dir, repoDir: filepath.Join(dir, ".jj", "repo")}
	w := e.newSession(store, repo.DefaultWorkspace)
	var err error
	if w.repo, err = store.At(ctx, repo.RootOperationID); err != nil {
		return nil, err
	}
	if err := w.bind(ctx); err != nil {
		return nil, err
	}
	if err := recordWorkspace(ctx, store, w.name, dir); err != nil {
		return nil, err
	}
	return w, w.firstCheckout(ctx, "add workspace 'default'")
}

// adoptGit takes the branches, tags and HEAD of a git repository that was
// there before.
func (w *session) adoptGit(ctx context.Context) error {
	o, err := w.git.importOptions()
	if err != nil {
		return err
	}
	o.KeepUnreachable, o.Unlinked = true, true
	t, err := w.begin()
	if err != nil {
		return err
	}
	err = w.git.withGit(ctx, func(ctx context.Context) error {
		if _, err := w.store.ImportRefs(ctx, t.Tx, o); err != nil {
			return internalf(err, "Failed to import refs from underlying Git repo")
		}
		if !t.HasChanges() {
			return nil
		}
		if w.git.colocated() {
			failed, err := w.store.ExportRefs(ctx, t.Tx)
			if err != nil {
				return err
			}
			w.ui.exportFailures(failed)
		}
		if err := w.publish(ctx, t, "import git refs"); err != nil {
			return err
		}
		w.ui.statusf("Done importing changes from the underlying Git repo.\n")
		return nil
	})
	if err != nil {
		return err
	}
	stats, err := w.takeIn(ctx)
	if err != nil {
		return err
	}
	w.print.warnUntracked(stats)
	if err := w.git.rememberTrunk(); err != nil {
		return err
	}
	if !w.git.colocated() {
		if err := w.checkOutGitHead(ctx); err != nil {
			return err
		}
	}
	w.git.hintUntracked()
	return nil
}

// rememberTrunk writes down which branch a clone's remote calls its main one.
func (gs *gitSide) rememberTrunk() error {
	for _, remote := range []string{"upstream", "origin"} {
		ref, ok, err := gs.store.ReadRef("refs/remotes/" + remote + "/HEAD")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		_, name, ok := strings.Cut(strings.TrimPrefix(ref.Symbolic, "refs/remotes/"), "/")
		if !ok {
			return nil
		}
		path, err := gs.makeScopedConfig(config.Repo)
		if err != nil || path == "" {
			return err
		}
		symbol := revset.FormatRemote(name, remote)
		text, err := config.Set(config.FirstLine, []string{"revset-aliases", "trunk()"}, &config.Value{V: symbol})
		if err != nil {
			return err
		}
		gs.ui.statusf("Setting the revset alias `trunk()` to `%s`.\n", symbol)
		return os.WriteFile(path, []byte(text), 0o644)
	}
	return nil
}

// hintUntracked names remote bookmarks that a local one of the same name does
// not follow.
func (gs *gitSide) hintUntracked() {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(gs.repo.View.Bookmarks)) {
		for _, remote := range slices.Sorted(maps.Keys(gs.repo.View.Remotes)) {
			if r, ok := gs.repo.View.Remotes[remote].Bookmarks[name]; ok && !r.Tracked {
				names = append(names, revset.FormatRemote(name, remote))
			}
		}
	}
	if len(names) == 0 || gs.ui.quiet {
		return
	}
	gs.ui.hintf("The following remote bookmarks aren't associated with the existing local bookmarks:")
	t := gs.ui.newText()
	quoted := make([]string, len(names))
	for i, n := range names {
		t.Str("  ")
		t.Label("bookmark", n)
		t.Str("\n")
		quoted[i] = shellQuote(n)
	}
	gs.ui.status(t)
	gs.ui.hintf("Run the following command to keep local bookmarks updated on future pulls:\n"+
		"  jj bookmark track %s", strings.Join(quoted, " "))
}

// checkOutGitHead starts where the HEAD of a git repository elsewhere is.
func (w *session) checkOutGitHead(ctx context.Context) error {
	out, err := w.git.output(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return nil // no commit yet
	}
	id, ok := repo.ParseCommitID(strings.TrimSpace(out))
	if !ok {
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	c, err := w.store.Commit(ctx, id)
	if err != nil {
		return err
	}
	if err := t.AddHead(ctx, c); err != nil {
		return err
	}
	if _, err := t.CheckOut(ctx, w.name, c); err != nil {
		return err
	}
	return t.finish(ctx, "import git head")
}
