package ui

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"tandem/internal/foreign"
	"tandem/internal/unified"
)

// code is a line of a diff as line draws it, with what its words are and what of it is another than before. That changes no character of
// it: what would deceive is drawn from the whole line, before it is divided.
func code(file string, l unified.Line) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		b := divider{spans: unified.Spans(file, l.Text), marks: l.Marks}
		for _, p := range foreign.Exact(l.Text) {
			if p.Odd {
				b.WriteString(`<span class="odd" title="` + p.Name + `">` + templ.EscapeString(p.Text) + `</span>`)
				continue
			}
			b.piece(p)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

var kinds = map[unified.Kind]string{unified.Keyword: "code-word", unified.Quoted: "code-text", unified.Number: "code-number",
	unified.Remark: "code-remark"}

// divider writes the pieces of a line in their order, divided where something of it is shown otherwise. It looks at each span and mark
// once, however many pieces there are.
type divider struct {
	strings.Builder
	spans []unified.Span // those that do not lie wholly before what was written, in their order
	marks []unified.Mark
	parts int // that were written
}

// piece writes a readable piece.
func (d *divider) piece(p foreign.Piece) {
	for from, end := p.At, p.At+len(p.Text); from < end; {
		to, class := d.part(from, end)
		text := templ.EscapeString(p.Text[from-p.At : to-p.At])
		if class != "" {
			text = `<span class="` + class + `">` + text + `</span>`
		}
		d.WriteString(text)
		from = to
	}
}

// part is how far what begins at a place is shown alike, and as what.
func (d *divider) part(from, end int) (to int, class string) {
	d.parts++
	for len(d.spans) > 0 && d.spans[0].To <= from {
		d.spans = d.spans[1:]
	}
	for len(d.marks) > 0 && d.marks[0].To <= from {
		d.marks = d.marks[1:]
	}
	reaches := func(m unified.Mark) bool {
		if m.From > from {
			end = min(end, m.From)
			return false
		}
		end = min(end, m.To)
		return true
	}
	if len(d.spans) > 0 && reaches(d.spans[0].Mark) {
		class = kinds[d.spans[0].Kind]
	}
	if len(d.marks) > 0 && reaches(d.marks[0]) {
		class = strings.TrimPrefix(class+" diff-mark", " ")
	}
	return end, class
}
