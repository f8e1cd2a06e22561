package source

import (
	"strings"
	"unicode/utf8"

	"tandem/internal/source/decode"
)

// most is how long a passage is: what somebody reads at a glance, and a model without paying for the rest.
const most = 2000

// passage is a stretch of a document, with the place where it stands.
type passage struct{ spot, text string }

// passagesOf are a document's parts, of which long ones are cut.
func passagesOf(d *decode.Document) []passage {
	out := []passage{}
	for _, p := range d.Parts {
		for _, text := range cut(p.Text) {
			out = append(out, passage{p.Place, text})
		}
	}
	return out
}

// cut parts a text where a paragraph ends, else a line, else a word, and in the middle of one only where there is nothing else.
func cut(s string) (out []string) {
	for len(s) > most {
		end := most
		for _, mark := range []string{"\n\n", "\n", " "} {
			if at := strings.LastIndex(s[:most], mark); at > most/2 {
				end = at
				break
			}
		}
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		out = append(out, strings.TrimSpace(s[:end]))
		s = strings.TrimSpace(s[end:])
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}
