package ui

import (
	"context"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/a-h/templ"

	"tandem/internal/foreign"
)

// Markdown shows what an agent wrote as it meant it: paragraphs, lists, code,
// tables, emphasis, links. It makes these elements and no others: markup in the
// text stays text, a picture is a link that nobody follows unasked, and a link
// says where it leads. Hidden characters are spelled out as everywhere.
func Markdown(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		m := &marked{}
		m.b.WriteString(`<div class="md" dir="auto">`)
		m.blocks(strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), 0)
		m.b.WriteString(`</div>`)
		_, err := io.WriteString(w, m.b.String())
		return err
	})
}

// deepest is how far quotes and lists stand in one another; further in they are text.
const deepest = 6

type marked struct{ b strings.Builder }

var markedLines = sync.OnceValue(func() (r struct{ head, rule, item, cells *regexp.Regexp }) {
	r.head = regexp.MustCompile(`^ {0,3}(#{1,6})\s+(.*?)\s*#*$`)
	r.rule = regexp.MustCompile(`^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$`)
	r.item = regexp.MustCompile(`^( *)([-*+]|\d{1,4}[.)])\s+(.*)$`)
	r.cells = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$`)
	return r
})

// blocks writes lines as blocks; each step takes the lines of one.
func (m *marked) blocks(lines []string, depth int) {
	is := markedLines()
	for len(lines) > 0 {
		l := lines[0]
		n := 1
		switch {
		case strings.TrimSpace(l) == "":
		case fence(l) != "":
			n = m.code(lines)
		case is.rule.MatchString(l):
			m.b.WriteString(`<hr>`)
		case is.head.MatchString(l):
			h := is.head.FindStringSubmatch(l)
			m.b.WriteString(`<p class="md-head md-head-` + itoa(min(len(h[1]), 3)) + `">`)
			m.inline(h[2])
			m.b.WriteString(`</p>`)
		case strings.HasPrefix(strings.TrimLeft(l, " "), ">") && depth < deepest:
			n = m.quote(lines, depth)
		case is.item.MatchString(l) && depth < deepest:
			n = m.list(lines, depth)
		case len(lines) > 1 && strings.Contains(l, "|") && is.cells.MatchString(lines[1]):
			n = m.table(lines)
		default:
			n = m.paragraph(lines, depth)
		}
		lines = lines[n:]
	}
}

// fence is what opens and closes a block of code.
func fence(l string) string {
	l = strings.TrimLeft(l, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(l) - len(strings.TrimLeft(l, c)); n >= 3 {
			return strings.Repeat(c, n)
		}
	}
	return ""
}

func (m *marked) code(lines []string) int {
	mark, n := fence(lines[0]), 1
	for n < len(lines) {
		if end := strings.TrimSpace(lines[n]); strings.HasPrefix(end, mark) && strings.Trim(end, mark[:1]) == "" {
			break
		}
		n++
	}
	m.b.WriteString(`<pre class="md-code" tabindex="0"><code>`)
	m.text(strings.Join(lines[1:n], "\n"))
	m.b.WriteString(`</code></pre>`)
	return min(n+1, len(lines))
}

func (m *marked) quote(lines []string, depth int) int {
	var inner []string
	for _, l := range lines {
		rest, ok := strings.CutPrefix(strings.TrimLeft(l, " "), ">")
		if !ok {
			break
		}
		inner = append(inner, strings.TrimPrefix(rest, " "))
	}
	m.b.WriteString(`<blockquote class="md-quote">`)
	m.blocks(inner, depth+1)
	m.b.WriteString(`</blockquote>`)
	return len(inner)
}

// list writes items of one indentation; what is further in belongs to the item above it.
func (m *marked) list(lines []string, depth int) int {
	item := markedLines().item
	first := item.FindStringSubmatch(lines[0])
	indent, numbered := len(first[1]), first[2][0] >= '0' && first[2][0] <= '9'
	tag := "ul"
	if numbered {
		tag = "ol"
	}
	m.b.WriteString(`<` + tag + `>`)
	n := 0
	for n < len(lines) {
		it := item.FindStringSubmatch(lines[n])
		if it == nil || len(it[1]) != indent || (it[2][0] >= '0' && it[2][0] <= '9') != numbered {
			break
		}
		inner := []string{it[3]}
		for n++; n < len(lines); n++ {
			l := lines[n]
			in := len(l) - len(strings.TrimLeft(l, " "))
			if blank := strings.TrimSpace(l) == ""; blank && (n+1 >= len(lines) || !strings.HasPrefix(lines[n+1], strings.Repeat(" ", indent+2))) ||
				!blank && in <= indent {
				break
			}
			inner = append(inner, l[min(in, indent+2):])
		}
		m.b.WriteString(`<li>`)
		m.blocks(inner, depth+1)
		m.b.WriteString(`</li>`)
		for n+1 < len(lines) && strings.TrimSpace(lines[n]) == "" && item.MatchString(lines[n+1]) { // a blank line between items
			n++
		}
	}
	m.b.WriteString(`</` + tag + `>`)
	return n
}

func (m *marked) table(lines []string) int {
	row := func(l, tag string) {
		m.b.WriteString(`<tr>`)
		for c := range strings.SplitSeq(strings.Trim(strings.TrimSpace(l), "|"), "|") {
			m.b.WriteString(`<` + tag + `>`)
			m.inline(strings.TrimSpace(c))
			m.b.WriteString(`</` + tag + `>`)
		}
		m.b.WriteString(`</tr>`)
	}
	m.b.WriteString(`<div class="md-table" tabindex="0" role="group" aria-label="Table"><table><thead>`)
	row(lines[0], "th")
	m.b.WriteString(`</thead><tbody>`)
	n := 2
	for ; n < len(lines) && strings.Contains(lines[n], "|"); n++ {
		row(lines[n], "td")
	}
	m.b.WriteString(`</tbody></table></div>`)
	return n
}

// paragraph goes on until a blank line, or one that begins something else.
func (m *marked) paragraph(lines []string, depth int) int {
	is := markedLines()
	n := 1
	for n < len(lines) && strings.TrimSpace(lines[n]) != "" && fence(lines[n]) == "" && !is.head.MatchString(lines[n]) &&
		!is.rule.MatchString(lines[n]) && (depth >= deepest || !is.item.MatchString(lines[n]) && !strings.HasPrefix(lines[n], ">")) {
		n++
	}
	m.b.WriteString(`<p>`)
	m.inline(strings.Join(lines[:n], "\n"))
	m.b.WriteString(`</p>`)
	return n
}

// text writes what is only text, its lines kept.
func (m *marked) text(s string) {
	for _, p := range foreign.Drawn(s, true) {
		if text := templ.EscapeString(p.Text); p.Odd {
			m.b.WriteString(`<span class="odd" title="` + p.Name + `">` + text + `</span>`)
		} else {
			m.b.WriteString(text)
		}
	}
}
