package workcopy

import "strings"

// wildmatch says whether a git pattern matches a whole text. With pathname,
// stars and question marks stop at slashes, and "**" between slashes stands
// for any number of directories.
func wildmatch(pattern, text string, pathname bool) bool {
	m := matcher{pattern, text, pathname, nil}
	return m.match(0, 0)
}

// matcher remembers which pairs of places cannot match, so that many stars
// cost no more than pattern times text.
type matcher struct {
	p, t     string
	pathname bool
	failed   map[[2]int]struct{}
}

func (m *matcher) match(p, t int) bool {
	for p < len(m.p) {
		switch c := m.p[p]; c {
		case '*':
			return m.star(p, t)
		case '?':
			if t >= len(m.t) || m.pathname && m.t[t] == '/' {
				return false
			}
			p, t = p+1, t+1
		case '[':
			if t >= len(m.t) || m.pathname && m.t[t] == '/' {
				return false
			}
			next, ok := matchClass(m.p, p, m.t[t])
			if next < 0 || !ok {
				return false
			}
			p, t = next, t+1
		case '\\':
			p++
			if p == len(m.p) {
				return false
			}
			c = m.p[p]
			fallthrough
		default:
			if t >= len(m.t) || m.t[t] != c {
				return false
			}
			p, t = p+1, t+1
		}
	}
	return t == len(m.t)
}

// star matches from a star on. Failures are remembered by place.
func (m *matcher) star(p, t int) bool {
	key := [2]int{p, t}
	if _, ok := m.failed[key]; ok {
		return false
	}
	if m.tryStar(p, t) {
		return true
	}
	if m.failed == nil {
		m.failed = map[[2]int]struct{}{}
	}
	m.failed[key] = struct{}{}
	return false
}

func (m *matcher) tryStar(p, t int) bool {
	end := p
	for end < len(m.p) && m.p[end] == '*' {
		end++
	}
	slash := !m.pathname
	if m.pathname && end-p >= 2 {
		before := p == 0 || m.p[p-1] == '/'
		after := end == len(m.p) || m.p[end] == '/' || strings.HasPrefix(m.p[end:], `\/`)
		if before && after {
			slash = true
			// "**/" may stand for no directory at all.
			if end < len(m.p) && m.p[end] == '/' && m.match(end+1, t) {
				return true
			}
		}
	}
	if end == len(m.p) {
		return slash || !strings.Contains(m.t[t:], "/")
	}
	for ; ; t++ {
		if m.match(end, t) {
			return true
		}
		if t >= len(m.t) || !slash && m.t[t] == '/' {
			return false
		}
	}
}

// matchClass matches one byte against a class that starts at p, and gives the
// place behind it, or -1 when the class has no end.
func matchClass(pattern string, p int, c byte) (next int, ok bool) {
	i := p + 1
	negated := false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		negated = true
		i++
	}
	matched := false
	for first := true; ; first = false {
		if i >= len(pattern) {
			return -1, false
		}
		if pattern[i] == ']' && !first {
			return i + 1, matched != negated
		}
		if strings.HasPrefix(pattern[i:], "[:") {
			end := strings.Index(pattern[i+2:], ":]")
			if end < 0 {
				return -1, false
			}
			in, known := inNamedClass(pattern[i+2:i+2+end], c)
			if !known {
				return -1, false
			}
			matched = matched || in
			i += end + 4
			continue
		}
		lo := pattern[i]
		if lo == '\\' {
			if i++; i >= len(pattern) {
				return -1, false
			}
			lo = pattern[i]
		}
		hi := lo
		if i+2 < len(pattern) && pattern[i+1] == '-' && pattern[i+2] != ']' {
			i += 2
			if hi = pattern[i]; hi == '\\' {
				if i++; i >= len(pattern) {
					return -1, false
				}
				hi = pattern[i]
			}
		}
		matched = matched || lo <= c && c <= hi
		i++
	}
}

func inNamedClass(name string, c byte) (in, known bool) {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return c > ' ' && c < 0x7f, true
	case "lower":
		return lower, true
	case "print":
		return c >= ' ' && c < 0x7f, true
	case "punct":
		return c > ' ' && c < 0x7f && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r', true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F', true
	}
	return false, false
}
