package wholefile

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A database that somebody looked at lies in a folder, which stayed for ever where they were killed.
func TestForsakeAllRemovesFolders(t *testing.T) {
	dir, hour := t.TempDir(), time.Now().Add(-time.Hour)
	for name, age := range map[string]time.Time{".tandem-look-old": hour.Add(-time.Hour), ".tandem-look-new": time.Now(),
		"mine": hour.Add(-time.Hour)} {
		path := filepath.Join(dir, name)
		file := filepath.Join(path, "tandem.db")
		for _, err := range []error{os.Mkdir(path, 0o700), os.WriteFile(file, nil, 0o600), os.Chtimes(file, age, age),
			os.Chtimes(path, hour.Add(-time.Hour), hour.Add(-time.Hour))} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := ForsakeAll(dir, hour); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 || list[0].Name() != ".tandem-look-new" || list[1].Name() != "mine" {
		t.Errorf("left are %v, %v", list, err)
	}
}

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
