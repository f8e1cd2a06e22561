package box

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Known is what version control would run or follow in a folder, as it was at one time: by path below the folder.
type Known struct {
	Parts map[string]Part `json:"parts"`
	// Held are the places that a box keeps from being written: what changes there, the program in it did not change.
	Held []string `json:"held,omitempty"`

	// Home is where the person's home lies in the folder; "" is elsewhere.
	Home string `json:"home,omitempty"`
	// Partial says that there was more than was looked at: nobody can say what appears since.
	Partial bool `json:"partial,omitempty"`

	kept int // bytes of all parts
}

// Part is a hook, a file of settings, or a pointer to another repository.
type Part struct {
	Sum  string      `json:"sum"`
	Mode fs.FileMode `json:"mode"`
	Size int64       `json:"size,omitempty"`
	Data []byte      `json:"data,omitempty"` // "" of what is too large to be put back
}

// Left is something that version control would run or follow outside of the box later.
type Left struct {
	Path string // below the folder, with slashes
	What string // in words
	Part Part
	// Instead is what stands there when it is set aside; nil is nothing.
	Instead *Part
}

const (
	maxLook    = 1_000_000 // entries of a folder
	maxPart    = 1 << 20   // bytes of a hook or of settings
	maxKeeping = 32 << 20  // bytes of all of them
)

// ErrTooMuch says that a folder has more in it than is looked at.
var ErrTooMuch = errors.New("the folder holds too much to be looked through")

// Concerns says whether writing a file could change what version control runs: all others are written without a look.
func Concerns(file string) bool {
	parts := strings.Split(filepath.ToSlash(file), "/")
	if slices.ContainsFunc(parts, func(p string) bool { return p == ".git" || p == ".jj" || p == ".hg" || p == "hooks" }) {
		return true
	}
	at := "/" + strings.Join(parts, "/")
	if slices.ContainsFunc(homeFiles, func(f string) bool { return strings.HasSuffix(at, "/"+f) }) ||
		slices.ContainsFunc(homeFolders, func(d string) bool { return strings.HasSuffix(path.Dir(at), "/"+d) }) {
		return true
	}
	name := parts[len(parts)-1]
	return name == "HEAD" || slices.Contains(gitFiles, name) || slices.Contains(parts, "objects") || slices.Contains(parts, "refs") ||
		slices.Contains(parts, "rebase-merge")
}

// Look finds every repository in a folder, wherever and however it came there, and reads what it would run, and what runs by itself in
// the person's home if that lies in the folder; "" is no home. Places to skip are absolute.
func Look(folder, home string, skip ...string) (*Known, error) {
	k := &Known{Parts: map[string]Part{}}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if rel, err := filepath.Rel(folder, home); home != "" && err == nil && Below(folder, home) {
		k.Home = filepath.ToSlash(rel)
		k.addHome(root, k.Home)
	}
	seen := 0
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if seen++; seen > maxLook {
			return ErrTooMuch
		}
		switch {
		case err != nil: // what cannot be read here, nobody of this user runs
		case d.IsDir() && slices.Contains(skip, filepath.Join(folder, filepath.FromSlash(p))):
			return fs.SkipDir
		case (d.Name() == ".git" || d.Name() == ".jj" || d.Name() == ".hg") && !d.IsDir():
			k.add(root, p)
		case d.Name() == ".jj":
			k.add(root, below(p, jjFiles)...)
		case d.Name() == ".hg":
			k.add(root, below(p, hgFiles)...)
		case d.Name() == "HEAD" && isRepository(root, path.Dir(p)):
			k.addGit(root, path.Dir(p))
		}
		return nil
	})
	k.Partial = errors.Is(err, ErrTooMuch)
	return k, err
}

// isRepository says whether git takes a folder for a repository's own. What is a link counts: git follows it.
func isRepository(root *os.Root, dir string) bool {
	is := func(name string) bool {
		_, err := root.Lstat(path.Join(dir, name))
		return err == nil
	}
	return is("HEAD") && (is("commondir") || is("objects") && is("refs"))
}

// The files by which repositories say what is run and where the rest is.
var (
	gitFiles = []string{"config", "config.worktree", "commondir", alternates}
	// of a rebase under way: what it does when it goes on
	gitUnderWay = []string{"rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo.backup", "rebase-merge/strategy"}
	jjFiles     = []string{"config.toml", "workspace-config.toml", "workspace-config-id", "repo", "repo/config.toml", "repo/config-id",
		"repo/store/git_target"}
	hgFiles = []string{"hgrc", "hgrc-not-shared", "sharedpath"}
)

func below(dir string, names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, path.Join(dir, n))
	}
	return out
}

// addGit adds what one repository runs.
func (k *Known) addGit(root *os.Root, dir string) {
	k.add(root, append(below(dir, gitFiles), below(dir, gitUnderWay)...)...)
	hooks := path.Join(dir, "hooks")
	if st, err := root.Lstat(hooks); err == nil && !st.IsDir() {
		k.add(root, hooks) // a link to where hooks are
		return
	}
	entries, _ := fs.ReadDir(root.FS(), hooks) // what cannot be read runs for nobody
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sample") {
			k.add(root, path.Join(hooks, e.Name()))
		}
	}
}

