package text

import (
	"iter"
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
	out := make([]Term, 0, len(s)/6)
	var room [8]string
	at := 0
	for whole := range runs(s) {
		parts := split(room[:0], whole)
		for i, p := range parts {
			if f := fold(p); !stop[f] {
				if stem := Stem(f); len(stem) <= maxTerm {
					out = append(out, Term{stem, at + i})
				}
			}
		}
		if len(parts) > 1 {
			if joined := fold(strings.Join(parts, "")); len(joined) <= maxTerm {
				out = append(out, Term{joined, at}) // foo_bar, foo-bar and fooBar are one name
			}
		}
		at += max(1, len(parts))
	}
	return out
}

// Word is a word, or a part of an identifier, that carries meaning.
type Word struct{ Folded, Stem string }

// Words are those of a text in their order.
func Words(s string) []Word {
	all := Folded(s)
	out := make([]Word, len(all))
	for i, f := range all {
		out[i] = Word{f, Stem(f)}
	}
	return out
}

// Folded are the words of a text in their order, in lower case without accents.
func Folded(s string) []string {
	out := make([]string, 0, len(s)/6)
	var room [8]string
	for whole := range runs(s) {
		for _, p := range split(room[:0], whole) {
			if f := fold(p); !stop[f] && len(f) <= maxTerm {
				out = append(out, f)
			}
		}
	}
	return out
}

// runs are the stretches of letters, digits and underscores, with hyphens and apostrophes between letters.
func runs(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begin, last := -1, rune(0)
		for i, r := range s {
			in := inside(r)
			if !in && begin >= 0 && (r == '-' || r == '\'' || r == '’') && letter(last) {
				next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
				in = letter(next)
			}
			switch {
			case in && begin < 0:
				begin = i
			case !in && begin >= 0:
				if !yield(s[begin:i]) {
					return
				}
				begin = -1
			}
			last = r
		}
		if begin >= 0 {
			yield(s[begin:])
		}
	}
}

// inside says whether a sign belongs to a word wherever it stands.
func inside(r rune) bool {
	if r < 0x80 {
		return small(r) || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

func letter(r rune) bool {
	if r < 0x80 {
		return small(r | 0x20)
	}
	return unicode.IsLetter(r)
}

func small(r rune) bool { return 'a' <= r && r <= 'z' }

// split adds the parts of an identifier: at underscores and hyphens, between aB and between ABc. A possessive 's falls away.
func split(out []string, word string) []string {
	if strings.IndexFunc(word, func(r rune) bool { return !small(r) }) < 0 {
		return append(out, word)
	}
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '_' || r == '-' }) {
		part = strings.ReplaceAll(part, "’", "'")
		if i := strings.IndexByte(part, '\''); i > 0 {
			part = part[:i]
		}
		out = camels(out, part)
	}
	return out
}

// camels adds the parts of a name in which capitals begin them.
func camels(out []string, s string) []string {
	begin := 0
	var before, last rune // the one before the last
	at := 0               // where the last begins
	for i, r := range s {
		switch {
		case i > 0 && unicode.IsLower(last) && unicode.IsUpper(r):
			out, begin = append(out, s[begin:i]), i
		case at > begin && unicode.IsUpper(before) && unicode.IsUpper(last) && unicode.IsLower(r):
			out, begin = append(out, s[begin:at]), at
		}
		before, last, at = last, r, i
	}
	if begin < len(s) {
		out = append(out, s[begin:])
	}
	return out
}
