package approval

import "testing"

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\nand more":      "plain text\nand more",
		"é 世界":                      "é 世界",
		"a\x1b[2Jb":                 "a<U+001B>[2Jb",
		"rm\u202e-rf":               "rm<U+202E>-rf",
		"zero\u200bwidth":           "zero<U+200B>width",
		"bell\a tab\t return\r end": "bell<U+0007> tab<U+0009> return<U+000D> end",
		"bad\xffutf8":               "bad<U+FFFD>utf8",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q is shown as %q, not %q", in, got, want)
		}
	}
}
