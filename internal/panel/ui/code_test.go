package ui

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/internal/unified"
)

// Colours and marks change nothing of what a line says: without them it is drawn as any line that somebody decides by.
func TestCodeReadsAsItsLine(t *testing.T) {
	own := regexp.MustCompile(`<span class="(code-[a-z]+|diff-mark)( diff-mark)?">([^<]*)</span>`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("if x1 \"'/<&#é\u202eа\t  ")))
		lines := unified.Marked([]unified.Line{{Op: '-', Text: text.Draw(t, "was")}, {Op: '+', Text: text.Draw(t, "is")}})
		for _, l := range lines {
			var plain, shown strings.Builder
			if err := line(l.Text).Render(t.Context(), &plain); err != nil {
				t.Fatal(err)
			}
			if err := code("a.go", l).Render(t.Context(), &shown); err != nil {
				t.Fatal(err)
			}
			if got := own.ReplaceAllString(shown.String(), "$3"); got != plain.String() {
				t.Errorf("%q is drawn as %s, want %s", l.Text, got, plain.String())
			}
		}
	})
}
