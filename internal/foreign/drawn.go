package foreign

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Piece is a run of a text: either readable as it is, or something that a reader would not see, would see in another order or
// would take for something else, spelled out.
type Piece struct {
	Text string // what to show
	Odd  bool   // spelled out
	Name string // for odd pieces: what it is
	At   int    // the byte of the text at which it begins
}

var oddNames = map[rune]string{
	0x00: "null", 0x07: "bell", 0x08: "backspace", 0x09: "tab", 0x0a: "line feed", 0x0d: "carriage return", 0x1b: "escape", 0x7f: "delete",
	0xad: "soft hyphen", 0x61c: "arabic letter mark", 0x180e: "mongolian vowel separator",
	0x200b: "zero width space", 0x200c: "zero width non-joiner", 0x200d: "zero width joiner",
	0x200e: "left-to-right mark", 0x200f: "right-to-left mark",
	0x2028: "line separator", 0x2029: "paragraph separator",
	0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding", 0x202c: "pop directional formatting",
	0x202d: "left-to-right override", 0x202e: "right-to-left override", 0x2060: "word joiner",
	0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate", 0x2068: "first strong isolate", 0x2069: "pop directional isolate",
	0xfeff: "byte order mark",
	0x115f: "hangul filler", 0x1160: "hangul filler", 0x3164: "hangul filler", 0xffa0: "hangul filler", 0x2800: "blank braille",
}

// Hides tells whether a reader needs to be told that r is there.
func Hides(r rune) bool {
	switch {
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors carry hidden bytes
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags and the unassigned around them
		return true
	}
	_, named := oddNames[r]
	return named
}

// Drawn splits s so that nothing in it stays hidden. Line feeds and tabs are readable only where lines are kept.
func Drawn(s string, keepLines bool) []Piece {
	d := drawing{s: s}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			d.odd(i, n, notUTF8(s[i]))
		case keepLines && (r == '\n' || r == '\t'):
		case Hides(r):
			d.odd(i, n, oddPiece(r))
		}
		i += n
	}
	return d.end()
}

// drawing collects pieces: what is not odd is one run from start on.
type drawing struct {
	s     string
	start int
	out   []Piece
}

func (d *drawing) odd(at, n int, p Piece) {
	if at > d.start {
		d.out = append(d.out, Piece{Text: d.s[d.start:at], At: d.start})
	}
	p.At = at
	d.out, d.start = append(d.out, p), at+n
}

func (d *drawing) end() []Piece {
	if len(d.s) > d.start {
		d.out = append(d.out, Piece{Text: d.s[d.start:], At: d.start})
	}
	return d.out
}

func notUTF8(b byte) Piece {
	return Piece{Text: fmt.Sprintf("\\x%02x", b), Odd: true, Name: "a byte that is not UTF-8"}
}

func oddPiece(r rune) Piece {
	name, ok := oddNames[r]
	switch {
	case ok:
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		name = "control character"
	case r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef:
		name = "variation selector"
	case r >= 0xe0000 && r <= 0xe007f:
		name = "tag character"
	default:
		name = "invisible character"
	}
	return Piece{Text: fmt.Sprintf("U+%04X", r), Odd: true, Name: name}
}

// Spelled is pieces as a text, each odd one between two marks.
func Spelled(pieces []Piece, open, end string) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Odd {
			b.WriteString(open + p.Text + end)
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
