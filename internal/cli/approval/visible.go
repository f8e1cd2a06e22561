package approval

import (
	"fmt"
	"strings"
	"unicode"
)

// visible shows what an agent wrote as text: a character that would move the cursor, turn the writing around or hide is
// replaced by its number, so that what a person approves is what they read.
func visible(s string) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return r != '\n' && r != ' ' && (!unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar)
}
