package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// plain writes letters that have no accent to lose with those of English.
var plain = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ł", "l", "ı", "i", "þ", "th", "ð", "d")

// fold is a word in lower case without accents, whether they are written into the letter or behind it.
func fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToLower(s)))
	return plain.Replace(bare)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
