package repo

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawText(t *rapid.T, label string) []byte {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "<<<<<<<\n", "+++++++ x\n", "%%%%%%%%%\n", "a\r\n",
		"- b\n"}), 0, 6).Draw(t, label)
	text := strings.Join(lines, "")
	if rapid.Bool().Draw(t, label+" ends") {
		text = strings.TrimSuffix(text, "\n")
	}
	return []byte(text)
}

// A conflict written into a file in any style and left alone is the same
// conflict when it is read back.
func TestMaterializedConflictsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewOverlay(nil)
		sides := rapid.IntRange(2, 4).Draw(t, "sides")
		ids := make(Merge[FileID], 2*sides-1)
		contents := make([][]byte, len(ids))
		for i := range ids {
			contents[i] = drawText(t, "term")
			ids[i], _ = s.PutFile(t.Context(), contents[i])
		}
		simple := ids.Simplify()
		if simple.IsResolved() {
			return
		}
		terms, _, _ := readTerms(t.Context(), s, simple)
		c := &FileConflict{IDs: simple, Contents: terms}
		style := MarkerStyle(rapid.IntRange(0, 3).Draw(t, "style"))
		n := MarkerLen(terms)
		shown := c.Materialize(style, n)
		got, err := UpdateConflict(t.Context(), s, ids, shown, n)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equal(ids) {
			t.Fatalf("style %d: %q came back as %v, was %v", style, shown, got, ids)
		}
	})
}

// Merging in any order of sides resolves the same files to the same text.
func TestMergeOfFilesCommutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, base, b := drawText(t, "a"), drawText(t, "base"), drawText(t, "b")
		x, okX := tryMergeFiles([][]byte{a, base, b})
		y, okY := tryMergeFiles([][]byte{b, base, a})
		if okX != okY || okX && !bytes.Equal(x, y) {
			t.Fatalf("%q, %v and %q, %v", x, okX, y, okY)
		}
	})
}

func TestSeedsDrawJJsChangeIDs(t *testing.T) {
	// The first change ids of jj's own tests, by seed.
	for seed, want := range map[uint64]string{1: "qpvuntsm", 2: "rlvkpnrz", 3: "kkmpptxz"} {
		if got := SeededChangeIDs(seed)().String()[:8]; got != want {
			t.Errorf("seed %d draws %s, want %s", seed, got, want)
		}
	}
}

func TestMergeAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 4).Draw(t, "n")
		m := Merge[int](rapid.SliceOfN(rapid.IntRange(0, 3), 2*n+1, 2*n+1).Draw(t, "m"))
		sum := func(m Merge[int]) map[int]int {
			out := map[int]int{}
			for i, v := range m {
				out[v] += 1 - 2*(i%2)
			}
			for k, v := range out {
				if v == 0 {
					delete(out, k)
				}
			}
			return out
		}
		simple := m.Simplify()
		want, got := sum(m), sum(simple)
		if len(want) != len(got) {
			t.Fatalf("%v simplifies to %v", m, simple)
		}
		for k, v := range want {
			if got[k] != v {
				t.Fatalf("%v simplifies to %v", m, simple)
			}
		}
		if !simple.Simplify().Equal(simple) {
			t.Fatalf("%v can be simplified again", simple)
		}
		a, okA := m.Trivial()
		b, okB := simple.Trivial()
		if okA != okB || a != b {
			t.Fatalf("%v resolves to %v %v, simplified to %v %v", m, a, okA, b, okB)
		}
		nested := Flatten([]Merge[int]{m, m, m})
		if !nested.Simplify().Equal(nested.Simplify().Simplify()) || len(sum(nested)) != len(want) {
			t.Fatalf("flattening %v gives %v", m, nested)
		}
	})
}
