package gitstore

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
)

func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(filepath.Join(dir, ".jj", "repo"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func headOp(t testing.TB, s *Store) repo.OperationID {
	t.Helper()
	heads, err := s.Heads()
	if err != nil {
		t.Fatal(err)
	}
	if len(heads) != 1 {
		t.Fatalf("%d heads", len(heads))
	}
	return heads[0]
}

// Everything stock jj wrote is read, and written again gets the same id.
func TestReadsWhatStockJJWrote(t *testing.T) {
	for _, colocate := range []bool{false, true} {
		j := stocktest.New(t)
		dir := j.History(colocate)
		if colocate {
			j.Git(dir, "gc", "-q")
		}
		s := openTest(t, dir)
		conflicted, ops := 0, 0
		commits := map[repo.CommitID]bool{}
		err := repo.WalkOperations(t.Context(), s, []repo.OperationID{headOp(t, s)}, func(o *repo.Operation) (bool, error) {
			ops++
			if o.ID == repo.RootOperationID {
				return true, nil
			}
			if got := o.ComputeID(); got != o.ID {
				t.Errorf("operation %s hashes to %s", o.ID, got)
			}
			v, err := s.View(t.Context(), o.View)
			if err != nil {
				return false, err
			}
			if got := v.ComputeID(); got != o.View {
				t.Errorf("view %s hashes to %s", o.View, got)
			}
			again, err := repo.DecodeView(v.Encode())
			if err != nil || again.ComputeID() != o.View {
				t.Errorf("view %s is another after encoding (%v)", o.View, err)
			}
			for _, id := range slices.Concat(v.CommitIDs(), o.CommitIDs()) {
				commits[id] = true
			}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		mem := repo.NewOverlay(s)
		for id := range commits {
			if id == repo.RootCommitID {
				continue
			}
			c, err := s.Commit(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if c.Tree.HasConflict() {
				conflicted++
			}
			stored, err := mem.PutCommit(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if stored.ID != id {
				t.Errorf("commit %s hashes to %s", id, stored.ID)
			}
			checkTree(t, s, mem, c.Tree.IDs.First())
		}
		if ops < 10 || conflicted == 0 {
			t.Errorf("history is too plain: %d operations, %d conflicts", ops, conflicted)
		}
	}
}

func checkTree(t *testing.T, s *Store, mem *repo.Overlay, id repo.TreeID) {
	t.Helper()
	tree, err := s.Tree(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := mem.PutTree(t.Context(), tree)
	if again != id {
		t.Errorf("tree %s hashes to %s", id.Hex(), again.Hex())
	}
	for _, e := range tree {
		switch e.Value.Kind {
		case repo.Subtree:
			checkTree(t, s, mem, e.Value.TreeID())
		case repo.File:
			data, err := s.File(t.Context(), e.Value.FileID())
			if err != nil {
				t.Fatal(err)
			}
			if repo.HashObject(repo.BlobObject, data) != e.Value.ID {
				t.Errorf("blob %x differs", e.Value.ID)
			}
		}
	}
}

// An index built here holds what jj's own holds, and jj reads ours.
func TestIndexIsJJs(t *testing.T) {
	j := stocktest.New(t)
	dir := j.History(false)
	s := openTest(t, dir)
	theirs, err := s.At(t.Context(), headOp(t, s))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"op_links", "segments"} {
		if err := os.RemoveAll(filepath.Join(s.Dir(), "index", kind)); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(s.Dir(), "index", kind), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ours, err := s.At(t.Context(), headOp(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if ours.Index.Len() != theirs.Index.Len() {
		t.Fatalf("%d commits indexed, jj has %d", ours.Index.Len(), theirs.Index.Len())
	}
	for p := range repo.Pos(theirs.Index.Len()) {
		id := theirs.Index.ID(p)
		q, ok := ours.Index.Pos(id)
		if !ok {
			t.Fatalf("commit %s is not indexed", id)
		}
		if ours.Index.ChangeID(q) != theirs.Index.ChangeID(p) || ours.Index.Generation(q) != theirs.Index.Generation(p) {
			t.Errorf("commit %s is indexed differently", id)
		}
		var a, b []repo.CommitID
		for _, x := range ours.Index.Parents(q) {
			a = append(a, ours.Index.ID(x))
		}
		for _, x := range theirs.Index.Parents(p) {
			b = append(b, theirs.Index.ID(x))
		}
		if !slices.Equal(a, b) {
			t.Errorf("commit %s has other parents", id)
		}
	}
	before := len(dirNames(t, filepath.Join(s.Dir(), "index", "segments")))
	out := j.Run(dir, "log", "--ignore-working-copy", "-r", "all()", "-T", "commit_id ++ '\n'", "--no-graph")
	if len(out) < 41 {
		t.Errorf("log with our index: %q", out)
	}
	if after := len(dirNames(t, filepath.Join(s.Dir(), "index", "segments"))); after != before {
		t.Errorf("jj did not take our index: %d segments, were %d", after, before)
	}
	reloaded, err := s.At(t.Context(), headOp(t, s))
	if err != nil || reloaded.Index.Len() != ours.Index.Len() {
		t.Errorf("our index reads back as %v, %v", reloaded, err)
	}
}

func dirNames(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return names
}
