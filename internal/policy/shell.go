package policy

import (
	"path"
	"strings"
)

// unknownWord stands in a command for a word that is not known before the line runs.
const unknownWord = "\x00"

// maxNested bounds how deep lines in lines are read.
const maxNested = 6

// Runs reads the commands of a shell line for a denial: everything that the line itself says would run, also behind pipes, in loops,
// substitutions and subshells, and behind programs that run others (env, timeout, xargs, sh -c). files are the plain words and
// redirections that may name one. It answers false where it cannot follow; then more may run than it says.
//
// It is generous where Commands is strict: what gives must be sure of all that a line does, what denies wants to find what it names.
func Runs(line string) (cmds [][]string, files []string, ok bool) {
	r := &shellReader{text: line}
	r.list(0)
	return r.cmds, r.files, !r.lost && r.at >= len(r.text)
}

type shellReader struct {
	text  string
	at    int
	depth int
	cmds  [][]string
	files []string
	lost  bool
	here  []string // here-documents whose bodies come after this line
}

type shellWord struct {
	text   string
	known  bool
	quoted bool
}

func (r *shellReader) more() bool { return !r.lost && r.at < len(r.text) }

func (r *shellReader) ahead(s string) bool { return strings.HasPrefix(r.text[r.at:], s) }

// inner reads a line that stands inside this one.
func (r *shellReader) inner(line string) {
	if r.depth++; r.depth > maxNested {
		r.lost = true
		return
	}
	in := &shellReader{text: line, depth: r.depth}
	in.list(0)
	r.depth--
	r.cmds, r.files = append(r.cmds, in.cmds...), append(r.files, in.files...)
	r.lost = r.lost || in.lost || in.at < len(in.text)
}

// list reads commands up to the end, or up to a parenthesis that closes what it is in.
func (r *shellReader) list(nested int) {
	if nested > maxNested {
		r.lost = true
	}
	for r.more() {
		switch c := r.text[r.at]; {
		case c == ')':
			return
		case c == '\n':
			r.at++
			r.bodies()
		case strings.IndexByte(" \t;&|", c) >= 0:
			r.at++
		default:
			r.command(nested)
		}
	}
}

// command reads one simple command, or the word that opens or closes a compound one.
func (r *shellReader) command(nested int) {
	var words []string
	start := true // no word yet: keywords and assignments count
	for r.more() {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t':
			r.at++
		case c == '\\' && r.ahead("\\\n"):
			r.at += 2
		case c == '#':
			for r.more() && r.text[r.at] != '\n' {
				r.at++
			}
		case c == '&' && r.ahead("&>"):
			r.at++
		case c == '<' || c == '>':
			r.redirect(nested)
		case c == '\n' || c == ';' || c == '&' || c == '|' || c == ')':
			r.emit(words)
			return
		case c == '(':
			if !start || len(words) > 0 {
				r.lost = true // a function, or an array
				return
			}
			r.group(nested)
			start = false
		case start && r.ahead("[[ "):
			r.at += 2
			r.keyword("[[", nested)
		default:
			w := r.word(nested)
			switch {
			case r.more() && w.known && !w.quoted && isDigits(w.text) && (r.text[r.at] == '<' || r.text[r.at] == '>'):
				// the number of a file descriptor
			case start && !w.quoted && isAssignment(w):
			case start && w.known && !w.quoted && r.keyword(w.text, nested):
			default:
				start = false
				if words = append(words, w.text); !w.known {
					words[len(words)-1] = unknownWord
				}
			}
		}
	}
	r.emit(words)
}

// keyword handles the words of compound commands. It says false for any other word.
func (r *shellReader) keyword(w string, nested int) bool {
	switch w {
	case "if", "then", "else", "elif", "while", "until", "do", "!", "time", "{", "}", "fi", "done", "in":
		return true
	case "for", "select":
		for r.more() && r.text[r.at] != ';' && r.text[r.at] != '\n' {
			switch c := r.text[r.at]; {
			case c == ' ' || c == '\t':
				r.at++
			case strings.IndexByte("&|<>()", c) >= 0:
				r.lost = true
			default:
				if w := r.word(nested); w.known && w.text != "in" {
					r.files = append(r.files, w.text)
				}
			}
		}
		return true
	case "[[":
		end := strings.Index(r.text[r.at:], "]]")
		if end < 0 || strings.ContainsAny(r.text[r.at:r.at+end], "`") || strings.Contains(r.text[r.at:r.at+end], "$(") {
			r.lost = true
			return true
		}
		r.at += end + 2
		return true
	case "case", "esac", "function", "coproc", "alias", "trap":
		r.lost = true
		return true
	}
	return false
}

