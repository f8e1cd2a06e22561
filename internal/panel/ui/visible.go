package ui

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"tandem/internal/foreign"
)

// Visible splits s so that nothing in it stays hidden. Line feeds and tabs are
// readable only where lines are kept.
func Visible(s string, keepLines bool) []foreign.Piece { return foreign.Drawn(s, keepLines) }

// Plain is Visible for places that hold no elements: attributes and titles.
func Plain(s string) string { return spelled(s, false) }

// PlainLines is Plain for a field of several lines: what a person edits there is what they see.
func PlainLines(s string) string { return spelled(s, true) }

func spelled(s string, keepLines bool) string {
	return foreign.Spelled(foreign.Drawn(s, keepLines), "⟨", "⟩")
}

// Short is Plain cut to at most n characters, with an ellipsis when cut.
func Short(s string, n int) string {
	s = Plain(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// JSONText spells hidden characters of a JSON text as JSON does, \u202e, which
// changes how it reads and not what it says: it may be edited and sent back.
func JSONText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || !foreign.Hides(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, "\\u%04x\\u%04x", hi, lo)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}
