package kit

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Visible shows what somebody else wrote as text: a character that would move the cursor, turn the writing around or hide is
// replaced by its number, so that what a person approves, accepts or believes is what they read.
func Visible(s string) string {
	return spell(s, func(r rune) bool { return r != '\n' && r != '\t' && unseen(r) })
}

// VisibleLine is Visible for what is a line or a cell: it also shows what would begin another one.
func VisibleLine(s string) string { return spell(s, unseen) }

func spell(s string, out func(rune) bool) string {
	if strings.IndexFunc(s, out) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if out(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unseen(r rune) bool { return !unicode.IsGraphic(r) || r == unicode.ReplacementChar }

// Screen is w; where that is a terminal, one on which everything is visible. What goes into a file or a pipe stays as it is.
func Screen(w io.Writer) io.Writer {
	if isTerminal(w) {
		return screen{w, false}
	}
	return w
}

type screen struct {
	w       io.Writer
	colours bool
}

// Write shows p, which ends with a whole character.
func (s screen) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.w, Visible(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
