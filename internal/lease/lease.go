// Package lease knows what a leased path covers: one spelling for each path, the
// folders above it, and whether two leases get in each other's way. Who holds
// what, and until when, is kept by repo/host and space.
package lease

import (
	"path"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/spelling"
)

const (
	maxPath  = 1000
	maxParts = 64
)

// Clean is the one spelling of a path inside a project: src/./f, src//f and
// src\f are src/f. A * stands for anything within a name, ? for one character,
// ** for any folders.
func Clean(p string) (string, error) {
	q := strings.ReplaceAll(p, "\\", "/")
	parts := strings.Split(q, "/")
	clean := path.Clean(q)
	if q == "" || strings.HasPrefix(q, "/") || slices.Contains(parts, "..") || clean == "." || len(clean) > maxPath ||
		strings.Count(clean, "/") >= maxParts || strings.ContainsFunc(clean, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fault.New(fault.Invalid, "lease", "%q is not a path inside the project", clip(p)).
			WithNext("name it relative to the project's root, e.g. internal/auth/token.go")
	}
	return clean, nil
}

func clip(s string) string { return fault.Clip(s, 80) }

// Split parts a leased path where its pattern begins: the folder or file that it
// begins with by name, "" where it begins with none, and the pattern in that.
func Split(p string) (plain, pattern string) {
	parts := strings.Split(p, "/")
	i := slices.IndexFunc(parts, wild)
	if i < 0 {
		return p, ""
	}
	return strings.Join(parts[:i], "/"), strings.Join(parts[i:], "/")
}

// Above are the folders that a path lies in, the nearest first, as far as they
// are known by name.
func Above(p string) []string {
	var out []string
	for i := strings.LastIndexByte(p, '/'); i > 0; i = strings.LastIndexByte(p, '/') {
		p = p[:i]
		if !wild(p) {
			out = append(out, p)
		}
	}
	return out
}

// Covers says whether a file lies in what is leased: it is the path, or below it.
func Covers(leased, file string) bool {
	return meet(strings.Split(leased, "/"), strings.Split(file, "/"), true)
}

// Overlap says whether two leases may cover one file. Of two patterns that might,
// it says so.
func Overlap(a, b string) bool {
	return meet(strings.Split(a, "/"), strings.Split(b, "/"), false)
}

// meet compares part by part; where one is at its end, it covers all that is
// below. A plain b is a file, whose name has no patterns, and which must be
// reached. Each pair of places is looked at once, so that many ** cost little.
func meet(a, b []string, plain bool) bool {
	seen := map[[2]int]bool{}
	var at func(i, j int) bool
	at = func(i, j int) bool {
		switch {
		case i == len(a):
			return true
		case j == len(b):
			return !plain || !slices.ContainsFunc(a[i:], func(s string) bool { return s != "**" })
		case seen[[2]int{i, j}]:
			return false
		}
		seen[[2]int{i, j}] = true
		if a[i] == "**" {
			return at(i+1, j) || at(i, j+1)
		}
		if !plain && b[j] == "**" {
			return at(i, j+1) || at(i+1, j)
		}
		return same(a[i], b[j], plain) && at(i+1, j+1)
	}
	return at(0, 0)
}

func wild(s string) bool { return strings.ContainsAny(s, "*?") }

func same(a, b string, plain bool) bool {
	switch {
	case plain || !wild(b):
		return matches(a, b)
	case !wild(a):
		return matches(b, a)
	}
	return true // two patterns: perhaps
}

// matches is a pattern of one name, where * is anything and ? one character. Names that are one file where case does not count (macOS,
// Windows) are one everywhere: whoever leased auth.rs has leased Auth.rs.
func matches(pattern, name string) bool {
	if !wild(pattern) {
		return spelling.Folded(pattern) == spelling.Folded(name)
	}
	p, n := []rune(spelling.Folded(pattern)), []rune(spelling.Folded(name))
	star, from := -1, 0
	i, j := 0, 0
	for j < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[j]):
			i++
			j++
		case star >= 0: // let the last * take one more
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
