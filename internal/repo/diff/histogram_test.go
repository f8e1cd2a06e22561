package diff

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestKeptBytes(t *testing.T) {
	lines := func(s string) []byte { return []byte(strings.Join(strings.Split(s, ""), "\n") + "\n") }
	for _, c := range []struct {
		x, y string
		want int // lines
	}{
		{"abc", "abc", 3},
		{"abc", "xyz", 0},
		{"abcd", "abxd", 3},
		// The rarest line decides, not the longest common part: c occurs once,
		// so what is around it is matched and the three others are lost.
		{"caabb", "aabbc", 1},
		{"aabbc", "caabb", 1},
		// All that is common occurs too often to be told apart.
		{strings.Repeat("a", 80) + "b", "c" + strings.Repeat("a", 70), 70},
	} {
		if got := KeptBytes(lines(c.x), lines(c.y)); got != 2*c.want {
			t.Errorf("%.10s %.10s: kept %d bytes, want %d", c.x, c.y, got, 2*c.want)
		}
	}
}

// TestKeptBytesLaws holds for any texts: a text keeps all of itself, and no more
// is kept than both have.
func TestKeptBytesLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) []byte {
			return bytes.Join(rapid.SliceOfN(rapid.SampledFrom([][]byte{[]byte("a\n"), []byte("bb\n"), []byte("c")}), 0, 90).Draw(t, name), nil)
		}
		x, y := text("x"), text("y")
		if n := KeptBytes(x, x); n != len(x) {
			t.Fatalf("of itself %q keeps %d", x, n)
		}
		if n := KeptBytes(x, y); n > min(len(x), len(y)) {
			t.Fatalf("%q and %q keep %d", x, y, n)
		}
	})
}
