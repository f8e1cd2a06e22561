// Package kin knows which folders are checkouts of one repository: jj's workspaces,
// git's worktrees, copies of a served repository and the served folder itself. What
// policy says of a path in one of them is said of that path in all.
package kin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// How long an answer is believed, and how many are kept: thousands of files of a
// folder are asked about in a row.
const (
	believed = 2 * time.Second
	kept     = 8192
)

// Finder finds the repository of a path.
type Finder struct {
	mu    sync.Mutex
	known map[string]answer // by folder
}

type answer struct {
	names []string
	root  string
	until time.Time
}

// Of gives the names of the repository that a path lies in and the root of the
// checkout; none where there is no repository. Two checkouts with a name in common
// are of one repository. Paths have slashes, as policy has them.
func (f *Finder) Of(path string) (names []string, root string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if f.known == nil || len(f.known) > kept {
		f.known = map[string]answer{}
	}
	a := f.of(path, now)
	return a.names, a.root
}

func (f *Finder) of(dir string, now time.Time) answer {
	if a, ok := f.known[dir]; ok && now.Before(a.until) {
		return a
	}
	a := answer{names: names(filepath.FromSlash(dir)), root: dir, until: now.Add(believed)}
	if len(a.names) == 0 {
		a = answer{until: a.until}
		if i := strings.LastIndexByte(dir, '/'); i > 0 {
			a = f.of(dir[:i], now)
		}
	}
	f.known[dir] = a
	return a
}

// names are how a folder's own repository is known.
func names(root string) []string {
	var out []string
	if repo, ok := target(filepath.Join(root, ".jj", "repo"), ""); ok {
		out = append(out, "jj:"+repo)
		for _, file := range []string{"replica.json", "repository.json"} { // a copy's, and a served repository's
			var id struct{ ID string }
			if data, err := os.ReadFile(filepath.Join(repo, "tandem", file)); err == nil && json.Unmarshal(data, &id) == nil && id.ID != "" {
				out = append(out, "served:"+id.ID)
			}
		}
		store := filepath.Join(repo, "store")
		if text, err := os.ReadFile(filepath.Join(store, "git_target")); err == nil {
			out = append(out, "git:"+real(at(store, strings.TrimSpace(string(text)))))
		}
	}
	if git, ok := target(filepath.Join(root, ".git"), "gitdir: "); ok {
		if text, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil { // a worktree
			git = real(at(git, strings.TrimSpace(string(text))))
		}
		out = append(out, "git:"+git)
	}
	return out
}

// target is the folder that a path is, or that the file there points to.
func target(path, prefix string) (string, bool) {
	st, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if st.IsDir() {
		return real(path), true
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
	return real(at(filepath.Dir(path), to)), ok
}

func at(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}
