package box

import (
	"os"
	"path/filepath"
	"strings"
)

// Worktrees shows the repository of the worktree that is worked in, at or above the box's own folder in one of these.
func (b *Box) Worktrees(folders ...string) {
	for _, folder := range folders {
		for at := b.Dir; Below(folder, at); at = filepath.Dir(at) {
			b.Worktree(at)
			if at == filepath.Dir(at) {
				break
			}
		}
	}
}

// Worktree shows a worktree of git the repository that it belongs to, where that lies outside of what the box shows: all of it to be read,
// and to be
// changed only what its own commands change: objects, refs, their logs, and the worktree's own part. The repository itself must name
// the worktree: a pointer that somebody wrote into a folder shows nothing.
func (b *Box) Worktree(folder string) {
	pointer := filepath.Join(folder, ".git")
	own, ok := pointsTo(pointer, "gitdir:")
	if !ok || b.covers(pointer) {
		return
	}
	back, ok := pointsTo(filepath.Join(own, "gitdir"), "")
	if !ok || back != pointer {
		return
	}
	common, ok := pointsTo(filepath.Join(own, "commondir"), "")
	if !ok || filepath.Dir(own) != filepath.Join(common, "worktrees") || b.shows(common) {
		return
	}
	b.Mounts = append(b.Mounts, Mount{From: common})
	for _, name := range []string{"objects", "refs", "logs"} {
		at := filepath.Join(common, name)
		_ = os.Mkdir(at, 0o755) // logs may be missing; where it cannot be made nothing is logged
		b.Mounts = append(b.Mounts, Mount{From: at, Write: true, Optional: true})
	}
	// Objects of another repository would be this one's: whoever works outside, and may read that one, would bring them in.
	info := filepath.Join(common, "objects", "info")
	_ = os.Mkdir(info, 0o755) // where it cannot be made the program cannot either
	b.Mounts = append(b.Mounts, Mount{From: info, Optional: true}, Mount{From: own, Write: true})
	for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
		b.Mounts = append(b.Mounts, Mount{From: filepath.Join(own, name), Optional: true})
	}
}

// Parts are the worktrees' own parts of repositories that lie elsewhere, which the box lets be written.
func (b *Box) Parts() (out []string) {
	for _, m := range b.Mounts {
		if m.Write && filepath.Base(filepath.Dir(m.From)) == "worktrees" && isFile(filepath.Join(m.From, "commondir")) {
			out = append(out, m.From)
		}
	}
	return out
}

// StoreOf is where the repository of a checkout lies, if that is elsewhere; "" if not.
func StoreOf(checkout string) string {
	store, ok := pointsTo(filepath.Join(checkout, ".git"), "gitdir:")
	if !ok {
		return ""
	}
	if common, ok := pointsTo(filepath.Join(store, "commondir"), ""); ok {
		return common
	}
	return store
}

// pointsTo is the real place that a file names after a word.
func pointsTo(file, word string) (string, bool) {
	if !isFile(file) {
		return "", false
	}
	text := readSmall(file)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), word)
	if to = filepath.FromSlash(strings.TrimSpace(to)); !ok || to == "" {
		return "", false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	if isFile(to) { // a worktree's own .git
		dir, err := filepath.EvalSymlinks(filepath.Dir(to))
		return filepath.Join(dir, filepath.Base(to)), err == nil
	}
	real, err := filepath.EvalSymlinks(to)
	return real, err == nil
}

// readSmall reads a file that says something in a few words, without waiting for one that never ends.
func readSmall(file string) []byte {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil
	}
	defer root.Close()
	return small(root, filepath.Base(file))
}

// shows says whether a mount shows a place, and covers whether one hides it.
func (b *Box) shows(place string) bool {
	for _, m := range b.Mounts {
		if m.From != "" && Below(m.at(), place) {
			return true
		}
	}
	return false
}

func (b *Box) covers(place string) bool {
	for _, m := range b.Masks {
		if Below(m, place) {
			return true
		}
	}
	for _, m := range b.Mounts {
		if (m.From == "" || m.From == os.DevNull) && Below(m.at(), place) {
			return true
		}
	}
	return false
}
