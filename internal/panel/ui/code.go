package ui

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"tandem/internal/foreign"
	"tandem/internal/unified"
)

// code is a line of a diff as line draws it, with what its words are and what of it is another than before. That changes no character of
// it: what would deceive is drawn from the whole line, before it is divided.
func code(file string, l unified.Line) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		spans := unified.Spans(file, l.Text)
		for _, p := range foreign.Exact(l.Text) {
			if p.Odd {
				b.WriteString(`<span class="odd" title="` + p.Name + `">` + templ.EscapeString(p.Text) + `</span>`)
				continue
			}
			divided(&b, p, spans, l.Marks)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

var kinds = map[unified.Kind]string{unified.Keyword: "code-word", unified.Quoted: "code-text", unified.Number: "code-number",
	unified.Remark: "code-remark"}

// divided writes a readable piece of a line, divided where something of it is shown otherwise.
func divided(b *strings.Builder, p foreign.Piece, spans []unified.Span, marks []unified.Mark) {
	ends := []int{p.At + len(p.Text)}
	cut := func(m unified.Mark) { ends = append(ends, m.From, m.To) }
	for _, s := range spans {
		cut(s.Mark)
	}
	for _, m := range marks {
		cut(m)
	}
	slices.Sort(ends)
	for from := p.At; from < p.At+len(p.Text); {
		i := slices.IndexFunc(ends, func(at int) bool { return at > from })
		to := min(ends[i], p.At+len(p.Text))
		holds := func(m unified.Mark) bool { return m.From <= from && to <= m.To }
		var class []string
		if k := slices.IndexFunc(spans, func(s unified.Span) bool { return holds(s.Mark) }); k >= 0 {
			class = append(class, kinds[spans[k].Kind])
		}
		if slices.ContainsFunc(marks, holds) {
			class = append(class, "diff-mark")
		}
		text := templ.EscapeString(p.Text[from-p.At : to-p.At])
		if len(class) > 0 {
			text = `<span class="` + strings.Join(class, " ") + `">` + text + `</span>`
		}
		b.WriteString(text)
		from = to
	}
}
