package host

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// While agents push, indexes and the names that keep commits go all the time. A copy began anew for each of them, five times, found all
// that was new by then, and gave up at last. It looks again only for what may have moved.
func TestACopyIsNotBegunAnewForWhatEveryPushReplaces(t *testing.T) {
	for gone, again := range map[string]bool{".jj/repo/index/segments/b": false, ".git/refs/jj/keep/b": false, ".git/objects/ab/b": true,
		".jj/repo/op_store/operations/b": true} {
		root := t.TempDir()
		dir := filepath.Join(root, filepath.Dir(filepath.FromSlash(gone)))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c := &copying{ctx: t.Context(), root: root, done: map[string]bool{}, add: func(string, fs.FileMode, io.Reader) error {
			return os.RemoveAll(filepath.Join(dir, "b")) // it was listed with a
		}}
		if err := c.walk("."); err != nil || c.moved != again {
			t.Errorf("%s: looks again: %v, %v", gone, c.moved, err)
		}
	}
}
