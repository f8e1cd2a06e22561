package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// What takes texts apart quickly finds in each what taking them apart plainly does.
func TestTextsAreTakenApartAsPlainly(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 20))
	signs := []rune("aabcdeTHEsSXY019__--''’ .,/\u00e9\u0301\u00df\u4e2d\u01c5\ufdfa\ufffd\"\n")
	for range 50_000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteRune(signs[r.IntN(len(signs))])
		}
		s := b.String()
		if r.IntN(20) == 0 {
			s += "\xff" + s
		}
		if got, want := Terms(s), oldTerms(s); !slices.Equal(got, want) {
			t.Fatalf("%q\n%v\n%v", s, got, want)
		}
		words := oldWords(s)
		if got := Words(s); !slices.Equal(got, words) {
			t.Fatalf("%q\n%v\n%v", s, got, words)
		}
		for i, f := range Folded(s) {
			if f != words[i].Folded {
				t.Fatalf("%q: %s is not %s", s, f, words[i].Folded)
			}
		}
	}
}

// No term holds the sign that stands between those of a text where they are noted.
func TestNoTermHoldsABar(t *testing.T) {
	for r := range rune(utf8.MaxRune) {
		if unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) || unicode.IsDigit(r) {
			for _, w := range Terms(string([]rune{r, 'x', r})) {
				if strings.Contains(w.Stem, "|") {
					t.Fatalf("%U is %q", r, w.Stem)
				}
			}
		}
	}
}

func oldTerms(s string) []Term {
	var out []Term
	at := 0
	for _, whole := range oldRuns(s) {
		parts := oldSplit(whole)
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

func oldWords(s string) []Word {
	var out []Word
	for _, whole := range oldRuns(s) {
		for _, p := range oldSplit(whole) {
			if f := fold(p); !stop[f] && len(f) <= maxTerm {
				out = append(out, Word{f, Stem(f)})
			}
		}
	}
	return out
}

func oldRuns(s string) []string {
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

func oldSplit(word string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == '_' || r == '-' }) {
		part = strings.ReplaceAll(part, "’", "'")
		if i := strings.IndexByte(part, '\''); i > 0 {
			part = part[:i]
		}
		out = append(out, oldCamels(part)...)
	}
	return out
}

func oldCamels(s string) []string {
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
