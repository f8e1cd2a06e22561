package pack

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// A folder that a stranger named like a pack that comes with tandem is read only where it is meant.
func TestAFolderDoesNotTakeThePlaceOfAPackThatComesWithTandem(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("vendor-risk", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("vendor-risk/pack.toml", []byte("a stranger's"), 0o644); err != nil {
		t.Fatal(err)
	}
	for from, strange := range map[string]bool{"vendor-risk": false, "./vendor-risk": true, "vendor-risk/": true} {
		dir, done, err := open(from)
		if err != nil {
			t.Fatal(err)
		}
		text, err := fs.ReadFile(dir, "pack.toml")
		if err != nil || (string(text) == "a stranger's") != strange {
			t.Errorf("%s is %q, %v", from, text, err)
		}
		if says := origin(from); strings.HasPrefix(says, "read from ") != strange {
			t.Errorf("%s %s", from, says)
		}
		done()
	}
}
