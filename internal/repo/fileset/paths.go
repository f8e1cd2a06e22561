package fileset

import (
	"fmt"
	"path/filepath"
	"strings"

	"tandem/internal/repo"
)

// Paths translates between the paths people type in a directory and the paths
// of the repository. Both directories are absolute.
type Paths struct{ Cwd, Root string }

// PathError says that a typed path is outside of the repository.
type PathError struct {
	Input, Base string
	Source      error
}

// Error is the sentence for people.
func (e *PathError) Error() string {
	return fmt.Sprintf("Path %q is not in the repo %q", e.Input, e.Base)
}

// Unwrap returns what is wrong with the path.
func (e *PathError) Unwrap() error { return e.Source }

// Parse reads a typed path.
func (p Paths) Parse(input string) (repo.Path, error) {
	abs := input
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(p.Cwd, filepath.FromSlash(input))
	}
	abs = filepath.Clean(abs)
	rel, err := filepath.Rel(p.Root, abs)
	if err == nil {
		var out repo.Path
		if out, err = Inside(filepath.ToSlash(rel)); err == nil {
			return out, nil
		}
	}
	base, rerr := filepath.Rel(p.Cwd, p.Root)
	if rerr != nil {
		base = p.Root
	}
	return "", &PathError{Input: input, Base: base, Source: err}
}

// Inside reads a path relative to the root of the repository.
func Inside(input string) (repo.Path, error) {
	var parts []string
	if filepath.IsAbs(input) {
		return "", fmt.Errorf("Invalid component %q in repo-relative path %q", "/", input)
	}
	for _, c := range strings.Split(input, "/") {
		switch c {
		case "", ".":
		case "..":
			return "", fmt.Errorf("Invalid component %q in repo-relative path %q", c, input)
		default:
			parts = append(parts, c)
		}
	}
	return repo.Path(strings.Join(parts, "/")), nil
}

// Format shows a repository path from the current directory.
func (p Paths) Format(path repo.Path) string {
	abs := filepath.Join(p.Root, filepath.FromSlash(string(path)))
	rel, err := filepath.Rel(p.Cwd, abs)
	if err != nil {
		return abs
	}
	return rel
}

// FormatCopy shows a rename or copy with the common ends written once, as in
// "dir/{old => new}/file".
func (p Paths) FormatCopy(from, to repo.Path) string {
	a, b := p.Format(from), p.Format(to)
	sep := string(filepath.Separator)
	pre := 0
	for {
		i := strings.Index(a[pre:], sep)
		if i < 0 || !strings.HasPrefix(b[pre:], a[pre:pre+i+1]) {
			break
		}
		pre += i + 1
	}
	if a == b {
		return b
	}
	start := max(0, pre-1)
	suf := 0
	ra, rb := a[start:], b[start:]
	for {
		i, j := strings.LastIndex(ra, sep), strings.LastIndex(rb, sep)
		if i < 0 || j < 0 || ra[i:] != rb[j:] {
			break
		}
		suf += len(ra) - i
		ra, rb = ra[:i], rb[:j]
	}
	mid := func(s string) string {
		if pre > len(s)-suf {
			return ""
		}
		return s[pre : len(s)-suf]
	}
	return b[:pre] + "{" + mid(a) + " => " + mid(b) + "}" + b[len(b)-suf:]
}
