package tandem

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Words of our own that nobody explained met people in the first minutes. Each stands in the glossary, README leads there, and what the
// glossary leads to is there.
func TestOurWordsAreExplained(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	glossary := read("docs/glossary.md")
	for word := range strings.FieldsSeq("house room gate door seat term fence digest presence reap surfaced wake newcomer intandem " +
		"space workspace session turn ask grant journal actor owner lease relay job checkpoint seal") {
		if !regexp.MustCompile(`(?m)^- \*\*[^*]*\b` + word + `\b[^*]*\*\*`).MatchString(glossary) {
			t.Errorf("docs/glossary.md does not explain %q", word)
		}
	}
	if !strings.Contains(read("README.md"), "(docs/glossary.md)") {
		t.Error("README does not lead to the glossary")
	}
	// Whoever opens a page first may not have met the words before.
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages of docs: %v", len(pages), err)
	}
	for _, page := range pages {
		switch filepath.Base(page) {
		case "glossary.md", "cli.md", "ARCHITECTURE.md", "THREATS.md", "replaces.md", "speed.md": // itself, helps, and what builders read
			continue
		}
		if top, _, _ := strings.Cut(read(page), "\n## "); !strings.Contains(top, "(glossary.md)") {
			t.Errorf("%s does not lead to the glossary before its first heading", page)
		}
	}
	for _, to := range regexp.MustCompile(`\]\(([a-z]+\.md)\)`).FindAllStringSubmatch(glossary, -1) {
		if _, err := os.Stat("docs/" + to[1]); err != nil {
			t.Errorf("the glossary leads to %s, which is not there", to[1])
		}
	}
}
