package ui

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// pieces writes a text with hidden characters spelled out. It is written by
// hand because space counts here, and the template compiler adds some.
func pieces(s string, keepLines bool) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		for _, p := range Visible(s, keepLines) {
			text := templ.EscapeString(p.Text)
			if p.Odd {
				text = `<span class="odd" title="` + p.Name + `">` + text + `</span>`
			}
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// ShortID keeps an id's prefix and its last six characters, which differ
// between ids made in the same second.
func ShortID(s string) string {
	p := Plain(s)
	prefix, rest, ok := strings.Cut(p, "_")
	if !ok || len(rest) < 12 {
		return Short(p, 28)
	}
	return prefix + "_…" + rest[len(rest)-6:]
}

func keyCaps(keys string) []string {
	return strings.Fields(Plain(keys))
}