func (k *Known) add(root *os.Root, paths ...string) {
	for _, p := range paths {
		st, err := root.Lstat(p)
		if err != nil || st.IsDir() {
			continue
		}
		part := Part{Mode: st.Mode(), Size: st.Size()}
		told := fmt.Sprintf("%v %t %d ", st.Mode().Type(), st.Mode().Perm()&0o111 != 0, st.Size())
		switch {
		case st.Mode()&fs.ModeSymlink != 0:
			to, _ := root.Readlink(p) // gone since: it says nothing
			part.Data = []byte(to)
		case st.Mode().IsRegular() && st.Size() <= maxPart:
			part.Data = small(root, p)
		default:
			told += st.ModTime().UTC().String()
		}
		sum := sha256.Sum256(append([]byte(told), part.Data...))
		part.Sum = hex.EncodeToString(sum[:])
		if k.kept += len(part.Data); k.kept > maxKeeping {
			part.Data = nil
		}
		k.Parts[p] = part
	}
}

// small reads a file that may have become something else since it was looked at: what would keep the reader waiting is not read.
func small(root *os.Root, p string) []byte {
	f, err := root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil // unreadable: it has the sum of nothing
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	data, _ := io.ReadAll(io.LimitReader(f, maxPart)) // what was read of it counts
	return data
}

// Holding notes what a box keeps from being written in the folder that was looked at.
func (k *Known) Holding(folder string, b Box) {
	for i, m := range b.Mounts {
		rel, err := filepath.Rel(folder, m.at())
		if err != nil || m.Write || m.From == "" || !Below(folder, m.at()) {
			continue
		}
		// what lies on top of it can be written
		over := func(later Mount) bool { return later.Write && later.From != "" && Below(m.at(), later.at()) }
		if !slices.ContainsFunc(b.Mounts[i+1:], over) {
			k.Held = append(k.Held, filepath.ToSlash(rel))
		}
	}
}

func (k *Known) held(p string) bool {
	return slices.ContainsFunc(k.Held, func(h string) bool { return p == h || strings.HasPrefix(p, h+"/") })
}

// Since lists what would run or be followed now and would not before. Folder is where both were looked at.
func (k *Known) Since(before *Known, folder string) []Left {
	if before.Partial {
		return nil
	}
	var out []Left
	for p, part := range k.Parts {
		was, had := before.Parts[p]
		if had && was.Sum == part.Sum || before.held(p) {
			continue
		}
		l := Left{Path: p, Part: part}
		if had && was.Data != nil {
			l.Instead = &was
		}
		if isHome(k.Home, p) {
			l.What = "what runs by itself in a home folder"
		} else {
			l.What = runs(folder, p, part, was, &l)
		}
		if l.What != "" {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// runs says what a part could start or lead to; "" is nothing that was not so before.
func runs(folder, p string, part, was Part, l *Left) string {
	name, dir := path.Base(p), path.Dir(p)
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	inside := func(from string) func(place string) bool {
		return func(place string) bool {
			place = filepath.FromSlash(place)
			if !filepath.IsAbs(place) {
				place = filepath.Join(folder, filepath.FromSlash(from), place)
			}
			real, err := filepath.EvalSymlinks(place) // what is not there could come to be anywhere
			return err == nil && Below(folder, real)
		}
	}
	switch {
	case name == "config" || name == "config.worktree":
		clean, names := harmless(part.Data, inside(dir))
		_, before := harmless(was.Data, inside(dir))
		names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(before, n) })
		if len(names) == 0 && part.Mode.IsRegular() && part.Size <= maxPart {
			return ""
		}
		if l.Instead == nil {
			l.Instead = &Part{Mode: 0o644, Data: clean}
		}
		if len(names) == 0 {
			return "settings of git that cannot be read"
		}
		return "settings of git that name programs or places: " + strings.Join(settingNames(names), ", ")
	case slices.Contains([]string{".git", ".jj", ".hg", "commondir", "git_target", "repo", "sharedpath"}, name):
		to := strings.TrimSpace(strings.TrimPrefix(string(part.Data), "gitdir:"))
		if name == "commondir" && path.Base(path.Dir(dir)) != "worktrees" {
			return "a pointer to another repository: " + to // only a worktree's part of one has it
		}
		if part.Mode.IsRegular() && to != "" && inside(dir)(to) {
			return "" // it leads to what is looked at by itself
		}
		return "a pointer to another repository: " + to
	case strings.HasSuffix(p, alternates):
		return borrows(part, was, inside(path.Dir(dir)), l)
	case path.Base(dir) == "rebase-merge":
		return goesOn(name, part, was, l)
	case path.Base(dir) == "hooks" || name == "hooks":
		return "a hook"
	case strings.HasPrefix(name, "hgrc"):
		return "settings of Mercurial"
	}
	return "settings of jj"
}

// SetAside takes what was left out of a folder, and puts back what was there before. A link in the way is not followed out of it.
func SetAside(folder string, left []Left) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	var failed error
	for _, l := range left { // one that fails leaves the others
		failed = errors.Join(failed, put(root, l.Path, l.Instead))
	}
	return failed
}

// PutBack puts what was set aside where it was.
func PutBack(folder, at string, part Part) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return put(root, at, &part)
}

func put(root *os.Root, at string, part *Part) error {
	if err := root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case part == nil:
		return nil
	case part.Mode&fs.ModeSymlink != 0:
		return root.Symlink(string(part.Data), at)
	}
	if err := root.MkdirAll(path.Dir(at), 0o755); err != nil {
		return err
	}
	if err := root.WriteFile(at, part.Data, part.Mode.Perm()); err != nil {
		return err
	}
	return root.Chmod(at, part.Mode.Perm()) // whatever the umask takes
}
