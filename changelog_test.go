package tandem

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A release sorts what changed by kind, so each fragment says its own, as changelog/TEMPLATE.md shows.
func TestEveryFragmentSaysItsKind(t *testing.T) {
	form := regexp.MustCompile(`\AKind: (Added|Changed|Fixed|Removed|Security)\n\n\S`)
	files, err := filepath.Glob("changelog/unreleased/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || !form.Match(text) {
			t.Errorf("%s does not begin as changelog/TEMPLATE.md shows: %v", name, err)
		}
	}
}
