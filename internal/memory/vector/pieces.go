package vector

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is how long a word may be that is taken apart, in characters. What is longer is unknown.
const maxWord = 100

const unknown = "[UNK]"

// Words is a vocabulary: the pieces of words, each with its number.
type Words map[string]int32

// Pieces takes a text apart as BERT's tokenizer does: lower case, no accents, signs apart, and words in the longest pieces that the
// vocabulary has.
func (t Words) Pieces(s string) []int32 { return t.pieces(nil, s) }

func (t Words) pieces(out []int32, s string) []int32 {
	begin := -1
	s = clean(s)
	for i, r := range s {
		sign := punctuation(r) || chinese(r)
		if begin >= 0 && (sign || r == ' ') {
			out, begin = t.word(out, s[begin:i]), -1
		}
		switch {
		case sign:
			out = t.word(out, s[i:i+utf8.RuneLen(r)])
		case r != ' ' && begin < 0:
			begin = i
		}
	}
	if begin >= 0 {
		out = t.word(out, s[begin:])
	}
	return out
}

// word adds the pieces of one word, or that it is unknown.
func (t Words) word(out []int32, w string) []int32 {
	had := len(out)
	if utf8.RuneCountInString(w) > maxWord {
		return append(out, t[unknown])
	}
	if id, ok := t[w]; ok {
		return append(out, id)
	}
	var room [2 + 4*maxWord]byte
	marked := append(append(room[:0], "##"...), w...) // a piece inside of a word begins with this
	for begin := 2; begin < len(marked); {
		from := begin - 2
		if begin == 2 {
			from = 2
		} else {
			marked[from], marked[from+1] = '#', '#'
		}
		end := len(marked)
		id, ok := t[string(marked[from:end])]
		for !ok && end > begin {
			_, n := utf8.DecodeLastRune(marked[begin:end])
			end -= n
			id, ok = t[string(marked[from:end])]
		}
		if !ok || end == begin {
			return append(out[:had], t[unknown])
		}
		out, begin = append(out, id), end
	}
	return out
}

// clean is a text in lower case without accents and signs that nobody sees; every space is a blank.
func clean(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return strings.ToLower(s)
	}
	seen := strings.Map(func(r rune) rune {
		switch {
		case r == 0 || r == utf8.RuneError:
			return -1
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.C) || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z):
			return -1
		}
		return r
	}, s)
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(seen))
}

// punctuation are the signs that stand alone. Of ASCII all that is no letter, digit or blank is one.
func punctuation(r rune) bool {
	if r < 0x80 {
		return r > ' ' && !('0' <= r && r <= '9') && !('a' <= r && r <= 'z') && !('A' <= r && r <= 'Z')
	}
	return unicode.IsPunct(r)
}

// chinese are the ideographs, each of which is a word.
func chinese(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df || r >= 0x2a700 && r <= 0x2ceaf ||
		r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}
