package decode

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// Pages with columns, a table, glyphs without blanks, a broken word, hidden text, a picture, and a page that lies on its side.
func TestPDF(t *testing.T) {
	dir := testenv.Dir(t)
	if out, err := exec.Command(testenv.Tool(t, "python"), "testdata/makepdf.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	paper := file(t, filepath.Join(dir, "paper.pdf"))
	if paper.Title != "Queues and stacks" || len(paper.Parts) != 2 || len(paper.Left) != 0 {
		t.Fatalf("paper.pdf is %+v", paper)
	}
	text := strings.Join(strings.Fields(paper.Parts[0].Text), " ")
	if !strings.HasPrefix(text, "Queues and stacks A queue keeps the order in which work was handed in. Who takes") ||
		!strings.Contains(text, "nobody may stay at the front. A stack is the other way round. The newest is taken first, which is right") {
		t.Errorf("its columns: %s", text)
	}
	if text := strings.Join(strings.Fields(paper.Parts[1].Text), " "); text != "Figures month jobs May 41 June 7" {
		t.Errorf("its table: %s", text)
	}
	odd := file(t, filepath.Join(dir, "odd.pdf"))
	want := []Part{{"page 1", "Words apart\n\nan unbroken word"}, {"page 3", "turned with its page"}}
	left := []string{"hidden text", "page 2, which is a picture without text"}
	if !slices.Equal(odd.Parts, want) || !slices.Equal(odd.Left, left) {
		t.Errorf("odd.pdf is %+v", odd)
	}
	if why := why(t, filepath.Join(dir, "locked.pdf")); !strings.Contains(why, "encrypted") {
		t.Errorf("locked.pdf: %s", why)
	}
}

// A page that a browser printed: fonts of two bytes a glyph, with a map.
func TestPrintedPage(t *testing.T) {
	dir := testenv.Dir(t)
	out := filepath.Join(dir, "printed.pdf")
	cmd := exec.Command(testenv.Tool(t, "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--print-to-pdf="+out, "data:text/html;charset=utf-8,<title>Office</title>"+
			"<h1>Efficient offices</h1><p>Fine ferns, na%C3%AFve Stra%C3%9Fe.<table><tr><td>one<td>42<tr><td>two<td>7</table>")
	cmd.Env = testenv.Env(t)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got := file(t, out)
	if len(got.Parts) != 1 || strings.Join(strings.Fields(got.Parts[0].Text), " ") !=
		"Efficient offices Fine ferns, naïve Straße. one 42 two 7" || got.Title != "Office" {
		t.Errorf("printed.pdf is %+v", got)
	}
}
