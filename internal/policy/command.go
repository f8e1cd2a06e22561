package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Commands reads a shell line into the commands it runs, word by word. It understands words, quotes, backslashes and the
// joints && || ; | and newline. For anything else (substitution, redirection, variables, subshells, globbing, assignments,
// programs that run other programs) it answers false, and the caller must treat the line as opaque.
func Commands(line string) ([][]string, bool) {
	cmds, ok := splitWords(line)
	if !ok || len(cmds) == 0 {
		return nil, false
	}
	for _, c := range cmds {
		if runsOthers[path.Base(c[0])] || strings.Contains(c[0], "=") {
			return nil, false
		}
	}
	return cmds, true
}

// ShellFacts reads what a shell line touches when it runs in a folder: its commands, every word that could be a path, and the
// hosts of its URLs. It cannot see what the programs do by themselves; for that there is the sandbox.
func ShellFacts(dir, line string) Facts {
	var f Facts
	runs, words, followed := Runs(line)
	f.Runs, f.Unread = runs, !followed
	f.Named, f.Reached = placesIn(dir, words)
	cmds, ok := Commands(Told(line))
	if !ok {
		f.Opaque = true
		return f
	}
	f.Commands = cmds
	for _, words := range cmds {
		paths, hosts := placesIn(dir, words[1:])
		f.Paths, f.Hosts = append(f.Paths, paths...), append(f.Hosts, hosts...)
	}
	return f
}

// Told is the line that a shell is told with -c, where a line is nothing but that: programs hand over their commands so. Only a shell that
// the machine brought counts, and only one that reads a line as Commands does.
func Told(line string) string {
	cmds, ok := splitWords(line)
	if !ok || len(cmds) != 1 || len(cmds[0]) < 3 {
		return line
	}
	words := cmds[0]
	dir, name := path.Split(words[0])
	last := len(words) - 1
	if !plainShells[name] || dir != "" && !plainPlaces[dir] || !toldBy.MatchString(strings.Join(words[1:last], " ")) {
		return line
	}
	return words[last]
}

var (
	plainShells = setOf([]string{"sh", "bash", "dash", "zsh", "ksh"})
	plainPlaces = setOf([]string{"/bin/", "/usr/bin/", "/usr/local/bin/"})
	toldBy      = regexp.MustCompile(`^(-l )?-l?c$`)
)

// placesIn takes words of a command for paths and addresses.
func placesIn(dir string, words []string) (paths, hosts []string) {
	for _, w := range words {
		if strings.HasPrefix(w, "-") { // --file=/x names a path, -x does not
			_, value, found := strings.Cut(w, "=")
			if !found {
				continue
			}
			w = value
		}
		if scheme, rest, ok := strings.Cut(w, "://"); ok && !strings.Contains(scheme, "/") {
			hosts = append(hosts, hostOf(rest))
			continue
		}
		if w == "" {
			continue
		}
		if !path.IsAbs(w) {
			w = path.Join(dir, w)
		}
		paths = append(paths, path.Clean(w))
	}
	return paths, hosts
}

// TouchFacts adds what a shell line shows to what a tool says of its call. The line runs in the first of the paths.
func TouchFacts(f Facts, shell string) *Facts {
	if shell == "" {
		return &f
	}
	dir := "/"
	if len(f.Paths) > 0 {
		dir = f.Paths[0]
	}
	line := ShellFacts(dir, shell)
	f.Commands, f.Opaque = line.Commands, f.Opaque || line.Opaque
	f.Paths, f.Hosts = slices.Concat(f.Paths, line.Paths), slices.Concat(f.Hosts, line.Hosts)
	f.Runs, f.Named, f.Reached, f.Unread = line.Runs, line.Named, line.Reached, line.Unread
	return &f
}

// hostOf is the host in what follows a URL's scheme: without user, port and path.
func hostOf(rest string) string {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.HasPrefix(rest, "[") {
		rest, _, _ = strings.Cut(rest[1:], "]")
		return rest
	}
	rest, _, _ = strings.Cut(rest, ":")
	return rest
}

// runsOthers lists programs whose arguments are programs: a prefix of words says nothing about what happens.
var runsOthers = setOf([]string{"sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env", "eval", "exec", "source", ".",
	"command", "builtin", "sudo", "doas", "su", "nohup", "nice", "time", "timeout", "xargs", "parallel", "find", "watch",
	"script", "setsid", "stdbuf", "ssh", "awk", "perl", "python", "python3", "node", "ruby", "php", "lua", "trap", "unshare",
	"if", "then", "else", "elif", "for", "while", "until", "do", "case", "function", "!", "[[", "alias", "export", "declare"})

func splitWords(line string) ([][]string, bool) {
	var cmds [][]string
	var cur []string
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			cur = append(cur, word.String())
			word.Reset()
			inWord = false
		}
	}
	endCmd := func() bool {
		endWord()
		if len(cur) == 0 {
			return false
		}
		cmds = append(cmds, cur)
		cur = nil
		return true
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
			endWord()
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+end])
			inWord = true
			i += end + 1
		case '"':
			end := strings.IndexByte(line[i+1:], '"')
			if end < 0 {
				return nil, false
			}
			text := line[i+1 : i+1+end]
			if strings.ContainsAny(text, "$`\\!") {
				return nil, false
			}
			word.WriteString(text)
			inWord = true
			i += end + 1
		case '\\':
			if i+1 == len(line) || line[i+1] == '\n' {
				return nil, false
			}
			i++
			word.WriteByte(line[i])
			inWord = true
		case '&':
			if i+1 == len(line) || line[i+1] != '&' || !endCmd() {
				return nil, false
			}
			i++
		case '|':
			if !endCmd() {
				return nil, false
			}
			if i+1 < len(line) && line[i+1] == '|' {
				i++
			}
		case ';', '\n':
			endWord()
			if len(cur) == 0 && c == ';' {
				return nil, false
			}
			if len(cur) > 0 {
				endCmd()
			}
		case '$', '`', '<', '>', '(', ')', '{', '}', '*', '?', '[', ']', '~', '#', '\r', 0:
			return nil, false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	endWord()
	if len(cur) > 0 {
		cmds = append(cmds, cur)
	}
	return cmds, true
}
