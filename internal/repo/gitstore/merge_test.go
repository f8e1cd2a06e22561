package gitstore

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// Concurrent operations are merged into the very operation stock jj makes.
func TestMergeIsJJs(t *testing.T) {
	r, rounds := testenv.Random(t), testenv.Rounds(40)
	merged, rebased := 0, 0
	for range rounds {
		j := stocktest.New(t)
		dir := j.Wander(r)
		base := headOp(t, openTest(t, dir)).Hex()
		for range 2 + r.IntN(2) {
			// Each line of operations starts at the base and goes on by itself.
			at := base
			for range 1 + r.IntN(3) {
				before := opNames(t, dir)
				j.Stray(r, dir, "--at-op", at)
				for name := range opNames(t, dir) {
					if !before[name] {
						at = name
					}
				}
			}
		}
		theirs := stocktest.CopyDir(t, dir)
		s := openTest(t, dir)
		if heads, _ := s.Heads(); len(heads) < 2 {
			continue
		}
		n := j.N
		if out, ok := j.Try(theirs, "--ignore-working-copy", "op", "log", "-n1"); !ok {
			// A merge of which all but one side was abandoned down to the root: stock jj cannot write it and gives up.
			if !strings.Contains(out, "merge commits with the root commit") {
				t.Fatalf("jj op log: %s", out)
			}
			if _, _, err := s.Head(t.Context(), j.Identity(), repo.MergeOptions{Workspace: "default"}); err == nil ||
				!strings.Contains(err.Error(), "merge commits with the root commit") {
				t.Fatalf("ours: %v", err)
			}
			continue
		}
		want := headOp(t, openTest(t, theirs))
		j.N = n
		got, heads, err := s.Head(t.Context(), j.Identity(), repo.MergeOptions{
			Workspace: "default", Attributes: map[string]string{"args": "jj --ignore-working-copy op log -n1"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if heads < 2 {
			continue
		}
		merged++
		rebased += len(got.Operation.Predecessors)
		if got.Operation.ID != want {
			t.Errorf("merged operation is %s, jj makes %s:\n%s\nours:\n%s", got.Operation.ID.Hex()[:12], want.Hex()[:12],
				showOp(t, openTest(t, theirs), want), showOp(t, s, got.Operation.ID))
			return
		}
		j.Run(dir, "--ignore-working-copy", "debug", "reindex")
		j.Git(filepath.Join(dir, ".jj", "repo", "store", "git"), "fsck", "--strict", "--no-dangling")
	}
	t.Logf("%d merges, %d commits rebased", merged, rebased)
	if merged == 0 {
		t.Error("nothing was merged")
	}
}

func opNames(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, e := range dirNames(t, filepath.Join(dir, ".jj", "repo", "op_store", "operations")) {
		out[e.Name()] = true
	}
	return out
}

func showOp(t *testing.T, s *Store, id repo.OperationID) string {
	t.Helper()
	op, err := s.Operation(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.View(t.Context(), op.View)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\nparents %v\n", op.Meta, op.Parents)
	for new, olds := range op.Predecessors {
		c, err := s.Commit(t.Context(), new)
		fmt.Fprintf(&b, "  %s <- %v %+v %v\n", new, olds, c, err)
	}
	fmt.Fprintf(&b, "heads %v\nworkspaces %v\nbookmarks %v\ntags %v\nremotes %v\n", v.HeadIDs(), v.Workspaces, v.Bookmarks, v.Tags, v.Remotes)
	return b.String()
}
