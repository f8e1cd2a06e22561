package gitstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/repo"
)

// identity is what stock jj writes as when it runs its next command.
func (s *stock) identity() *repo.Identity {
	s.n++
	when := time.Date(2001, 2, 3, 4, 5, 6, 0, time.FixedZone("", 7*3600)).Add(time.Duration(s.n) * time.Second)
	now := func() repo.Timestamp { return repo.Timestamp{Millis: when.UnixMilli(), Offset: 7 * 60} }
	return &repo.Identity{
		Name: "Test User", Email: "test.user@example.com", Hostname: "host.example.com", Username: "test-username",
		Now: now, OpNow: now, NewChangeID: repo.SeededChangeIDs(uint64(s.n)),
	}
}

func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// seedOf prints the seed of a random test, so that a failure can be run again
// with TANDEM_SEED, and says how many rounds to run.
func seedOf(t *testing.T, rounds int) (*rand.Rand, int) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("TANDEM_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv("TANDEM_SOAK") != "" {
		rounds *= 10
	}
	t.Logf("TANDEM_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0)), rounds
}

// wander makes a repository with a random history of a few files.
func (s *stock) wander(r *rand.Rand) string {
	dir := filepath.Join(s.t.TempDir(), "r")
	s.run(filepath.Dir(dir), "git", "init", "--no-colocate", dir)
	for i := range 3 + r.IntN(4) {
		write(s.t, filepath.Join(dir, fmt.Sprintf("f%d", r.IntN(3))), s.text(r))
		if r.IntN(3) == 0 {
			write(s.t, filepath.Join(dir, "d", fmt.Sprintf("g%d", r.IntN(2))), s.text(r))
		}
		s.run(dir, "describe", "-m", fmt.Sprintf("c%d", i))
		s.run(dir, "bookmark", "create", fmt.Sprintf("b%d", i), "-r", "@")
		if r.IntN(2) == 0 {
			s.run(dir, "new")
		} else {
			s.run(dir, "new", fmt.Sprintf("b%d", r.IntN(i+1)))
		}
	}
	return dir
}

func (s *stock) text(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		fmt.Fprintf(&b, "%c\n", 'a'+r.IntN(4))
	}
	return b.String()
}

// stray runs a random rewriting command; it may fail, as a rebase onto a
// descendant does.
func (s *stock) stray(r *rand.Rand, dir string, global ...string) {
	rev := func() string {
		return []string{"b0", "b1", "b2", "b1-", "@", "heads(all())", "latest(all(), 1)", "description(glob:'c*') & latest(all(), 2)"}[r.IntN(8)]
	}
	command := [][]string{
		{"describe", "-r", rev(), "-m", fmt.Sprintf("d%d", r.IntN(3))},
		{"rebase", "-s", rev(), "-d", rev()},
		{"rebase", "-r", rev(), "-d", rev()},
		{"abandon", rev()},
		{"new", rev(), rev()},
		{"new", rev()},
		{"squash", "--from", rev(), "--into", rev(), "-u"},
		{"duplicate", rev()},
		{"bookmark", "set", fmt.Sprintf("b%d", r.IntN(4)), "-B", "-r", rev()},
		{"bookmark", "delete", fmt.Sprintf("b%d", r.IntN(4))},
		{"tag", "set", "--allow-move", "t", "-r", rev()},
		{"parallelize", rev() + "::"},
	}[r.IntN(12)]
	s.try(dir, append(append([]string{"--ignore-working-copy", "--ignore-immutable"}, global...), command...)...)
}

// Concurrent operations are merged into the very operation stock jj makes.
func TestMergeIsJJs(t *testing.T) {
	r, rounds := seedOf(t, 6)
	merged, rebased := 0, 0
	for range rounds {
		j := newStock(t)
		dir := j.wander(r)
		base := headOp(t, openTest(t, dir)).Hex()
		for range 2 + r.IntN(2) {
			// Each line of operations starts at the base and goes on by itself.
			at := base
			for range 1 + r.IntN(3) {
				before := opNames(t, dir)
				j.stray(r, dir, "--at-op", at)
				for name := range opNames(t, dir) {
					if !before[name] {
						at = name
					}
				}
			}
		}
		theirs := copyDir(t, dir)
		s := openTest(t, dir)
		if heads, _ := s.Heads(); len(heads) < 2 {
			continue
		}
		n := j.n
		j.run(theirs, "--ignore-working-copy", "op", "log", "-n1")
		want := headOp(t, openTest(t, theirs))
		j.n = n
		got, heads, err := s.Head(j.identity(), repo.MergeOptions{
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
			t.Logf("kept %s", keep(t, dir, theirs))
			return
		}
		j.run(dir, "--ignore-working-copy", "debug", "reindex")
		j.git(filepath.Join(dir, ".jj", "repo", "store", "git"), "fsck", "--strict", "--no-dangling")
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

func keep(t *testing.T, dirs ...string) string {
	if os.Getenv("TANDEM_KEEP") == "" {
		return "nothing; set TANDEM_KEEP to a folder"
	}
	to := filepath.Join(os.Getenv("TANDEM_KEEP"), filepath.Base(t.TempDir()))
	for i, d := range dirs {
		if err := os.CopyFS(filepath.Join(to, fmt.Sprint(i)), os.DirFS(d)); err != nil {
			t.Log(err)
		}
	}
	return to
}

func showOp(t *testing.T, s *Store, id repo.OperationID) string {
	t.Helper()
	op, err := s.Operation(id)
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.View(op.View)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\nparents %v\n", op.Meta, op.Parents)
	for new, olds := range op.Predecessors {
		c, err := s.Commit(new)
		fmt.Fprintf(&b, "  %s <- %v %+v %v\n", new, olds, c, err)
	}
	fmt.Fprintf(&b, "heads %v\nworkspaces %v\nbookmarks %v\ntags %v\nremotes %v\n", v.HeadIDs(), v.Workspaces, v.Bookmarks, v.Tags, v.Remotes)
	return b.String()
}
