package policy

import "strings"

type shellWord struct {
	text   string
	known  bool
	quoted bool
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

// plainBrackets are brackets and braces that stand alone as a word: [ a test ], find's {}, a group. It looks no further than the end of
// such a word, so a line of nothing but braces is read in one go.
func plainBrackets(rest string, first bool) bool {
	for _, word := range []string{"[", "]", "{", "}", "{}"} {
		if strings.HasPrefix(rest, word) && (len(rest) == len(word) || strings.IndexByte(" \t\n;&|<>()", rest[len(word)]) >= 0) {
			return first || word == "}"
		}
	}
	return false
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
