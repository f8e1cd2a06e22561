package box

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// How far repositories are looked for below a folder, and how many mounts of one box keep them: bubblewrap reads its list of
// mounts again for each of them, and 1000 take it seconds. A repository needs four.
const (
	maxLooked = 300_000
	maxKept   = 600
)

// Keep lays over the folders of a box, which shows them already, what version control would run or follow outside of it later. Every .git
// and .jj in them is a mount of its own, and so is every folder above one, so that none can be moved aside; hooks, configuration and
// pointers to other repositories are read-only. A repository that is made later it does not know. Where there is more than it can look
// through, it keeps what it found and says so with an Exhausted fault.
func (b *Box) Keep(folders ...string) error {
	k := &keeper{box: b, found: map[string]Mount{}}
	for _, folder := range folders {
		for at := b.Dir; at != folder && Below(folder, at); at = filepath.Dir(at) { // the one that is worked in comes first
			k.root(at)
		}
	}
	for _, folder := range folders {
		k.home(folder, b.Home)
		k.look(folder)
	}
	k.lay()
	if k.full != "" {
		return fault.New(fault.Exhausted, "sandbox",
			"%s holds more files or repositories than can be looked through for what git would run later", k.full).
			WithNext("grant the folder that the work needs instead")
	}
	return nil
}

type keeper struct {
	box    *Box
	found  map[string]Mount // by place
	looked int
	full   string // the folder in which a bound was reached
}

// look finds the repositories at and below a folder, those that lie less deep first.
func (k *keeper) look(folder string) {
	for queue := []string{folder}; len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		all, err := os.ReadDir(dir)
		if err != nil {
			continue // what cannot be read the program cannot change either
		}
		if k.looked += len(all); k.looked > maxLooked || len(k.found) > maxKept {
			k.full = folder
			return
		}
		if bare(all) { // also what --separate-git-dir made
			k.git(dir)
			continue
		}
		k.root(dir)
		for _, e := range all {
			if e.IsDir() && e.Name() != ".git" && e.Name() != ".jj" {
				queue = append(queue, filepath.Join(dir, e.Name()))
			}
		}
	}
}

// bare says whether a folder with these entries is a repository without files of its own.
func bare(all []fs.DirEntry) bool {
	has := 0
	for _, e := range all {
		if e.Name() == "HEAD" && !e.IsDir() || (e.Name() == "objects" || e.Name() == "refs") && e.IsDir() {
			has++
		}
	}
	return has == 3
}

// root keeps the repository whose files lie in a folder.
func (k *keeper) root(folder string) {
	switch at := filepath.Join(folder, ".git"); {
	case isDir(at):
		k.git(at)
	case isFile(at): // of a worktree, a submodule or a separate repository: it says where that is
		k.read(at)
		k.pointed(at, "gitdir:")
	default:
		if real, err := filepath.EvalSymlinks(at); err == nil && isDir(real) { // the link itself can be replaced
			k.git(real)
		}
	}
	jj := filepath.Join(folder, ".jj")
	if !isDir(jj) {
		return
	}
	k.write(jj)
	for _, name := range []string{"config.toml", "workspace-config.toml", "workspace-config-id",
		"repo", "repo/config.toml", "repo/config-id", "repo/store/git_target"} {
		k.read(filepath.Join(jj, filepath.FromSlash(name)))
	}
	k.pointed(filepath.Join(jj, "repo", "store", "git_target"), "")
	if git := filepath.Join(jj, "repo", "store", "git"); isDir(git) {
		k.git(git)
	}
}

// pointed keeps the repository that a file names after a word.
func (k *keeper) pointed(file, word string) {
	if real, ok := pointsTo(file, word); ok && isDir(real) {
		k.git(real)
	}
}

