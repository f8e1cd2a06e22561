package policy

import (
	"path"
	"slices"
	"strings"

	"tandem/internal/spelling"
)

// Facts are what a tool call is known to touch, taken from its typed arguments by the tool itself. A nil *Facts means that
// nobody knows: then nothing that depends on arguments is allowed, and everything that depends on them is denied.
type Facts struct {
	// Paths are absolute, with slashes, and free of . and .. components.
	Paths []string
	// Commands are the programs that will run, each as its words. See Commands to get them from a shell line.
	Commands [][]string
	// Hosts are names or addresses without port.
	Hosts []string
	// Opaque says that more will happen than is listed, such as a shell line that could not be read.
	Opaque bool

	// Runs, Named and Reached are the commands, paths and hosts that a generous reading finds in a shell line, for denials. Unread says
	// that it could not follow all of the line.
	Runs    [][]string
	Named   []string
	Reached []string
	Unread  bool
	// Boxed says that a sandbox hides from the call every file that policy keeps from the caller: what it denies of files needs no
	// reading. Offline says that the call reaches no host.
	Boxed   bool
	Offline bool
	// Within are the folders that a sandbox keeps the call in; none when there is no such bound.
	Within []string
}

// toolPattern is the compiled form of name or name(fact: value; fact: value). The name may hold *, which also crosses dots.
//
//	edit
//	mcp.github.*
//	bash(command: git log)
//	read(path: /code/**)
//	webfetch(host: *.example.org; host: example.org)
//
// Several values of one fact are alternatives; several facts must all hold.
type toolPattern struct {
	text     string
	name     string
	paths    []glob
	lowPaths []glob // the same, for folded paths
	commands [][]string
	hosts    []string
}

func (t *toolPattern) bound() bool { return len(t.paths)+len(t.commands)+len(t.hosts) > 0 }

// names says whether the pattern is about a tool. What denies or asks about a tool is also about its variants: a denial of bash
// holds for bash.network, and a grant of bash does not give it.
func (t *toolPattern) names(tool string, variants bool) bool {
	for tool != "" && tool != "/" {
		if globWord(t.name, tool) {
			return true
		}
		if !variants {
			return false
		}
		tool = path.Dir(tool)
	}
	return false
}

func parseTool(s string) (toolPattern, error) {
	name, args, has := strings.Cut(s, "(")
	t := toolPattern{text: s, name: toolPath(strings.TrimSpace(name))}
	if strings.TrimSpace(name) == "" || hasControl(s) || strings.ContainsAny(name, "/) ") {
		return t, malformed("tool pattern %q does not start with a tool's name", s)
	}
	if !has {
		return t, nil
	}
	args, ok := strings.CutSuffix(args, ")")
	if !ok {
		return t, malformed("tool pattern %q lacks its closing parenthesis", s)
	}
	for part := range strings.SplitSeq(args, ";") {
		fact, value, ok := strings.Cut(part, ":")
		fact, value = strings.TrimSpace(fact), strings.TrimSpace(value)
		if !ok || value == "" {
			return t, malformed("tool pattern %q: %q is not fact: value", s, strings.TrimSpace(part))
		}
		switch fact {
		case "path":
			if !cleanPath(value) {
				return t, malformed("tool pattern %q: path %q is not absolute and clean", s, value)
			}
			t.paths = append(t.paths, newGlob(value))
			t.lowPaths = append(t.lowPaths, newSpelledGlob(value))
		case "command":
			words, ok := splitWords(value)
			if !ok || len(words) != 1 {
				return t, malformed("tool pattern %q: %q is not the plain beginning of one command", s, value)
			}
			t.commands = append(t.commands, words[0])
		case "host":
			h := strings.ToLower(strings.TrimSuffix(value, "."))
			if strings.Contains(strings.TrimPrefix(h, "*."), "*") || strings.ContainsAny(h, "/ ") {
				return t, malformed("tool pattern %q: host %q is not a name or *.name", s, value)
			}
			t.hosts = append(t.hosts, h)
		default:
			return t, malformed("tool pattern %q: %q is not one of path, command, host", s, fact)
		}
	}
	return t, nil
}

// surely says whether everything the call is known to touch is within the pattern: the test of a grant that gives. wide counts paths by
// any spelling, which only narrows.
func (t *toolPattern) surely(f *Facts, wide bool) bool {
	if !t.bound() {
		return true
	}
	if f != nil && f.Opaque && len(t.commands)+len(t.hosts) == 0 { // whatever it does, it stays in there
		return every(f.Within, func(folder string) bool { return t.onTree(folder) || wide && t.onSpelledTree(folder) })
	}
	if f == nil || f.Opaque {
		return false
	}
	return (len(t.paths) == 0 || every(f.Paths, func(p string) bool { return t.onPath(p) || wide && t.onSpelledPath(p) })) &&
		(len(t.commands) == 0 || every(f.Commands, t.onCommand)) &&
		(len(t.hosts) == 0 || every(f.Hosts, t.onHost))
}

