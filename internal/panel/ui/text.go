package ui

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"tandem/internal/foreign"
)

// Text shows a text from outside on one line, with hidden characters spelled
// out and its writing direction kept to itself. It and its sisters are written
// by hand because space counts here, and the template compiler adds some.
func Text(s string) templ.Component { return written(`<bdi>`, s, false, `</bdi>`) }

// Mono is Text in the fixed-width face: ids, keys, hashes, names of operations.
// Where a path has to be broken, it is behind a slash.
func Mono(s string) templ.Component {
	return breaking(`<bdi class="mono">`, s, false, `</bdi>`, strings.NewReplacer("/", "/<wbr>").Replace)
}

// Prose is a text of several lines, as somebody said it: lines kept, wrapped
// where they are too long.
func Prose(s string) templ.Component {
	return written(`<div class="prose" dir="auto">`, s, true, `</div>`)
}

// lines is a text with its lines kept, as it stands in a block.
func lines(s string) templ.Component { return written(`<code>`, s, true, `</code>`) }

// line is one line of a diff, tabs kept: what somebody decides by is drawn exactly.
func line(s string) templ.Component { return drawn("", foreign.Exact(s), "", plainly) }

// exactly is a text with its lines kept that somebody decides about: beside what
// hides, blanks, right-to-left letters and look-alikes are drawn.
func exactly(s string) templ.Component { return drawn(`<code>`, foreign.Exact(s), `</code>`, plainly) }

// Exact is a line that somebody decides about.
func Exact(s string) templ.Component { return drawn(`<bdi>`, foreign.ExactLine(s), `</bdi>`, plainly) }

func plainly(text string) string { return text }

func written(open, s string, keepLines bool, end string) templ.Component {
	return breaking(open, s, keepLines, end, plainly)
}

// breaking is written with a say in where its readable runs, escaped already,
// may be broken.
func breaking(open, s string, keepLines bool, end string, where func(string) string) templ.Component {
	return drawn(open, Visible(s, keepLines), end, where)
}

func drawn(open string, pieces []foreign.Piece, end string, where func(string) string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		b.WriteString(open)
		for _, p := range pieces {
			if text := templ.EscapeString(p.Text); p.Odd {
				b.WriteString(`<span class="odd" title="` + p.Name + `">` + text + `</span>`)
			} else {
				b.WriteString(where(text))
			}
		}
		b.WriteString(end)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func keyCaps(keys string) []string {
	return strings.Fields(Plain(keys))
}