// git keeps the parts of one repository that run or name programs, and those of its worktrees and submodules.
func (k *keeper) git(git string) {
	if _, known := k.found[git]; known {
		return
	}
	if _, write := k.over(git); !write {
		return // it is not there to be changed
	}
	k.write(git)
	text := readSmall(filepath.Join(git, "config")) // one that cannot be read git cannot read either
	split := strings.Contains(strings.ToLower(string(text)), "worktreeconfig")
	k.parts(git, split)
	if hooks := filepath.Join(git, "hooks"); !there(filepath.Join(git, "commondir")) { // a worktree's are the repository's
		_ = os.Mkdir(hooks, 0o755) // so that none can be made; where this fails the program cannot either
		if isDir(hooks) {
			k.found[hooks] = Mount{From: hooks}
		}
	}
	worktrees, _ := filepath.Glob(filepath.Join(quoted.Replace(git), "worktrees", "*")) // what cannot be read the program cannot change either
	for _, w := range worktrees {
		if len(k.found) > maxKept {
			k.full = git
			break
		}
		k.parts(w, split)
	}
	k.pointed(filepath.Join(git, "commondir"), "")
	k.modules(filepath.Join(git, "modules"))
}

// quoted makes a path mean itself in a pattern.
var quoted = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// parts keeps the files by which a repository, or a worktree's part of one, says what is run and where the rest is. Git follows a commondir
// wherever one is; an empty file in its place would stop git, so one that a program makes is taken away when it has ended. split says that
// git also reads a config.worktree, which may be empty.
func (k *keeper) parts(dir string, split bool) {
	if split {
		if f, err := os.OpenFile(filepath.Join(dir, "config.worktree"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
			f.Close()
		}
	}
	for _, name := range []string{"config", "config.worktree", "commondir", "gitdir", filepath.Join("info", "attributes"),
		filepath.FromSlash(alternates)} {
		k.read(filepath.Join(dir, name))
	}
	if at := filepath.Join(dir, "commondir"); !there(at) {
		k.box.absent = append(k.box.absent, at)
	}
}

// modules keeps the repositories of submodules, whose names may have slashes.
func (k *keeper) modules(dir string) {
	all, err := os.ReadDir(dir)
	if k.looked += len(all); k.looked > maxLooked || len(k.found) > maxKept {
		k.full = dir
	}
	if err != nil || k.full != "" {
		return
	}
	if bare(all) {
		k.git(dir)
		return
	}
	for _, e := range all {
		if e.IsDir() {
			k.modules(filepath.Join(dir, e.Name()))
		}
	}
}

func (k *keeper) read(file string) {
	if isFile(file) {
		k.found[file] = Mount{From: file}
	}
}

func (k *keeper) write(folder string) { k.found[folder] = Mount{From: folder, Write: true} }

// over is the mount by which the box shows a place, and whether the place can be changed there.
func (k *keeper) over(place string) (at int, write bool) {
	for at = len(k.box.Mounts) - 1; at >= 0; at-- {
		if m := k.box.Mounts[at]; Below(m.at(), place) {
			return at, m.Write && m.From != "" && m.From == m.at()
		}
	}
	return -1, false
}

// lay puts what was found into the box, each right over the mount that shows its place: what lies on top of that stays on top, so nothing
// that is hidden or read-only comes back. A folder that could be renamed would take along what is kept in it, and leave its name to
// another, so every one on the way is a mount as well.
func (k *keeper) lay() {
	over := map[int][]Mount{}
	for _, place := range slices.Collect(maps.Keys(k.found)) {
		at, write := k.over(place)
		if !write {
			continue
		}
		for up, top := filepath.Dir(place), k.box.Mounts[at].at(); up != top && Below(top, up); up = filepath.Dir(up) {
			if _, known := k.found[up]; !known {
				k.write(up)
			}
		}
	}
	for place, m := range k.found {
		at, write := k.over(place)
		m.Optional = true // one that is gone by then needs no keeping
		if write && (!m.Write || place != k.box.Mounts[at].at()) {
			over[at] = append(over[at], m)
		}
	}
	var out []Mount
	for i, m := range k.box.Mounts {
		slices.SortFunc(over[i], func(a, b Mount) int { return strings.Compare(a.From, b.From) }) // outer ones first
		out = append(append(out, m), over[i]...)
	}
	k.box.Mounts = out
}

func isDir(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}

func isFile(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular()
}
