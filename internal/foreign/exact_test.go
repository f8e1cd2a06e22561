package foreign

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Five thousand blanks hid the end of a command, a blank that is none blanked the screen, Hebrew letters changed places with their
// neighbours, and nobody tells a Cyrillic a from ours. All of it is drawn where somebody decides.
func TestWhatSomebodyDecidesAboutHidesNothing(t *testing.T) {
	for in, want := range map[string]string{
		"git push origin main":                         "git push origin main",
		"if x {\n\t\t\tgo()\n        ok()\n}\n":        "if x {\n\t\t\tgo()\n        ok()\n}\n",
		"résumé 日本 Größe 🙂":                            "résumé 日本 Größe 🙂",
		"привет мир, αλφα":                             "привет мир, αλφα",
		"ls" + strings.Repeat(" ", 5000) + "&& cat /e": "ls<5000 blanks>&& cat /e",
		"ls" + strings.Repeat("\t", 30) + "x":          "ls<30 tabs>x",
		"ls" + strings.Repeat("\n", 200) + "rm -rf /":  "ls<199 empty lines>\nrm -rf /",
		"one  \ntwo":                             "one<2 blanks>\ntwo",
		"rm\u00a0-rf\u3000x":                     "rm<U+00A0>-rf<U+3000>x",
		"cat א/etc":                              "cat <U+05D0>/etc",
		"p\u0430ypal.com":                        "p<U+0430>ypal.com",
		"\u0441\u0441 main.c":                    "<U+0441><U+0441> main.c",
		"g\u2060it\u202e \x1b[2J":                "g<U+2060>it<U+202E> <U+001B>[2J",
		"\uff52\uff4d -rf":                       "<U+FF52><U+FF4D> -rf",
		"bad\xffbyte":                            "bad<\\xff>byte",
		strings.Repeat(" ", 30) + "deep":         strings.Repeat(" ", 30) + "deep",
		strings.Repeat(" ", 90) + "out of sight": "<90 blanks>out of sight",
	} {
		if got := Spelled(Exact(in), "<", ">"); got != want {
			t.Errorf("%q is drawn as %q, not %q", in, got, want)
		}
	}
	if got := Spelled(ExactLine("a\nb"), "<", ">"); got != "a<U+000A>b" {
		t.Errorf("a line is drawn as %q", got)
	}
}

// Whatever comes in, nothing hidden comes out.
func FuzzExact(f *testing.F) {
	f.Add("a\u202eb\u200bc\xff\x00 \u0430\u00a0   \n\n\n\n\n\n")
	f.Fuzz(func(t *testing.T, s string) {
		out := Spelled(Exact(s), "⟨", "⟩")
		if !utf8.ValidString(out) {
			t.Fatalf("%q is not drawn as UTF-8", s)
		}
		for _, r := range out {
			if r != '\n' && r != '\t' && (Hides(r) || rightToLeft(r) && unicode.IsLetter(r)) {
				t.Fatalf("%q lets %U through", s, r)
			}
		}
		if strings.Contains(out, strings.Repeat(" ", mostIndent+1)) || strings.Contains(out, strings.Repeat("\n", mostEmpty+2)) {
			t.Fatalf("%q is drawn with a long run of blanks", s)
		}
	})
}
