package kit

import (
	"bytes"
	"fmt"
	"testing"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string][2]string{ // as text, as a line
		"plain text\nand\tmore":     {"plain text\nand\tmore", "plain text<U+000A>and<U+0009>more"},
		"é 世界 10\u00a0km":           {"é 世界 10\u00a0km", "é 世界 10\u00a0km"},
		"a\x1b[2Jb":                 {"a<U+001B>[2Jb", "a<U+001B>[2Jb"},
		"quoted \"\x1b[2J\\":        {"quoted \"<U+001B>[2J\\", "quoted \"<U+001B>[2J\\"},
		"in eight bits \u009b2J":    {"in eight bits <U+009B>2J", "in eight bits <U+009B>2J"},
		"rm\u202e-rf":               {"rm<U+202E>-rf", "rm<U+202E>-rf"},
		"zero\u200bwidth":           {"zero<U+200B>width", "zero<U+200B>width"},
		"bell\a return\r end\u007f": {"bell<U+0007> return<U+000D> end<U+007F>", "bell<U+0007> return<U+000D> end<U+007F>"},
		"bad\xffutf8":               {"bad<U+FFFD>utf8", "bad<U+FFFD>utf8"},
	} {
		if got := [2]string{Visible(in), VisibleLine(in)}; got != want {
			t.Errorf("%q is shown as %q, not %q", in, got, want)
		}
	}
}

// On a screen everything is visible; a pipe gets what there is.
func TestScreen(t *testing.T) {
	var b bytes.Buffer
	if n, err := fmt.Fprint(screen{&b, false}, "a\x1b[2J"); err != nil || n != 5 || b.String() != "a<U+001B>[2J" {
		t.Errorf("%d bytes, %v, %q", n, err, b.String())
	}
	if w := Screen(&b); w != &b {
		t.Errorf("a pipe became %T", w)
	}
}
