package policy

import (
	"strings"

	"tandem/internal/spelling"
)

func components(p string) []string {
	if p == "/" {
		return nil
	}
	return strings.Split(p[1:], "/")
}

// glob is a path pattern: ** stands for any number of components, * for any characters within one.
type glob []string

func newGlob(p string) glob { return components(p) }

// newSpelledGlob is for folded paths: it fits each by any spelling.
func newSpelledGlob(p string) glob { return components(spelling.Folded(p)) }

// fits looks at the last component first: for nearly every path and pattern that settles it.
func (g glob) fits(path []string) bool {
	if n, m := len(g), len(path); n > 0 && g[n-1] != "**" && (m == 0 || !globWord(g[n-1], path[m-1])) {
		return false
	}
	return globPath(g, path)
}

// globPath matches component by component. Going back to the last ** is enough, as it is for * within a word, so a long path
// takes at most quadratic time.
func globPath(pattern, path []string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(path) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, i
			p++
		case p < len(pattern) && globWord(pattern[p], path[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

// globWord matches * against any run of characters; every other character means itself. It takes linear space and at most
// quadratic time, whatever the pattern.
func globWord(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
