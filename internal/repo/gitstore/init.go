package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/internal/repo"
)

// Init makes a repository that stock jj takes for its own, in an existing
// folder: `.jj/repo` with empty stores, and at its side a git repository. When
// gitDir is "" that is a bare one inside `.jj`; otherwise it is the named
// git repository, which is made when nothing is there. There is no workspace
// yet: the first operation adds it.
func Init(root, gitDir string) (s *Store, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	jj := filepath.Join(root, ".jj")
	if err := os.Mkdir(jj, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("The destination repo (%s) already exists", jj)
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(jj)
		}
	}()
	dir := filepath.Join(jj, "repo")
	for _, d := range []string{
		"store/extra/heads", "op_store/operations", "op_store/views", "op_heads/heads",
		"index/op_links", "index/segments", "index/changed_paths", "submodule_store", "workspace_store",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o777); err != nil {
			return nil, err
		}
	}
	target := "git"
	if gitDir == "" {
		gitDir = filepath.Join(dir, "store", "git")
	} else if target, err = gitTarget(root, dir, gitDir); err != nil {
		return nil, err
	}
	if err := initGit(gitDir, target != "git"); err != nil {
		return nil, err
	}
	for path, text := range map[string]string{
		"store/type":            "git",
		"store/git_target":      target,
		"op_store/type":         "simple_op_store",
		"op_heads/type":         "simple_op_heads_store",
		"index/type":            "default",
		"submodule_store/type":  "default",
		"workspace_store/index": "",
		"op_heads/heads/" + repo.RootOperationID.Hex(): "",
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(path)), []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	if target == "../../../.git" {
		if err := os.WriteFile(filepath.Join(jj, ".gitignore"), []byte("/*\n"), 0o666); err != nil {
			return nil, err
		}
	}
	return Open(dir)
}

// gitTarget is how store/git_target spells a git repository: relative when it
// lies in the workspace, so that both can be moved together.
func gitTarget(root, dir, gitDir string) (string, error) {
	abs, err := filepath.Abs(gitDir)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
		inside, err := filepath.Rel(filepath.Join(dir, "store"), abs)
		return filepath.ToSlash(inside), err
	}
	return abs, nil
}

// initGit makes a git repository unless there is one.
func initGit(dir string, worktree bool) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	for _, d := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o777); err != nil {
			return err
		}
	}
	bare, logs := "true", "false"
	if worktree {
		bare, logs = "false", "true"
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = " + bare +
		"\n\tlogallrefupdates = " + logs + "\n"
	for name, text := range map[string]string{
		"HEAD":         "ref: refs/heads/main\n",
		"config":       config,
		"description":  "Unnamed repository; edit this file 'description' to name the repository.\n",
		"info/exclude": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
