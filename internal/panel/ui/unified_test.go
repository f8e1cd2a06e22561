package ui

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseDiff(t *testing.T) {
	text := "--- a.go\n+++ a.go\n@@ line 4 @@\n two\n three\n-four\n+4\n+--- not a file\n five\n" +
		"--- a/b.go\t2026\n+++ b/b.go\t2026\n@@ -10,2 +11,1 @@ func x\n-gone\n same\n\\ No newline at end of file\n"
	var got []string
	for _, f := range ParseDiff(text) {
		got = append(got, f.Path)
		for _, l := range f.Lines {
			got = append(got, fmt.Sprintf("%c %d %d %s", l.Op, l.Old, l.New, l.Text))
		}
	}
	want := []string{"a.go", "@ 0 0 line 4", "  2 2 two", "  3 3 three", "- 4 0 four", "+ 0 4 4", "+ 0 5 --- not a file", "  5 6 five",
		"b.go", "@ 0 0 -10,2 +11,1 @@ func x", "- 10 0 gone", "  11 11 same", `@ 0 0 \ No newline at end of file`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
