package workcopy

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"tandem/internal/repo"
)

// Ignores is what git's ignore files say, the deepest file first. It is
// immutable; With adds a file for a directory and below.
type Ignores struct {
	parent   *Ignores
	dir      repo.Path
	patterns []pattern
}

// pattern is one line of an ignore file.
type pattern struct {
	text     string
	negated  bool
	dirOnly  bool
	anchored bool // holds a slash: matched against the whole path
}

// With adds the text of an ignore file that stands in dir.
func (g *Ignores) With(dir repo.Path, text []byte) *Ignores {
	patterns := parseIgnore(string(text))
	if len(patterns) == 0 {
		return g
	}
	return &Ignores{parent: g, dir: dir, patterns: patterns}
}

// WithFile adds an ignore file if it is there and a file.
func (g *Ignores) WithFile(dir repo.Path, path string) (*Ignores, error) {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return g, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return g, nil
		}
		return nil, err
	}
	return g.With(dir, text), nil
}

func parseIgnore(text string) []pattern {
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	var out []pattern
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		var p pattern
		if line[0] == '!' {
			p.negated = true
			line = line[1:]
		}
		line = trimSpaces(line)
		if strings.HasSuffix(line, "/") {
			p.dirOnly = true
			line = line[:len(line)-1]
		}
		if line == "" {
			continue
		}
		p.anchored = strings.Contains(line, "/")
		p.text = strings.TrimPrefix(line, "/")
		out = append(out, p)
	}
	return out
}

// trimSpaces takes away trailing spaces that no backslash protects.
func trimSpaces(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		end--
	}
	if end == len(line) {
		return line
	}
	slashes := 0
	for slashes < end && line[end-1-slashes] == '\\' {
		slashes++
	}
	if slashes%2 == 1 {
		end++
	}
	return line[:end]
}

// Match says whether the last line that applies to a path ignores it. The
// caller asks for directories before what is in them, and does not ask inside
// ignored ones.
func (g *Ignores) Match(path repo.Path, isDir bool) bool {
	for f := g; f != nil; f = f.parent {
		if path == f.dir || !f.dir.Contains(path) {
			continue
		}
		rel := string(path)
		if f.dir != "" {
			rel = rel[len(f.dir)+1:]
		}
		base := rel[strings.LastIndexByte(rel, '/')+1:]
		for i := len(f.patterns) - 1; i >= 0; i-- {
			if p := &f.patterns[i]; p.match(rel, base, isDir) {
				return !p.negated
			}
		}
	}
	return false
}

func (p *pattern) match(rel, base string, isDir bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	if p.anchored {
		// Git compares the part before the first wildcard by itself and what
		// follows as a pattern of its own, which "ab**/" notices.
		literal := strings.IndexAny(p.text, `*?[\`)
		if literal < 0 {
			return rel == p.text
		}
		rest, ok := strings.CutPrefix(rel, p.text[:literal])
		return ok && wildmatch(p.text[literal:], rest, true)
	}
	return wildmatch(p.text, base, false)
}
