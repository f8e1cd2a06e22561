package decode

import (
	"strconv"
	"strings"
)

// readMarkdown makes a part of each section. Comments are not text: who reads the page does not see them.
func readMarkdown(w *writer, data []byte) error {
	s, err := plain(data)
	if err != nil {
		return err
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	body := w.frontMatter(s)
	lines := w.seen(strings.Split(body, "\n"), 1+strings.Count(s[:len(s)-len(body)], "\n"))
	var path headings
	begin := 0
	part := func(of []line) error { return w.part(placed(path.String(), of), joined(of)) }
	for i, line := range lines {
		level, title := headingOf(line.text)
		if level == 0 && i+1 < len(lines) && !lines[i+1].code {
			level, title = underlined(line.text, lines[i+1].text)
		}
		if line.code || level == 0 {
			continue
		}
		if err := part(lines[begin:i]); err != nil {
			return err
		}
		begin = i
		path.set(level, title)
		if w.doc.Title == "" && level == 1 {
			w.doc.Title = clip(title)
		}
	}
	return part(lines[begin:])
}

// line is one of a page, and whether it is inside a fence, where nothing has a meaning.
type line struct {
	text string
	code bool
	nr   int // in the file
}

// placed says below which headings some lines stand, and with which line what is written there begins.
func placed(headings string, of []line) string {
	for _, l := range of {
		if strings.TrimSpace(l.text) == "" {
			continue
		}
		if headings != "" {
			headings += ", "
		}
		return headings + "line " + strconv.Itoa(l.nr)
	}
	return headings
}

func joined(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// seen are the lines without what stands in comments; first is the number of the first.
func (w *writer) seen(lines []string, first int) []line {
	out := make([]line, 0, len(lines))
	fence, comment := "", false
	for i, text := range lines {
		mark := fenceOf(text)
		switch {
		case comment:
			if _, text, comment = strings.Cut(text, "-->"); !comment {
				comment = true
				continue
			}
			comment = false
		case fence != "":
			out = append(out, line{text, true, first + i})
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(strings.TrimLeft(text, " `~")) == "" {
				fence = ""
			}
			continue
		case mark != "":
			fence = mark
			out = append(out, line{text, true, first + i})
			continue
		}
		for {
			before, rest, found := strings.Cut(text, "<!--")
			if !found {
				break
			}
			w.left("comments, which are not shown")
			_, after, closed := strings.Cut(rest, "-->")
			text = before + after
			if comment = !closed; comment {
				break
			}
		}
		out = append(out, line{text, false, first + i})
	}
	return out
}

// headings are the titles above a place, outermost first.
type headings []heading

type heading struct {
	level int
	title string
}

func (h *headings) set(level int, title string) {
	for len(*h) > 0 && (*h)[len(*h)-1].level >= level {
		*h = (*h)[:len(*h)-1]
	}
	*h = append(*h, heading{level, clip(title)})
}

func (h headings) String() string {
	titles := make([]string, len(h))
	for i, one := range h {
		titles[i] = one.title
	}
	return strings.Join(titles, " > ")
}

// clip keeps a place short enough to be printed beside its text.
func clip(s string) string {
	const most = 120
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func headingOf(line string) (int, string) {
	rest := strings.TrimLeft(line, "#")
	level := len(line) - len(rest)
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), "#"))
}

// underlined is a title with a line of = or - below it.
func underlined(line, next string) (int, string) {
	next = strings.TrimRight(next, " \t")
	if strings.TrimSpace(line) == "" || len(next) < 3 || strings.HasPrefix(line, " ") {
		return 0, ""
	}
	switch {
	case strings.Trim(next, "=") == "":
		return 1, strings.TrimSpace(line)
	case strings.Trim(next, "-") == "" && !strings.Contains(line, "|"):
		return 2, strings.TrimSpace(line)
	}
	return 0, ""
}

func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return strings.Repeat(c, n)
		}
	}
	return ""
}

// frontMatter takes the lines between two --- off the beginning, and a title out of them.
func (w *writer) frontMatter(s string) string {
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return s
	}
	matter, body, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return s
	}
	for line := range strings.SplitSeq(matter, "\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "title" {
			w.doc.Title = clip(strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return body
}
