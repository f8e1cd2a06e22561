package foreign

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How long a run of blanks, tabs or empty lines may be before it is counted rather than shown: a longer one pushes what follows
// out of sight. Code is indented, so that the beginning of a line may have more.
const (
	mostBlanks = 16
	mostIndent = 40
	mostEmpty  = 3
)

// Exact is a text that a person decides about, with its lines kept. Beside what hides, it spells out blanks that are not blanks,
// letters that are written from right to left (they would change places with their neighbours) and letters that look like
// others; long runs of blanks, tabs and empty lines, and blanks at the end of a line, are counted.
func Exact(s string) []Piece {
	d := drawing{s: s}
	for i := 0; i < len(s); {
		if n, p := blankRun(s, i); n > 0 {
			if p.Odd {
				d.odd(i, n, p)
			}
			i += n
			continue
		}
		if n := wordRun(s[i:]); n > 0 {
			d.word(i, n)
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			d.odd(i, n, notUTF8(s[i]))
		case Hides(r):
			d.odd(i, n, oddPiece(r))
		case unicode.Is(unicode.Zs, r):
			d.odd(i, n, Piece{Text: fmt.Sprintf("U+%04X", r), Odd: true, Name: "a blank that is not a space"})
		}
		i += n
	}
	return d.end()
}

// ExactLine is Exact for what is a line or a cell: it also shows what would begin another one.
func ExactLine(s string) []Piece {
	var out []Piece
	at := 0
	for i, l := range strings.Split(s, "\n") {
		if i > 0 {
			feed := oddPiece('\n')
			feed.At = at
			out, at = append(out, feed), at+1
		}
		for _, p := range Exact(l) {
			p.At += at
			out = append(out, p)
		}
		at += len(l)
	}
	return out
}

// blankRun is the length of the run of spaces, tabs or line feeds at i; its piece is odd where the run is counted.
func blankRun(s string, i int) (int, Piece) {
	c := s[i]
	if c != ' ' && c != '\t' && c != '\n' {
		return 0, Piece{}
	}
	n := len(s[i:]) - len(strings.TrimLeft(s[i:], string(c)))
	counted := func(one, many string, shown int) Piece {
		if shown == 1 {
			many = one
		}
		return Piece{Text: fmt.Sprintf("%d %s", shown, many), Odd: true, Name: "counted, not shown"}
	}
	starts, ends := i == 0 || s[i-1] == '\n', i+n == len(s) || s[i+n] == '\n'
	switch {
	case c == '\n' && n > mostEmpty+1:
		n -= 2 // the line before ends, and what follows begins a line
		return n + 1, Piece{Text: fmt.Sprintf("%d empty lines", n+1), Odd: true, Name: "counted, not shown"}
	case c == '\n', n <= mostIndent && starts && !ends, n <= mostBlanks && !ends:
		return n, Piece{}
	case c == '\t':
		return n, counted("tab", "tabs", n)
	}
	return n, counted("blank", "blanks", n)
}

// wordRun is the length of the letters, marks and digits at the beginning of s.
func wordRun(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) || r == utf8.RuneError || Hides(r) {
			return i
		}
	}
	return len(s)
}

// word spells out the letters of a word that are read in another order or as other letters. A word in one foreign script that
// has letters of its own is read as what it is.
func (d *drawing) word(at, n int) {
	w := d.s[at : at+n]
	latin, own, alike := false, false, false
	for _, r := range w {
		switch {
		case r < utf8.RuneSelf:
			latin = latin || unicode.IsLetter(r)
		case looksLike(r) != 0:
			alike = true
		case unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r):
			own = true
		}
	}
	for i, r := range w {
		size := utf8.RuneLen(r)
		switch like := looksLike(r); {
		case rightToLeft(r):
			d.odd(at+i, size, Piece{Text: fmt.Sprintf("U+%04X", r), Odd: true, Name: "a letter that is written from right to left"})
		case like != 0 && alike && (latin || !own):
			d.odd(at+i, size, Piece{Text: fmt.Sprintf("U+%04X", r), Odd: true, Name: "looks like " + string(like)})
		}
	}
}

func rightToLeft(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff || r >= 0x10800 && r <= 0x10fff ||
		r >= 0x1e800 && r <= 0x1efff
}

// alikes are letters of other scripts beside the ASCII letters that they cannot be told from.
var alikes = func() map[rune]rune {
	out := map[rune]rune{}
	for _, pair := range []struct{ ours, theirs string }{
		{"abceghijklmnopqrsuvwxy", "аЬсегһіјкӏмпорԛгѕυνԝху"},
		{"ABCEHIJKMOPSTXYZ", "АВСЕНІЈКМОРЅТХҮΖ"},
		{"aeiounpvxytd", "αειουηρνχγτԁ"},
		{"ABEZHIKMNOPTYX", "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"},
		{"oshuplgq", "օѕհսрӏցզ"},
		{"OSUL", "ՕՏՍԼ"},
		{"DRTiYAJEWMHGLPKCVSZB", "ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᏀᏞᏢᏦᏟᏙᏚᏃᏴ"},
	} {
		theirs := []rune(pair.theirs)
		for i, r := range []rune(pair.ours) {
			if _, ok := out[theirs[i]]; !ok {
				out[theirs[i]] = r
			}
		}
	}
	return out
}()

// looksLike is the ASCII letter or digit that r is taken for, 0 for none.
func looksLike(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return 0
	case r >= 0xff01 && r <= 0xff5e: // full width
		return r - 0xff01 + '!'
	case r >= 0x1d400 && r <= 0x1d7ff: // letters and digits of mathematics
		return 'a'
	case r == 'ı':
		return 'i'
	case r == 'ɑ':
		return 'a'
	case r == 'ɡ':
		return 'g'
	}
	return alikes[r]
}
