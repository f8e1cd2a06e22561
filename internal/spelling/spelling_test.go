package spelling

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestFolded(t *testing.T) {
	for in, want := range map[string]string{"priv": "priv", "/A/Priv.KEY": "/a/priv.key", "\u212Aelvin": "kelvin", "\u017Frc": "src", "": ""} {
		if got := Folded(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	if Folded("a-b") == Folded("a_b") || Folded("ß") == Folded("s") {
		t.Error("other names became one")
	}
}

// Every way to write a name in other cases, or with its accents apart, has the same folded spelling, and folding it again changes nothing.
func TestOneSpellingForAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("aZkKſÄäé\u212Aσςß/.*Ωω"))).Draw(t, "name")
		other := strings.Map(func(r rune) rune {
			for range rapid.IntRange(0, 2).Draw(t, "case") {
				r = unicode.SimpleFold(r)
			}
			return r
		}, s)
		other = rapid.SampledFrom([]norm.Form{norm.NFC, norm.NFD}).Draw(t, "form").String(other)
		if Folded(s) != Folded(other) || Folded(Folded(s)) != Folded(s) {
			t.Fatalf("%q and %q: %q and %q", s, other, Folded(s), Folded(other))
		}
	})
}
