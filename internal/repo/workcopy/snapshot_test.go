package workcopy

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
)

// Files and folders that go while they are being looked at are gone, and no reason
// to fail: somebody else works in the folder.
func TestFilesMayVanish(t *testing.T) {
	root := t.TempDir()
	s, err := gitstore.Init(root, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := Init(root, s, repo.RootOperationID, repo.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "stays"), []byte("here\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			for _, name := range []string{"a", "b", "d/e/f", "d/g"} {
				path := filepath.Join(root, name)
				os.MkdirAll(filepath.Dir(path), 0o755)
				os.WriteFile(path, []byte(name), 0o644)
			}
			for _, name := range []string{"a", "b", "d"} {
				os.RemoveAll(filepath.Join(root, name))
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	for range 200 {
		l, err := w.Lock()
		if err != nil {
			t.Fatal(err)
		}
		tree, _, err := l.Snapshot(SnapshotOptions{})
		if err != nil {
			l.Discard()
			t.Fatal(err)
		}
		if err := l.Finish(repo.RootOperationID); err != nil {
			t.Fatal(err)
		}
		if v, err := repo.ValueAt(s, tree, "stays"); err != nil || !repo.IsPresent(v) {
			t.Fatalf("a file that stays is %v, %v", v, err)
		}
	}
}
