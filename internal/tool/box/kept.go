package box

import (
	"io/fs"
	"os"
	"path/filepath"
)

// maxModules bounds how many repositories of submodules are looked at.
const maxModules = 1000

// Kept lays over a folder that a program may write what version control would run or follow outside of the box later: .git and .jj are
// mounts of their own, so that they cannot be moved aside, and hooks, configuration and pointers to other repositories in them are
// read-only. What is made elsewhere in the folder, or where there was no repository, it does not know.
func Kept(folder string) []Mount {
	var out []Mount
	if git := filepath.Join(folder, ".git"); isDir(git) {
		out = append(out, Mount{From: git, Write: true})
		out = append(out, keptGit(git)...)
		out = append(out, keptModules(filepath.Join(git, "modules"))...)
	} else if isFile(git) { // of a worktree or a submodule: it says where the repository is
		out = append(out, Mount{From: git})
	}
	if jj := filepath.Join(folder, ".jj"); isDir(jj) {
		out = append(out, Mount{From: jj, Write: true})
		for _, name := range []string{"config.toml", "workspace-config.toml", "workspace-config-id", "repo/config.toml", "repo/config-id"} {
			if p := filepath.Join(jj, filepath.FromSlash(name)); isFile(p) {
				out = append(out, Mount{From: p})
			}
		}
		if repo := filepath.Join(jj, "repo"); isFile(repo) {
			out = append(out, Mount{From: repo})
		}
		store := filepath.Join(jj, "repo", "store")
		if p := filepath.Join(store, "git_target"); isFile(p) {
			out = append(out, Mount{From: p})
		}
		if git := filepath.Join(store, "git"); isDir(git) {
			out = append(out, keptGit(git)...)
		}
	}
	return out
}

// keptGit are the parts of one repository that run or name programs.
func keptGit(git string) []Mount {
	var out []Mount
	for _, name := range []string{"config", "config.worktree", "commondir", filepath.Join("info", "attributes")} {
		if p := filepath.Join(git, name); isFile(p) {
			out = append(out, Mount{From: p})
		}
	}
	hooks := filepath.Join(git, "hooks")
	switch st, err := os.Lstat(hooks); {
	case err == nil && st.IsDir():
		out = append(out, Mount{From: hooks})
	case os.IsNotExist(err):
		out = append(out, Mount{At: hooks}) // so that none can be made
	}
	worktrees, _ := filepath.Glob(filepath.Join(git, "worktrees", "*")) // what cannot be read the program cannot change either
	for _, w := range worktrees {
		for _, name := range []string{"config.worktree", "commondir", "gitdir"} {
			if p := filepath.Join(w, name); isFile(p) {
				out = append(out, Mount{From: p})
			}
		}
	}
	return out
}

// keptModules are the repositories of submodules.
func keptModules(dir string) []Mount {
	var out []Mount
	seen := 0
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error { // what cannot be read the program cannot change either
		if seen++; err != nil || seen > maxModules || !d.IsDir() {
			return nil
		}
		switch d.Name() {
		case "objects", "refs", "logs", "hooks", "info":
			return filepath.SkipDir
		}
		if p != dir && isFile(filepath.Join(p, "config")) && isFile(filepath.Join(p, "HEAD")) {
			out = append(out, keptGit(p)...)
		}
		return nil
	})
	return out
}

func isDir(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}

func isFile(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular()
}
