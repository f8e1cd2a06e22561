package ui

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// nearby is how far ahead an end is looked for: what is further away is no pair,
// and a text of nothing but stars takes no longer than another.
const nearby = 2000

// inline writes emphasis, code and links within a paragraph.
func (m *marked) inline(s string) {
	plain := 0 // where the text begins that was not written yet
	for i := 0; i < len(s); {
		n, write := m.span(s, i)
		if n == 0 {
			i++
			continue
		}
		m.text(s[plain:i])
		write()
		i += n
		plain = i
	}
	m.text(s[plain:])
}

// span is what begins at a place: its length, and how it is written. Length 0 is only text.
func (m *marked) span(s string, i int) (int, func()) {
	rest := s[i:min(len(s), i+nearby)]
	switch s[i] {
	case '\\':
		if len(rest) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|~<>", rest[1]) >= 0 {
			return 2, func() { m.text(rest[1:2]) }
		}
	case '`':
		mark := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
		if end := strings.Index(rest[len(mark):], mark); end > 0 {
			inner := rest[len(mark) : len(mark)+end]
			return 2*len(mark) + end, func() { m.within("code", inner, m.text) }
		}
		return len(mark), func() { m.text(mark) }
	case '*', '_', '~':
		return m.emphasis(s, i, rest)
	case '!':
		if strings.HasPrefix(rest, "![") {
			if label, to, n := link(rest[1:]); n > 0 {
				return n + 1, func() { m.link("picture: "+label, to) }
			}
		}
	case '[':
		if label, to, n := link(rest); n > 0 {
			return n, func() { m.link(label, to) }
		}
	case 'h':
		if (strings.HasPrefix(rest, "http://") || strings.HasPrefix(rest, "https://")) && (i == 0 || !word(s[:i])) {
			end := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>\"'`|)]}*", r) })
			if end < 0 {
				end = len(rest)
			}
			to := strings.TrimRight(rest[:end], ".,;:!?")
			return len(to), func() { m.link(to, to) }
		}
	}
	return 0, nil
}

func (m *marked) emphasis(s string, i int, rest string) (int, func()) {
	for _, e := range []struct{ mark, tag string }{{"**", "strong"}, {"__", "strong"}, {"~~", "del"}, {"*", "em"}, {"_", "em"}} {
		inner, ok := strings.CutPrefix(rest, e.mark)
		if !ok {
			continue
		}
		end := strings.Index(inner, e.mark)
		if end <= 0 || inner[0] == ' ' || inner[end-1] == ' ' || strings.Contains(inner[:end], "\n\n") {
			continue
		}
		if after := inner[end+len(e.mark):]; e.mark[0] == '_' && (word(s[:i]) || starts(after)) { // snake_case is no emphasis
			continue
		}
		return end + 2*len(e.mark), func() { m.within(e.tag, inner[:end], m.inline) }
	}
	n := len(rest) - len(strings.TrimLeft(rest, rest[:1])) // a run that pairs with nothing is text
	return n, func() { m.text(rest[:n]) }
}

func (m *marked) within(tag, s string, write func(string)) {
	m.b.WriteString(`<` + tag + `>`)
	write(s)
	m.b.WriteString(`</` + tag + `>`)
}

// link reads "[label](address)": n is its length, 0 where it is none.
func link(s string) (label, to string, n int) {
	mid := strings.Index(s, "](")
	if mid < 0 || strings.ContainsRune(s[1:mid], '\n') {
		return "", "", 0
	}
	end := strings.IndexByte(s[mid:], ')')
	if end < 0 {
		return "", "", 0
	}
	to, _, _ = strings.Cut(strings.Trim(s[mid+2:mid+end], " <>"), " ")
	return s[1:mid], to, mid + end + 1
}

// link writes a link that says where it leads, or the words where it leads nowhere that is safe.
func (m *marked) link(label, to string) {
	host := outside(to)
	if host == "" {
		m.text(label)
		if to != label {
			m.text(" (" + to + ")")
		}
		return
	}
	m.b.WriteString(`<a class="out" href="` + templ.EscapeString(to) + `" rel="noopener noreferrer nofollow" target="_blank">`)
	m.text(label)
	if label != to {
		m.text(" (" + host + ")")
	}
	m.b.WriteString(`</a>`)
}

// outside is the host that an address leads to; "" where it is none that a person would follow knowingly.
func outside(to string) string {
	for _, r := range to {
		if r <= ' ' || r > '~' { // look-alikes and what hides
			return ""
		}
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.Host
}

// word tells whether a text ends within a word.
func word(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// starts tells whether a text begins within a word.
func starts(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
