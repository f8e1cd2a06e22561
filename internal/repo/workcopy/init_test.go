package workcopy

import (
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/stocktest"
)

// A repository made here, with its first workspace, is stock jj's own: the
// operation is the one `jj git init` makes, and jj and git go on in it.
func TestInitIsJJs(t *testing.T) {
	for _, colocate := range []bool{false, true} {
		j := stocktest.New(t)
		theirs, ours := filepath.Join(t.TempDir(), "r"), t.TempDir()
		flag, gitDir := "--no-colocate", ""
		if colocate {
			flag, gitDir = "--colocate", filepath.Join(ours, ".git")
		}
		j.Run(filepath.Dir(theirs), "git", "init", flag, theirs)
		j.N = 0
		s, err := gitstore.Init(ours, gitDir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		root, err := s.At(t.Context(), repo.RootOperationID)
		if err != nil {
			t.Fatal(err)
		}
		tx := root.Begin(j.Identity())
		wc, err := tx.CheckOut(t.Context(), repo.DefaultWorkspace, repo.RootCommit())
		if err != nil {
			t.Fatal(err)
		}
		if colocate {
			if !s.IsColocated(ours) {
				t.Error("not colocated")
			}
			if err := s.ResetHead(t.Context(), tx, repo.DefaultWorkspace, ours, wc); err != nil {
				t.Fatal(err)
			}
		}
		done, err := tx.Finish(t.Context(), "add workspace 'default'")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Publish(t.Context(), done); err != nil {
			t.Fatal(err)
		}
		if err := s.SetWorkspaces(t.Context(), func(w []gitstore.Workspace) []gitstore.Workspace {
			return append(w, gitstore.Workspace{Name: repo.DefaultWorkspace, Path: "../.."})
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := Init(ours, s, done.Operation.ID, repo.DefaultWorkspace); err != nil {
			t.Fatal(err)
		}
		other, err := gitstore.Open(filepath.Join(theirs, ".jj", "repo"))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if heads, err := other.Heads(); err != nil || heads[0] != done.Operation.ID {
			t.Errorf("first operation %s, jj makes %v (%v)", done.Operation.ID, heads, err)
		}
		if list := j.Run(ours, "workspace", "list"); !strings.Contains(list, "default") {
			t.Errorf("workspaces: %s", list)
		}
		j.Run(ours, "--ignore-working-copy", "debug", "reindex")
		j.Git(s.GitDir(), "fsck", "--strict")
		if colocate {
			j.Git(ours, "status")
		}
	}
}
