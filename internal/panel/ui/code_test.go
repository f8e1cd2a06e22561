package ui

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/internal/foreign"
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

// A line is divided into no more parts than it has pieces, spans and marks, and none of these is looked at twice:
// a hostile diff slows no page.
func TestALineIsDividedOnce(t *testing.T) {
	for _, unit := range []string{"1\u200b ", "if\u202e1 ", "\u200b", "'a'\u200b"} {
		text := strings.Repeat(unit, 2000/len(unit))
		pieces := foreign.Exact(text)
		d := divider{spans: unified.Spans("a.go", text), marks: []unified.Mark{{From: 1, To: len(text) - 1}}}
		most := len(pieces) + 2*len(d.spans) + 2
		for _, p := range pieces {
			if !p.Odd {
				d.piece(p)
			}
		}
		if d.parts > most || len(d.spans) > 1 {
			t.Errorf("%q: %d parts, want at most %d; %d spans are left", unit, d.parts, most, len(d.spans))
		}
	}
}
