package policy

import "strings"

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
