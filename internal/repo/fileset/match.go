package fileset

import (
	"path/filepath"
	"regexp"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/pattern"
)

// Set is a resolved expression: it matches paths of files.
type Set struct {
	op   byte // 'a' all, 'n' none, 'f' file, 'p' prefix, 'g' glob, 'G' prefix glob, '|', '&', '-'
	path repo.Path
	glob *regexp.Regexp
	text string
	args []*Set
}

// All matches every file.
func All() *Set { return &Set{op: 'a'} }

// None matches no file.
func None() *Set { return &Set{op: 'n'} }

// Union matches what any of the sets matches.
func Union(sets ...*Set) *Set {
	switch len(sets) {
	case 0:
		return None()
	case 1:
		return sets[0]
	}
	return &Set{op: '|', args: sets}
}

// Intersect matches what both match.
func Intersect(a, b *Set) *Set { return &Set{op: '&', args: []*Set{a, b}} }

// Minus matches what a matches and b does not.
func Minus(a, b *Set) *Set { return &Set{op: '-', args: []*Set{a, b}} }

// IsAll says whether everything matches without looking.
func (s *Set) IsAll() bool { return s.op == 'a' || s.op == 'p' && s.path == "" }

// Match reports whether the file at path is in the set.
func (s *Set) Match(path repo.Path) bool {
	switch s.op {
	case 'a':
		return true
	case 'f':
		return path == s.path
	case 'p':
		return s.path.Contains(path)
	case 'g':
		rest, ok := below(s.path, path)
		return ok && s.glob.MatchString(string(rest))
	case 'G':
		rest, ok := below(s.path, path)
		if !ok {
			return false
		}
		for p := rest; p != ""; p, _ = p.Split() {
			if s.glob.MatchString(string(p)) {
				return true
			}
		}
		return false
	case '|':
		for _, a := range s.args {
			if a.Match(path) {
				return true
			}
		}
		return false
	case '&':
		return s.args[0].Match(path) && s.args[1].Match(path)
	case '-':
		return s.args[0].Match(path) && !s.args[1].Match(path)
	}
	return false
}

func below(dir, path repo.Path) (repo.Path, bool) {
	if dir == "" {
		return path, true
	}
	if !dir.Contains(path) || len(path) <= len(dir) {
		return "", false
	}
	return path[len(dir)+1:], true
}

// Visit reports whether anything below a directory could match. It may say
// yes too often, never no wrongly.
func (s *Set) Visit(dir repo.Path) bool {
	switch s.op {
	case 'n':
		return false
	case 'f':
		return dir != s.path && dir.Contains(s.path)
	case 'p', 'g', 'G':
		return dir.Contains(s.path) || s.path.Contains(dir)
	case '|':
		for _, a := range s.args {
			if a.Visit(dir) {
				return true
			}
		}
		return false
	case '&':
		return s.args[0].Visit(dir) && s.args[1].Visit(dir)
	case '-':
		return s.args[0].Visit(dir)
	}
	return true
}

// Paths lists the explicit paths in the expression, in order, for warnings
// about paths that match nothing.
func (s *Set) Paths() []repo.Path {
	switch s.op {
	case 'f', 'p':
		return []repo.Path{s.path}
	}
	var out []repo.Path
	for _, a := range s.args {
		out = append(out, a.Paths()...)
	}
	return out
}

// Resolve turns a tree, aliases already expanded, into a set.
func Resolve(n *dsl.Node, paths Paths) (out *Set, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		var err error
		out, err = resolve(n, paths)
		return err
	})
	return out, err
}