// doubt is how sure one is that a call touches what a pattern names.
type doubt int

const (
	not doubt = iota
	perhaps
	certain
)

// touched says whether anything the call may touch is within the pattern: the test of a grant that denies.
func (t *toolPattern) touched(f *Facts) doubt {
	if !t.bound() {
		return certain
	}
	if f == nil {
		return perhaps
	}
	out := certain
	if len(t.paths) > 0 {
		out = min(out, found(some(f.Paths, t.onSpelledPath, unclear), f.Opaque && !f.Boxed))
	}
	if len(t.commands) > 0 {
		out = min(out, t.denied(f))
	}
	if len(t.hosts) > 0 {
		out = min(out, found(some(f.Hosts, t.onHost, nil) || some(f.Reached, t.onHost, nil), f.Opaque && !f.Offline))
	}
	return out
}

func found(certainly, maybe bool) doubt {
	switch {
	case certainly:
		return certain
	case maybe:
		return perhaps
	}
	return not
}

// denied looks for a command among all that a line runs: by any path to the program, and behind its options.
func (t *toolPattern) denied(f *Facts) doubt {
	runs := f.Runs
	if len(runs) == 0 {
		runs = f.Commands
	}
	out := found(false, f.Unread || f.Opaque && len(f.Runs) == 0)
	for _, words := range runs {
		for _, c := range t.commands {
			out = max(out, begins(c, words))
		}
	}
	return out
}

// begins says whether a command begins with some words, whatever path its program has and whatever options stand between them. The
// value of an option cannot be told from a word, so both readings count.
func begins(c, words []string) doubt {
	if spelling.Folded(path.Base(words[0])) != spelling.Folded(path.Base(c[0])) { // where RM is a file, it is rm
		return not
	}
	next, option := 1, false
	for _, w := range words[1:] {
		switch {
		case next == len(c):
			return certain
		case w == unknownWord:
			return perhaps
		case w == c[next]:
			next, option = next+1, false
		case strings.HasPrefix(w, "-"):
			option = !strings.Contains(w, "=")
		case option:
			option = false
		default:
			return not
		}
	}
	return found(next == len(c), false)
}

// onTree says whether the pattern covers a folder with all that is in it.
func (t *toolPattern) onTree(folder string) bool { return wholeTree(t.paths, folder) }

// onSpelledTree is onTree by any spelling.
func (t *toolPattern) onSpelledTree(folder string) bool {
	return wholeTree(t.lowPaths, spelling.Folded(folder))
}

func wholeTree(globs []glob, folder string) bool {
	parts := components(folder)
	for _, g := range globs {
		if n := len(g) - 1; n >= 0 && g[n] == "**" && n <= len(parts) && globPath(g[:n], parts[:n]) && cleanPath(folder) {
			return true
		}
	}
	return false
}

func unclear(p string) bool { return !cleanPath(p) }

func every[T any](list []T, test func(T) bool) bool {
	for _, v := range list {
		if !test(v) {
			return false
		}
	}
	return len(list) > 0
}

func some[T any](list []T, test, doubt func(T) bool) bool {
	for _, v := range list {
		if test(v) || (doubt != nil && doubt(v)) {
			return true
		}
	}
	return false
}

func (t *toolPattern) onPath(p string) bool { return fitsAny(t.paths, p) }

// onSpelledPath is onPath by any spelling.
func (t *toolPattern) onSpelledPath(p string) bool { return fitsAny(t.lowPaths, spelling.Folded(p)) }

func fitsAny(globs []glob, p string) bool {
	if !cleanPath(p) {
		return false
	}
	parts := components(p)
	return slices.ContainsFunc(globs, func(g glob) bool { return g.fits(parts) })
}

func (t *toolPattern) onCommand(words []string) bool {
	for _, c := range t.commands {
		if len(words) >= len(c) && equalWords(c, words[:len(c)]) {
			return true
		}
	}
	return false
}

func (t *toolPattern) onHost(h string) bool {
	h = strings.ToLower(strings.TrimSuffix(h, "."))
	for _, w := range t.hosts {
		if suffix, ok := strings.CutPrefix(w, "*"); ok && strings.HasSuffix(h, suffix) && len(h) > len(suffix) {
			return true
		}
		if w == h {
			return true
		}
	}
	return false
}

func equalWords(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
