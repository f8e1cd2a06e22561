package ui

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
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

// line is one line of a diff, tabs kept.
func line(s string) templ.Component { return written("", s, true, "") }

func written(open, s string, keepLines bool, end string) templ.Component {
	return breaking(open, s, keepLines, end, func(text string) string { return text })
}

// breaking is written with a say in where its readable runs, escaped already,
// may be broken.
func breaking(open, s string, keepLines bool, end string, where func(string) string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		b.WriteString(open)
		for _, p := range Visible(s, keepLines) {
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