func resolve(n *dsl.Node, paths Paths) (*Set, error) {
	bad := func(err error) error {
		if _, ok := err.(*dsl.Error); ok {
			return err
		}
		return dsl.Exprf(n.Span, "Invalid file pattern").With(err)
	}
	switch n.Kind {
	case dsl.Ident, dsl.String:
		s, err := newPattern(paths, "prefix-glob", n.Name)
		if err != nil {
			return nil, bad(err)
		}
		return s, nil
	case dsl.Pattern:
		value, err := literal(n.Args[0])
		if err != nil {
			return nil, err
		}
		s, err := newPattern(paths, n.Name, value)
		if err != nil {
			return nil, bad(err)
		}
		return s, nil
	case dsl.Unary:
		arg, err := Resolve(n.Args[0], paths)
		if err != nil {
			return nil, err
		}
		return Minus(All(), arg), nil
	case dsl.Binary, dsl.Union:
		args := make([]*Set, len(n.Args))
		for i, a := range n.Args {
			s, err := Resolve(a, paths)
			if err != nil {
				return nil, err
			}
			args[i] = s
		}
		switch {
		case n.Kind == dsl.Union:
			return Union(args...), nil
		case n.Op == dsl.Intersection:
			return Intersect(args[0], args[1]), nil
		}
		return Minus(args[0], args[1]), nil
	case dsl.Call:
		return function(n)
	}
	return nil, dsl.Exprf(n.Span, "Unexpected expression")
}

func function(n *dsl.Node) (*Set, error) {
	switch n.Name {
	case "all", "none":
		if _, err := n.Expect(0, 0); err != nil {
			return nil, err
		}
		if n.Name == "all" {
			return All(), nil
		}
		return None(), nil
	}
	err := dsl.NewError(dsl.NoSuchFunction, n.NameSpan, "Function `%s` doesn't exist", n.Name)
	err.Name, err.Candidates = n.Name, dsl.Similar(n.Name, []string{"all", "none"})
	return nil, err
}

func literal(n *dsl.Node) (s string, err error) {
	err = dsl.Catch(n, func(n *dsl.Node) error {
		if n.Kind != dsl.Ident && n.Kind != dsl.String {
			return dsl.Exprf(n.Span, "Expected string")
		}
		s = n.Name
		return nil
	})
	return s, err
}

func newPattern(paths Paths, kind, input string) (*Set, error) {
	base, fold := strings.CutSuffix(kind, "-i")
	parse := paths.Parse
	switch {
	case base == "root" && !fold:
		p, err := Inside(input)
		return &Set{op: 'p', path: p}, err
	case base == "root-file" && !fold:
		p, err := Inside(input)
		return &Set{op: 'f', path: p}, err
	case base == "cwd" && !fold:
		p, err := paths.Parse(input)
		return &Set{op: 'p', path: p}, err
	case (base == "cwd-file" || base == "file") && !fold:
		p, err := paths.Parse(input)
		return &Set{op: 'f', path: p}, err
	case base == "root-glob", base == "root-prefix-glob":
		parse = Inside
	case base == "glob", base == "cwd-glob", base == "prefix-glob", base == "cwd-prefix-glob":
	default:
		return nil, KindError(kind)
	}
	prefix := strings.Contains(base, "prefix")
	dir, rest := splitGlob(input, fold)
	at, err := parse(dir)
	if err != nil {
		return nil, err
	}
	if rest == "" {
		if prefix {
			return &Set{op: 'p', path: at}, nil
		}
		return &Set{op: 'f', path: at}, nil
	}
	norm, err := Inside(filepath.ToSlash(rest))
	if err != nil {
		return nil, err
	}
	re, err := pattern.Glob(string(norm), fold)
	if err != nil {
		return nil, err
	}
	op := byte('g')
	if prefix {
		op = 'G'
	}
	return &Set{op: op, path: at, glob: re, text: string(norm)}, nil
}

// splitGlob parts the leading components without wildcards from the rest.
func splitGlob(input string, fold bool) (dir, rest string) {
	at := 0
	for at < len(input) {
		end := strings.IndexByte(input[at:], '/')
		part := input[at:]
		if end >= 0 {
			part = input[at : at+end+1]
		}
		if strings.ContainsAny(part, `?*[]{}\`) || fold &&
			strings.ContainsFunc(part, func(r rune) bool { return r < 0x80 && dsl.Alpha(byte(r)) }) {
			break
		}
		at += len(part)
	}
	return input[:at], input[at:]
}

// Single returns the only path of a set that is one plain path.
func (s *Set) Single() (repo.Path, bool) {
	if s.op == 'f' || s.op == 'p' {
		return s.path, true
	}
	return "", false
}

// KindError says that there is no such kind of pattern for files.
type KindError string

// Error is the sentence for people.
func (e KindError) Error() string { return "Invalid file pattern kind `" + string(e) + ":`" }
