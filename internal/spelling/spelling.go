// Package spelling knows which names are one file to some system. macOS and
// Windows open Priv where priv is asked for, and macOS takes é for e with an
// accent after it. A guard that reads a name in one way only is passed by it
// there, so denials and leases compare folded names. What gives something does
// not: there a name means itself.
package spelling

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folded is one spelling for all that differ in case alone, or in how an accent
// is written.
func Folded(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf {
			return strings.Map(fold, norm.NFD.String(s))
		} else if 'A' <= c && c <= 'Z' {
			plain = false
		}
	}
	if plain {
		return s
	}
	return strings.ToLower(s)
}

// fold is one letter for all that are the same but for their case: k, K and the
// sign for kelvin.
func fold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}