// group reads ( … ).
func (r *shellReader) group(nested int) {
	r.at++
	r.list(nested + 1)
	if !r.more() || r.text[r.at] != ')' {
		r.lost = true
		return
	}
	r.at++
}

func (r *shellReader) redirect(nested int) {
	for _, op := range []string{"<<<", "<<-", "<<", "<(", ">(", "&>>", ">>", ">|", ">&", "<&", "<>", ">", "<"} {
		if !r.ahead(op) {
			continue
		}
		if op == "<(" || op == ">(" {
			r.at++
			r.group(nested)
			return
		}
		r.at += len(op)
		for r.more() && (r.text[r.at] == ' ' || r.text[r.at] == '\t') {
			r.at++
		}
		w := r.word(nested)
		switch {
		case op == "<<" || op == "<<-":
			if !w.known {
				r.lost = true
			}
			mark := w.text
			if !w.quoted {
				mark = "$" + mark // its body is expanded
			}
			r.here = append(r.here, mark)
		case op != "<<<" && w.known && w.text != "-" && !isDigits(w.text):
			r.files = append(r.files, w.text)
		}
		return
	}
	r.lost = true
}

// bodies passes over the here-documents of the line that just ended.
func (r *shellReader) bodies() {
	for _, mark := range r.here {
		expanded := strings.HasPrefix(mark, "$")
		mark = strings.TrimPrefix(mark, "$")
		for closed := false; !closed; {
			if !r.more() {
				r.lost = true
				return
			}
			line, rest, found := strings.Cut(r.text[r.at:], "\n")
			r.at = len(r.text) - len(rest)
			if !found {
				r.at = len(r.text)
			}
			closed = strings.TrimLeft(line, "\t") == mark
			if expanded && (strings.Contains(line, "$(") || strings.Contains(line, "`")) {
				r.lost = true
			}
		}
	}
	r.here = nil
}

// word reads one word with its quotes. What only the running shell knows makes it unknown; commands inside it are read.
func (r *shellReader) word(nested int) shellWord {
	var out strings.Builder
	w := shellWord{known: true}
	from := r.at
	for r.more() {
		c := r.text[r.at]
		if strings.IndexByte(" \t\n;&|<>()", c) >= 0 {
			break
		}
		switch c {
		case '\'':
			end := strings.IndexByte(r.text[r.at+1:], '\'')
			if end < 0 {
				r.lost = true
				return w
			}
			out.WriteString(r.text[r.at+1 : r.at+1+end])
			w.quoted = true
			r.at += end + 2
		case '"':
			w.quoted = true
			r.at++
			r.double(&out, &w, nested)
		case '\\':
			if r.at+1 >= len(r.text) {
				r.lost = true
				return w
			}
			if r.text[r.at+1] != '\n' {
				out.WriteByte(r.text[r.at+1])
				w.quoted = true
			}
			r.at += 2
		case '$', '`':
			r.expand(&out, &w, nested)
		case '*', '?', '[', ']', '~', '{', '}':
			if !(c == '~' && r.at > from) && !plainBrackets(r.text[r.at:], r.at == from) {
				w.known = false
			}
			out.WriteByte(c)
			r.at++
		case 0:
			r.lost = true
			return w
		default:
			out.WriteByte(c)
			r.at++
		}
	}
	w.text = out.String()
	return w
}

// plainBrackets are brackets and braces that stand alone as a word: [ a test ], find's {}, a group.
func plainBrackets(rest string, first bool) bool {
	word, _, _ := strings.Cut(strings.FieldsFunc(rest+" ", func(c rune) bool { return strings.ContainsRune(" \t\n;&|<>()", c) })[0], " ")
	return first && (word == "[" || word == "]" || word == "{" || word == "}" || word == "{}") || word == "}" && strings.HasPrefix(rest, "}")
}

// double reads the rest of a string in double quotes.
func (r *shellReader) double(out *strings.Builder, w *shellWord, nested int) {
	for r.more() {
		switch c := r.text[r.at]; c {
		case '"':
			r.at++
			return
		case '\\':
			if r.at+1 < len(r.text) && strings.IndexByte("$`\"\\\n", r.text[r.at+1]) >= 0 {
				r.at++
			}
			out.WriteByte(r.text[r.at])
			r.at++
		case '$', '`':
			r.expand(out, w, nested)
		default:
			out.WriteByte(c)
			r.at++
		}
	}
	r.lost = true
}

