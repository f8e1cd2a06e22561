package gitstore

import (
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
)

// Git sees in a colocated workspace what jj's own commands would have left.
func TestResetHeadIsJJs(t *testing.T) {
	j := stocktest.New(t)
	dir := j.History(true)
	theirs := stocktest.CopyDir(t, dir)
	s := openTest(t, dir)
	r, err := s.At(t.Context(), headOp(t, s))
	if err != nil {
		t.Fatal(err)
	}
	tx := r.Begin(j.Identity())
	heads := strings.Fields(j.Run(theirs, "log", "--no-graph", "-r", "all() ~ root()", "-T", `commit_id ++ "\n"`))
	for _, h := range heads {
		id, _ := repo.ParseCommitID(h)
		c, err := s.Commit(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := j.Try(theirs, "edit", h); !ok {
			t.Fatalf("cannot edit %s", h)
		}
		if err := s.ResetHead(t.Context(), tx, repo.DefaultWorkspace, dir, c); err != nil {
			t.Fatal(err)
		}
		if a, b := j.Git(dir, "ls-files", "-s"), j.Git(theirs, "ls-files", "-s"); a != b {
			t.Errorf("index for %.8s:\n%sjj leaves\n%s", h, a, b)
		}
		if a, b := j.TryGit(dir, "rev-parse", "HEAD"), j.TryGit(theirs, "rev-parse", "HEAD"); a != b {
			t.Errorf("HEAD for %.8s is %s, jj leaves %s", h, a, b)
		}
	}
}
