package policy

import "strings"

func components(p string) []string {
	if p == "/" {
		return nil
	}
	return strings.Split(p[1:], "/")
}

// glob is a path pattern: ** stands for any number of components, * for any characters within one.
type glob []string

func newGlob(p string) glob { return components(p) }

// fits looks at the last component first: for nearly every path and pattern that settles it.
func (g glob) fits(path []string) bool {
	if n, m := len(g), len(path); n > 0 && g[n-1] != "**" && (m == 0 || !globWord(g[n-1], path[m-1])) {
		return false
	}
	return globPath(g, path)
}

// globPath matches component by component.
func globPath(pattern, path []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := 0; i <= len(path); i++ {
				if globPath(pattern[1:], path[i:]) {
					return true
				}
			}
			return false
		}
		if len(path) == 0 || !globWord(pattern[0], path[0]) {
			return false
		}
		pattern, path = pattern[1:], path[1:]
	}
	return len(path) == 0
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
