package peer

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var wraps = regexp.MustCompile(`\br\.key\.Wrap\("(\w+)"`)

// A key that is replaced seals everything anew that the old one sealed: attachments that waited to be sent were left out, and could not be
// opened any more.
func TestEverySealIsMadeAnew(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	var labels []string
	for _, v := range sealed {
		labels = append(labels, v.label)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range wraps.FindAllStringSubmatch(string(text), -1) {
			found++
			if !slices.Contains(labels, m[1]) {
				t.Errorf("%s seals %q, and a new key does not", file, m[1])
			}
		}
	}
	if found < len(sealed) {
		t.Errorf("%d seals were found, and %d are on the list", found, len(sealed))
	}
}
