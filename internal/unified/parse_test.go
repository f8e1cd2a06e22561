package unified

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	text := "--- a.go\n+++ a.go\n@@ line 4 @@\n two\n three\n-four\n+4\n+--- not a file\n five\n" +
		"--- a/b.go\t2026\n+++ b/b.go\t2026\n@@ -10,2 +11,1 @@ func x\n-gone\n same\n\\ No newline at end of file\n"
	var got []string
	for _, f := range Parse(text) {
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

// Git names a file before its sides. A mode stays to be read, the names of blobs do not, and a file that only moved has its place.
func TestParseOfGit(t *testing.T) {
	text := "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\nindex 1111111..2222222\n--- a/run.sh\n+++ " +
		"b/run.sh\n@@ -1 +1 @@\n-a\n+b\n" +
		"diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\n" +
		"diff --git a/logo.png b/logo.png\nindex 3333333..4444444 100644\nBinary files a/logo.png and b/logo.png differ\n"
	var got []string
	for _, f := range Parse(text) {
		got = append(got, f.Path)
		for _, l := range f.Lines {
			got = append(got, fmt.Sprintf("%c %s", l.Op, l.Text))
		}
	}
	want := []string{"run.sh", "@ old mode 100644", "@ new mode 100755", "@ -1 +1", "- a", "+ b",
		"new name", "@ similarity index 100%", "@ rename from old name", "@ rename to new name",
		"logo.png", "@ Binary files a/logo.png and b/logo.png differ"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A name is chosen by whoever made the file. It hides neither another name nor a line of the diff.
func TestParseOfNamesThatMislead(t *testing.T) {
	text := "diff --git a/deploy b/README.md b/deploy b/README.md\nold mode 100644\nnew mode 100755\nindex of what is left out\n"
	files := Parse(text)
	if len(files) != 1 || files[0].Path != "deploy b/README.md" {
		t.Fatalf("%+v", files)
	}
	if n := len(files[0].Lines); n != 3 {
		t.Errorf("%d lines are shown, want 3: %+v", n, files[0].Lines)
	}
}
