package backup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A person names a folder in which other things are, too. A copy there removed all that was called .tandem-*, and pruning all that was
// called *.copy, *.pieces, or was in a folder called chunks.
func TestWhatIsNotOfACopyStays(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "of [mine]")
	long := time.Now().Add(-48 * time.Hour)
	put := func(name string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
		return path
	}
	there := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	mine := []string{put(".tandem-notes"), put(".tandem-ignore-2"), put(".tandem-backup-20261115"), put("0.copy"), put("1.copy"),
		put("2.pieces"), put("chunks/a/readme"), put("chunks/aa/" + strings.Repeat("x", 62))}
	left := []string{put(".tandem-20260301-120000.000001.copy-1234567890"), put(".tandem-20260301-120000.000001.pieces-12"),
		put(".tandem-tandem-20260301.scheduled-77")}
	if gone, err := Halves(folder, time.Now()); err != nil || len(gone) != len(left) {
		t.Errorf("removed %q, %v", gone, err)
	}
	unused, half := put("chunks/aa/"+strings.Repeat("0", 62)), put("chunks/aa/.tandem-"+strings.Repeat("0", 60)+"-99")
	for range 2 {
		w, err := Create(folder, time.Now(), Secret{}, []byte("naming"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Keep(); err != nil {
			t.Fatal(err)
		}
	}
	if gone, err := Prune(folder, 1, Secret{}); err != nil || len(gone) != 1 || filepath.Base(gone[0])[:2] != "20" {
		t.Errorf("pruned %q, %v", gone, err)
	}
	for _, path := range mine {
		if !there(path) {
			t.Errorf("%s is gone", path)
		}
	}
	for _, path := range append(left, unused, half) {
		if there(path) {
			t.Errorf("%s stays", path)
		}
	}
}
