package diff

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func show(hunks []Hunk) string {
	var out []string
	for _, h := range hunks {
		if h.Matching {
			out = append(out, fmt.Sprintf("=%s", h.Contents[0]))
			continue
		}
		out = append(out, fmt.Sprintf("<%s>", bytes.Join(h.Contents, []byte("|"))))
	}
	return strings.Join(out, " ")
}

func TestHunks(t *testing.T) {
	for _, c := range []struct {
		name, want string
		got        *Diff
	}{
		{"equal", "=a b", ByWord([]byte("a b"), []byte("a b"))},
		{"one side empty", "<a|>", ByLine([]byte("a"), nil)},
		{"words", "=a  <b|X> = c", ByWord([]byte("a b c"), []byte("a X c"))},
		{"three texts", "=a\n <b\n|x\n|b\n> =c\n", ByLine([]byte("a\nb\nc\n"), []byte("a\nx\nc\n"), []byte("a\nb\nc\n"))},
	} {
		if got := show(c.got.Hunks()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Whatever the texts, the hunks of each put together are the text, and
// matching hunks match.
func TestHunksAreTheTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "a b\n", "z"}), 0, 20), func(s []string) []byte {
			return []byte(strings.Join(s, ""))
		})
		texts := rapid.SliceOfN(text, 2, 4).Draw(t, "texts")
		for _, d := range []*Diff{ByLine(texts...), ByWord(texts...), Fine(texts...)} {
			whole := make([][]byte, len(texts))
			for _, h := range d.Hunks() {
				for i, c := range h.Contents {
					whole[i] = append(whole[i], c...)
					if h.Matching && !bytes.Equal(c, h.Contents[0]) {
						t.Fatalf("matching hunk differs: %q", h.Contents)
					}
				}
			}
			for i := range texts {
				if !bytes.Equal(whole[i], texts[i]) {
					t.Fatalf("text %d became %q", i, whole[i])
				}
			}
		}
	})
}
