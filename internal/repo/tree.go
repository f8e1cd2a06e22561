package repo

import (
	"cmp"
	"slices"
	"strings"
)

// Kind is what a tree's entry is.
type Kind uint8

// The kinds of entry. Absent is the zero value: there is no such entry.
const (
	Absent Kind = iota
	File
	Executable
	Symlink
	Subtree
	Submodule
)

// TreeValue is what a name in a tree stands for; the zero value is absence.
type TreeValue struct {
	Kind Kind
	ID   string // raw bytes of the blob, tree or (for a submodule) commit
}

// IsTree says whether the value is a directory.
func (v TreeValue) IsTree() bool { return v.Kind == Subtree }

// IsFile says whether the value is a regular file, executable or not.
func (v TreeValue) IsFile() bool { return v.Kind == File || v.Kind == Executable }

// IsAbsent says whether there is nothing.
func (v TreeValue) IsAbsent() bool { return v.Kind == Absent }

// TreeID is the id of the directory v is; call it only then.
func (v TreeValue) TreeID() TreeID { return TreeID(v.ID) }

// FileID is the id of the file or symlink v is.
func (v TreeValue) FileID() FileID { return FileID(v.ID) }

// Entry is a name in a directory.
type Entry struct {
	Name  string
	Value TreeValue
}

// Tree is a directory: entries sorted by name, bytewise. (Git sorts
// directories as if their names ended in a slash; the codec converts.)
type Tree []Entry

// Value is the entry of that name, or absence.
func (t Tree) Value(name string) TreeValue {
	i, ok := slices.BinarySearchFunc(t, name, func(e Entry, n string) int { return cmp.Compare(e.Name, n) })
	if !ok {
		return TreeValue{}
	}
	return t[i].Value
}

// SortTree puts entries into order.
func SortTree(t Tree) {
	byName := func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(t, byName) {
		slices.SortFunc(t, byName)
	}
}

// Path names a file from the root of the tree: components joined by "/". The
// root is "".
type Path string

// ComparePaths orders paths by component, so that a directory's files stand
// together: "a/b" comes before "a.c".
func ComparePaths(a, b Path) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x == '/' {
			return -1
		}
		if y == '/' {
			return 1
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}

// Join is the path of a name inside a directory.
func (p Path) Join(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "/" + Path(name)
}

// Split is the directory and the last component.
func (p Path) Split() (dir Path, name string) {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return "", string(p)
	}
	return p[:i], string(p[i+1:])
}

// Contains says whether o is p or lies below it.
func (p Path) Contains(o Path) bool {
	return p == "" || o == p || (len(o) > len(p) && o[len(p)] == '/' && o[:len(p)] == p)
}

// Components lists the names along the path.
func (p Path) Components() []string {
	if p == "" {
		return nil
	}
	return strings.Split(string(p), "/")
}

// CheckName says why a name cannot stand in a tree that is to be checked out,
// or "" when it can: it must not climb, hide a repository, or split.
func CheckName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name == "." || name == "..":
		return "climbs"
	case strings.ContainsAny(name, "/\x00"):
		return "holds a separator"
	case hidesRepository(name):
		return "is reserved for a repository"
	}
	return ""
}

// hidesRepository says whether some system takes a name for a repository's folder.
// Windows folds case, drops blanks and dots at the end, takes a backslash for a
// separator and what follows a colon for a stream, and has short names; the Mac
// folds case and ignores some characters. What is committed here is checked out
// there, so all of it counts everywhere.
func hidesRepository(name string) bool {
	for _, part := range strings.Split(name, "\\") {
		part = SeenName(part)
		for _, reserved := range []string{".git", "git~1", ".jj", "jj~1"} {
			if strings.EqualFold(part, reserved) {
				return true
			}
		}
	}
	return false
}

// SeenName is a name, up to case, as the least particular file system sees it:
// without what Windows drops at the end and behind a colon, and without the
// characters that the Mac ignores.
func SeenName(name string) string {
	plain := strings.Map(func(c rune) rune {
		if unseen(c) {
			return -1
		}
		return c
	}, name)
	plain, _, _ = strings.Cut(plain, ":")
	return strings.TrimRight(plain, " .")
}

// unseen are the characters that the Mac's file system ignores in names.
func unseen(c rune) bool {
	return c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff
}
