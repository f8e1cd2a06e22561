package unified

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func render(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteByte(l.Op)
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestDiffKeepsContextAndMarksGaps(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	after := "1\n2\n3\n4\n5\n6\n7\neight\n9\n10\n"
	want := "@4 lines unchanged\n 5\n 6\n 7\n-8\n+eight\n 9\n+10\n"
	if got := render(Diff(before, after)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestDiffOfNothing(t *testing.T) {
	if got := render(Diff("", "")); got != "" {
		t.Errorf("got %q", got)
	}
	if got := render(Diff("", "new\n")); got != "+new\n" {
		t.Errorf("got %q", got)
	}
	if got := render(Diff("old\n", "")); got != "-old\n" {
		t.Errorf("got %q", got)
	}
}

// Reading the kept and removed lines gives the old text; kept and added, the new one.
func TestDiffRebuildsBothSides(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(line, 0, 12).Draw(t, "a"), rapid.SliceOfN(line, 0, 12).Draw(t, "b")
		var gotA, gotB []string
		for _, l := range myers(a, b) {
			if l.Op != '+' {
				gotA = append(gotA, l.Text)
			}
			if l.Op != '-' {
				gotB = append(gotB, l.Text)
			}
		}
		if strings.Join(gotA, ",") != strings.Join(a, ",") || strings.Join(gotB, ",") != strings.Join(b, ",") {
			t.Fatalf("%v -> %v came back as %v -> %v", a, b, gotA, gotB)
		}
	})
}
