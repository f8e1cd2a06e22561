package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	inline   = regexp.MustCompile("`(tandem [a-z][^`]*)`")
	optional = regexp.MustCompile(` ?\[[^\]]*\]`)
)

// What documents name in the middle of a sentence is a command line, too: the command tree takes it. Those in blocks are typed
// (test/proof, TestDocuments).
func TestEveryCommandInTheDocumentsParses(t *testing.T) {
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, doc := range append(docs, "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md") {
		data, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inline.FindAllStringSubmatch(string(data), -1) {
			if filepath.Base(doc) == "cli.md" || m[1] == "tandem help" {
				continue // made from the tree itself
			}
			line := strings.TrimSuffix(strings.TrimSpace(optional.ReplaceAllString(m[1], "")), " …")
			line, _, _ = strings.Cut(line, " | ")
			lines++
			if err := takes(line); err != nil && !strings.Contains(m[1], "…") && !strings.Contains(err.Error(), " is missing") {
				t.Errorf("%s: %q: %v", filepath.Base(doc), m[1], err)
			}
		}
	}
	t.Logf("%d command lines in sentences", lines)
	if lines < 100 {
		t.Errorf("only %d were found", lines)
	}
}
