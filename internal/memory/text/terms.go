package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Term is a stem at its place in a text.
type Term struct {
	Stem string
	At   int // the how-manieth word of the text it is; parts of an identifier stand at consecutive places
}

// maxTerm is how long a term may be: what is longer is a hash, a blob or a line of base64, and nobody asks for it by heart.
const maxTerm = 64

// Terms takes a text apart. Words that carry no meaning keep their place and are left out, so that a phrase still has its distances.
func Terms(s string) []Term {
	var out []Term
	at := 0
	for _, whole := range runs(s) {
		parts := split(whole)
		for i, p := range parts {
			if stem := Stem(fold(p)); len(stem) <= maxTerm && !stop[fold(p)] {
				out = append(out, Term{stem, at + i})
			}
		}
		if joined := fold(strings.Join(parts, "")); len(parts) > 1 && len(joined) <= maxTerm {
			out = append(out, Term{joined, at}) // foo_bar, foo-bar and fooBar are one name
		}
		at += max(1, len(parts))
	}
	return out
}

// Word is a word, or a part of an identifier, that carries meaning.
type Word struct{ Folded, Stem string }

// Words are those of a text in their order.
func Words(s string) []Word {
	var out []Word
	for _, whole := range runs(s) {
		for _, p := range split(whole) {
			if f := fold(p); !stop[f] && len(f) <= maxTerm {
				out = append(out, Word{f, Stem(f)})
			}
		}
	}
	return out
}

// runs are the stretches of letters, digits and underscores, with hyphens and apostrophes between letters.
func runs(s string) []string {
	var out []string
	begin, last := -1, rune(0)
	for i, r := range s {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '_'
		if !inside && begin >= 0 && (r == '-' || r == '\'' || r == '’') && unicode.IsLetter(last) {
			next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			inside = unicode.IsLetter(next)
		}
		switch {
		case inside && begin < 0:
			begin = i
		case !inside && begin >= 0:
			out, begin = append(out, s[begin:i]), -1
		}
		last = r
	}
	if begin >= 0 {
		out = append(out, s[begin:])
	}
	return out
}

// split takes an identifier apart: at underscores and hyphens, between aB and between ABc. A possessive 's falls away.
func split(word string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == '_' || r == '-' }) {
		part = strings.ReplaceAll(part, "’", "'")
		if i := strings.IndexByte(part, '\''); i > 0 {
			part = part[:i]
		}
		out = append(out, camels(part)...)
	}
	return out
}

func camels(s string) []string {
	var out []string
	rs := []rune(s)
	begin := 0
	for i := 1; i < len(rs); i++ {
		lowUp := unicode.IsLower(rs[i-1]) && unicode.IsUpper(rs[i])
		upUpLow := i+1 < len(rs) && unicode.IsUpper(rs[i-1]) && unicode.IsUpper(rs[i]) && unicode.IsLower(rs[i+1])
		if lowUp || upUpLow {
			out, begin = append(out, string(rs[begin:i])), i
		}
	}
	if begin < len(rs) {
		out = append(out, string(rs[begin:]))
	}
	return out
}
