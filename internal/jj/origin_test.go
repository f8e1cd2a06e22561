package jj

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each command's file says which jj it follows, so that whoever moves to another version reads them all.
func TestEveryVerbNamesItsVersion(t *testing.T) {
	files, err := filepath.Glob("cmd_*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no commands: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\npackage ")
		if head = strings.Join(strings.Fields(strings.ReplaceAll(head, "//", " ")), " "); !strings.Contains(head, "jj "+Version) {
			t.Errorf("%s does not begin with a comment that names jj %s", name, Version)
		}
	}
	if notice, err := os.ReadFile("../../NOTICE"); err != nil || !strings.Contains(string(notice), Version) {
		t.Errorf("NOTICE does not name version %s: %v", Version, err)
	}
}
