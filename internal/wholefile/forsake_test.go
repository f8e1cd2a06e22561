package wholefile

import (
	"os"
	"path/filepath"
	"testing"
)

// What a crash left beside a file is removed by the file's own name, and nothing else there is.
func TestForsakeRemovesTheHalvesOfOneFile(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "copy.backup"), filepath.Join(dir, "other.backup")
	for _, p := range []string{path, other} {
		f, err := Create(p)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if err := Write(path, []byte("whole")); err != nil {
		t.Fatal(err)
	}
	if err := Forsake(path); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 {
		t.Errorf("left are %v, %v", list, err)
	}
	if err := Forsake(filepath.Join(dir, "gone", "x")); err != nil {
		t.Errorf("in a folder that is not there: %v", err)
	}
}
