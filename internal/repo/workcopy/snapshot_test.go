package workcopy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
		l, err := w.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tree, _, err := l.Snapshot(t.Context(), SnapshotOptions{})
		if err != nil {
			l.Discard()
			t.Fatal(err)
		}
		if err := l.Finish(repo.RootOperationID); err != nil {
			t.Fatal(err)
		}
		if v, err := repo.ValueAt(t.Context(), s, tree, "stays"); err != nil || !repo.IsPresent(v) {
			t.Fatalf("a file that stays is %v, %v", v, err)
		}
	}
}

// lacking is a repository that something is missing of.
type lacking struct{ repo.Store }

func (lacking) PutFile(context.Context, []byte) (repo.FileID, error) { return "", fs.ErrNotExist }

// What the repository lacks is no reason to take a file for deleted.
func TestWhatTheStoreLacksIsNoDeletion(t *testing.T) {
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
	for _, c := range []struct {
		store repo.Store
		text  string
	}{{s, "here"}, {lacking{s}, "here and changed"}} {
		w.store = c.store
		if err := os.WriteFile(filepath.Join(root, "stays"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := w.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tree, _, err := l.Snapshot(t.Context(), SnapshotOptions{})
		if c.store == s {
			if v, err := repo.ValueAt(t.Context(), s, tree, "stays"); err != nil || !repo.IsPresent(v) {
				t.Fatalf("the file is %v, %v", v, err)
			}
			if err := l.Finish(repo.RootOperationID); err != nil {
				t.Fatal(err)
			}
			continue
		}
		l.Discard()
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the snapshot ended with %v", err)
		}
	}
}

// A tree may come from anywhere: nothing in it is written into a repository or out
// of the folder.
func TestReservedNamesAreNotCheckedOut(t *testing.T) {
	for _, name := range []string{".git", ".jj", ".Git", ".JJ", ".."} {
		for _, deep := range []bool{false, true} {
			root := filepath.Join(t.TempDir(), "root")
			if err := os.Mkdir(root, 0o755); err != nil {
				t.Fatal(err)
			}
			s, err := gitstore.Init(root, filepath.Join(root, ".git"))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			w, err := Init(root, s, repo.RootOperationID, repo.DefaultWorkspace)
			if err != nil {
				t.Fatal(err)
			}
			id, err := s.PutFile(t.Context(), []byte("evil"))
			if err != nil {
				t.Fatal(err)
			}
			put := func(tree repo.Tree) repo.TreeID {
				id, err := s.PutTree(t.Context(), tree)
				if err != nil {
					t.Fatal(err)
				}
				return id
			}
			top := put(repo.Tree{{Name: name, Value: repo.TreeValue{Kind: repo.Subtree,
				ID: string(put(repo.Tree{{Name: "evil", Value: repo.TreeValue{Kind: repo.File, ID: string(id)}}}))}}})
			if deep {
				top = put(repo.Tree{{Name: "sub", Value: repo.TreeValue{Kind: repo.Subtree, ID: string(top)}}})
			}
			l, err := w.Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = l.CheckOut(t.Context(), repo.MergedTree{IDs: repo.Resolved(top)})
			l.Discard()
			if err == nil || !strings.Contains(err.Error(), "cannot be checked out") {
				t.Errorf("%s: %v", name, err)
			}
			for _, at := range []string{".git/evil", ".jj/evil", "../evil", "evil", "sub"} {
				if _, err := os.Lstat(filepath.Join(root, at)); err == nil {
					t.Errorf("%s: %s was written", name, at)
				}
			}
		}
	}
}

// shrinking is a repository that a large file is cut off for so many times while it
// is read.
type shrinking struct {
	repo.Store
	times *int
}

func (s shrinking) PutLargeFile(ctx context.Context, r io.ReaderAt, size int64) (repo.FileID, error) {
	if *s.times--; *s.times >= 0 {
		return "", io.ErrUnexpectedEOF
	}
	return s.Store.PutLargeFile(ctx, r, size)
}

// A large file that becomes shorter while it is read is read again and not held, and
// in the end it is named.
func TestALargeFileThatShrinks(t *testing.T) {
	for _, times := range []int{2, 1000} {
		root := t.TempDir()
		s, err := gitstore.Init(root, "")
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		left := times
		w, err := Init(root, shrinking{s, &left}, repo.RootOperationID, repo.DefaultWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "log"), make([]byte, repo.LargeFile+1), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := w.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = l.Snapshot(t.Context(), SnapshotOptions{})
		l.Discard()
		if times == 2 && err != nil {
			t.Error(err)
		}
		if times > 2 && (err == nil || !strings.Contains(err.Error(), "log: it is being written")) {
			t.Errorf("a file that is never whole: %v", err)
		}
	}
}