// expand reads what begins with $ or a backquote.
func (r *shellReader) expand(out *strings.Builder, w *shellWord, nested int) {
	rest := r.text[r.at:]
	switch {
	case rest[0] == '`':
		end := strings.IndexByte(rest[1:], '`')
		if end < 0 {
			r.lost = true
			return
		}
		r.inner(strings.ReplaceAll(rest[1:1+end], `\`, ""))
		r.at += end + 2
	case strings.HasPrefix(rest, "$(("):
		end := strings.Index(rest, "))")
		if end < 0 || strings.Contains(rest[3:end], "$(") || strings.Contains(rest[:end], "`") {
			r.lost = true
			return
		}
		r.at += end + 2
	case strings.HasPrefix(rest, "$("):
		r.at++
		r.group(nested)
	case strings.HasPrefix(rest, "${"):
		end := strings.IndexByte(rest, '}')
		if end < 0 || strings.Contains(rest[:end], "$(") || strings.Contains(rest[:end], "`") {
			r.lost = true
			return
		}
		r.at += end + 1
	case strings.HasPrefix(rest, "$'"):
		r.lost = true
		return
	default:
		n := 1
		for n < len(rest) && (isName(rest[n]) || n == 1 && strings.IndexByte("@*#?-$!0123456789", rest[n]) >= 0) {
			n++
		}
		if n == 1 {
			out.WriteByte('$')
			r.at++
			return
		}
		r.at += n
	}
	w.known = false
}

func isName(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isAssignment(w shellWord) bool {
	name, _, ok := strings.Cut(w.text, "=")
	name = strings.TrimSuffix(name, "+")
	if !ok || name == "" || isDigits(name[:1]) {
		return false
	}
	for i := range len(name) {
		if !isName(name[i]) {
			return false
		}
	}
	return true
}

// emit notes a command, with what it runs in turn.
func (r *shellReader) emit(words []string) {
	if len(words) == 0 || r.lost {
		return
	}
	if words[0] == unknownWord {
		r.lost = true
		return
	}
	r.cmds = append(r.cmds, words)
	for _, w := range words[1:] {
		if w != unknownWord {
			r.files = append(r.files, w)
		}
	}
	r.unwrap(words)
}

// wrappers run the program that their arguments name, after options; of these letters take a value of their own.
var wrappers = map[string]string{"env": "uC", "command": "", "builtin": "", "exec": "a", "nohup": "", "setsid": "", "time": "fo", "nice": "n", "ionice": "cnp", "stdbuf": "ioe",
	"timeout": "sk", "sudo": "ugpChDRrtT", "doas": "uC", "xargs": "nPILdsEa", "busybox": "", "toybox": "", "watch": "n", "chrt": "", "flock": "wE"}

// unfollowed run others in ways that are not read.
var unfollowed = setOf([]string{"parallel", "script", "ssh", "su", "chroot", "unshare", "nsenter", "bwrap", "runuser", "setpriv", "strace", "gdb"})

var shells = setOf([]string{"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})

// unwrap follows programs that run others.
func (r *shellReader) unwrap(words []string) {
	if r.depth++; r.depth > maxNested {
		r.lost = true
	}
	defer func() { r.depth-- }()
	if r.lost {
		return
	}
	name := path.Base(words[0])
	valued, wraps := wrappers[name]
	switch {
	case unfollowed[name]:
		r.lost = true
	case name == "eval":
		for _, w := range words[1:] {
			r.lost = r.lost || w == unknownWord
		}
		r.inner(strings.Join(words[1:], " "))
	case shells[name]:
		r.script(words[1:])
	case name == "find" || name == "fd":
		for i, w := range words {
			if w == "-exec" || w == "-execdir" || w == "-ok" || w == "-okdir" || name == "fd" && (w == "-x" || w == "-X") {
				r.emit(words[i+1:])
			}
		}
	case wraps && !(name == "command" && len(words) > 1 && strings.HasPrefix(words[1], "-v")):
		r.emit(wrapped(name, valued, words[1:]))
	}
}

// wrapped is the command behind a wrapper's own words.
func wrapped(name, valued string, words []string) []string {
	operands := 0
	if name == "timeout" || name == "flock" {
		operands = 1
	}
	for len(words) > 0 {
		w := words[0]
		switch {
		case w == "--":
			words = words[1:]
			continue
		case len(w) == 2 && w[0] == '-' && strings.IndexByte(valued, w[1]) >= 0:
			words = words[min(2, len(words)):]
		case strings.HasPrefix(w, "-"), name == "env" && isAssignment(shellWord{text: w}), name == "sudo" && isAssignment(shellWord{text: w}):
			words = words[1:]
		case operands > 0:
			operands--
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

// script reads what a shell is told with -c. One that reads a file is a program like any other; one that reads its input is not followed.
func (r *shellReader) script(words []string) {
	for i, w := range words {
		switch {
		case w == unknownWord:
			r.lost = true
			return
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c"):
			if i+1 >= len(words) || words[i+1] == unknownWord {
				r.lost = true
				return
			}
			r.inner(words[i+1])
			return
		case !strings.HasPrefix(w, "-"):
			return
		}
	}
	r.lost = true
}
