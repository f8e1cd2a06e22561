package jj

import (
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
)

func gitInitCommand() *command {
	return &command{
		name: "init", about: "Create a new Git backed repo",
		opts: []opt{
			{id: "destination", pos: true, value: "DESTINATION"},
			{id: "colocate", long: "colocate", conflicts: []string{"git-repo"}},
			{id: "no-colocate", long: "no-colocate", conflicts: []string{"colocate"}},
			{id: "object-hash", long: "object-hash", value: "OBJECT_HASH", conflicts: []string{"git-repo"}},
			{id: "git-repo", long: "git-repo", value: "GIT_REPO"},
		},
		run: runGitInit,
	}
}

func runGitInit(e *env, p *parsed) error {
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
	if colocate || p.has("git-repo") || p.or("object-hash", e.conf.Str("git.object-hash")) != "sha1" {
		return missing("`jj git init` beside an existing or visible git repository")
	}
	if st, err := os.Stat(dir); err != nil {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return userf("Failed to create workspace").because(err)
		}
	} else if !st.IsDir() {
		return userf("Failed to create workspace").because(fmt.Errorf("Cannot access %s", dir))
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if exists(filepath.Join(dir, ".jj")) {
		return userf("The target repo already exists")
	}
	if exists(filepath.Join(dir, ".git")) {
		return userf("Did not create a jj repo because there is an existing Git repo in this directory.").
			hinted("To create a repo backed by the existing Git repo, run `jj git init --colocate` instead.")
	}
	store, err := gitstore.Init(dir, "")
	if err != nil {
		return err
	}
	e.ws = &place{root: dir, repoDir: filepath.Join(dir, ".jj", "repo")}
	w := &wsEnv{env: e, store: store, name: repo.DefaultWorkspace}
	if w.repo, err = store.At(repo.RootOperationID); err != nil {
		return err
	}
	if err := w.bind(); err != nil {
		return err
	}
	if err := recordWorkspace(e.ws.repoDir, w.name, dir); err != nil {
		return err
	}
	if err := w.firstCheckout("add workspace 'default'"); err != nil {
		return err
	}
	rel, err := filepath.Rel(e.io.Dir, dir)
	if err != nil {
		rel = dir
	}
	w.ui.statusf("Initialized repo in %q\n", rel)
	return nil
}
