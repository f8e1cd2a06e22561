package gitstore

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// Imports from git and exports to it make the operations and refs that stock
// jj's `git import` and `git export` make.
func TestGitRefsAreJJs(t *testing.T) {
	r := testenv.Random(t)
	imports, exports := 0, 0
	// chance may leave one of the two with nothing to do; then there are more rounds
	for round := 0; round < testenv.Rounds(20) || (imports == 0 || exports == 0) && round < 40; round++ {
		j := stocktest.New(t)
		dir := j.Wander(r)
		j.Run(dir, "git", "export")
		theirs := stocktest.CopyDir(t, dir)
		ours := openTest(t, dir)
		gits := []string{filepath.Join(theirs, ".jj", "repo", "store", "git"), ours.GitDir()}
		both := func(args ...string) {
			for _, g := range gits {
				cmd := append([]string{"-c", "core.bare=true"}, args...)
				j.TryGit(g, cmd...)
			}
		}
		for round := range 4 {
			// Git moves refs by itself.
			for range 1 + r.IntN(3) {
				branch := fmt.Sprintf("refs/heads/b%d", r.IntN(5))
				from := fmt.Sprintf("refs/heads/b%d", r.IntN(3))
				switch r.IntN(5) {
				case 0:
					both("update-ref", "-d", branch)
				case 1:
					both("update-ref", branch, from)
				case 2:
					both("tag", "-f", "-a", "-m", "annotated", fmt.Sprintf("v%d", r.IntN(2)), from)
				case 3:
					both("pack-refs", "--all")
				case 4:
					id := strings.TrimSpace(j.TryGit(gits[0], "commit-tree", "-p", from, "-m", fmt.Sprint("git", round), from+"^{tree}"))
					j.TryGit(gits[1], "commit-tree", "-p", from, "-m", fmt.Sprint("git", round), from+"^{tree}")
					both("update-ref", branch, id)
				}
			}
			n := j.N
			_, ok := j.Try(theirs, "--ignore-working-copy", "git", "import")
			j.N = n
			if !ok {
				t.Fatal("stock jj cannot import")
			}
			imports += oneOp(t, ours, j.Identity(), "import git refs", "jj --ignore-working-copy git import", func(tx *repo.Tx) {
				if _, err := ours.ImportRefs(t.Context(), tx, ImportOptions{}); err != nil {
					t.Fatal(err)
				}
			})
			sameState(t, "import", theirs, ours)

			// Both move bookmarks, and git is told.
			n = j.N
			seed := r.Uint64()
			j.Stray(rand.New(rand.NewPCG(seed, 0)), theirs)
			j.N = n
			j.Stray(rand.New(rand.NewPCG(seed, 0)), dir)
			sameState(t, "command", theirs, ours)
			n = j.N
			j.Run(theirs, "--ignore-working-copy", "git", "export")
			j.N = n
			exports += oneOp(t, ours, j.Identity(), "export git refs", "jj --ignore-working-copy git export", func(tx *repo.Tx) {
				if _, err := ours.ExportRefs(t.Context(), tx); err != nil {
					t.Fatal(err)
				}
			})
			sameState(t, "export", theirs, ours)
		}
		j.Git(gits[1], "fsck", "--strict", "--no-dangling")
	}
	if imports == 0 || exports == 0 {
		t.Errorf("%d imports and %d exports changed anything", imports, exports)
	}
}

// oneOp runs a change as one operation, if it changes anything.
func oneOp(t *testing.T, s *Store, who *repo.Identity, description, args string, change func(*repo.Tx)) int {
	t.Helper()
	r, err := s.At(t.Context(), headOp(t, s))
	if err != nil {
		t.Fatal(err)
	}
	tx := r.Begin(who)
	tx.SetWorkspace("default")
	tx.SetAttribute("args", args)
	change(tx)
	if !tx.HasChanges() {
		return 0
	}
	if _, err := tx.RebaseDescendants(t.Context(), repo.RebaseOptions{}); err != nil {
		t.Fatal(err)
	}
	done, err := tx.Finish(t.Context(), description)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	return 1
}

func sameState(t *testing.T, what, theirs string, ours *Store) {
	t.Helper()
	other := openTest(t, theirs)
	if a, b := headOp(t, ours), headOp(t, other); a != b {
		t.Fatalf("%s: our operation is %s, theirs %s\nours %s\ntheirs %s", what, a.Hex()[:12], b.Hex()[:12], showOp(t, ours, a),
			showOp(t, other, b))
	}
	a, err := ours.gitRefs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := other.gitRefs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Fatalf("%s: our refs\n%v\ntheirs\n%v", what, a, b)
	}
}

// A ref that moves is never missing on the way: stock jj would take it for deleted,
// and its bookmark with it.
func TestAMovingRefIsAlwaysThere(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ids := []string{strings.Repeat("a", 20), strings.Repeat("b", 20)}
	if err := s.UpdateRef("refs/heads/main", "", ids[0]); err != nil {
		t.Fatal(err)
	}
	moved := make(chan error, 1)
	go func() {
		for i := range 100 {
			if err := s.UpdateRef("refs/heads/main", ids[i%2], ids[1-i%2]); err != nil {
				moved <- err
				return
			}
		}
		moved <- nil
	}()
	for {
		if r, ok, err := s.ReadRef("refs/heads/main"); err != nil || !ok || r.ID == "" {
			t.Fatalf("found %v, %v, %v", r, ok, err)
		}
		select {
		case err := <-moved:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

// A ref takes the place of the empty folder that one of a deeper name has left.
func TestARefReplacesAnEmptyFolder(t *testing.T) {
	s, err := Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := strings.Repeat("a", 20)
	for _, step := range [][3]string{{"refs/heads/x/y", "", a}, {"refs/heads/x/y", a, ""}, {"refs/heads/x", "", a}} {
		if err := s.UpdateRef(step[0], step[1], step[2]); err != nil {
			t.Fatalf("%v: %v", step, err)
		}
	}
	if err := s.UpdateRef("refs/heads/x/y", "", a); err == nil {
		t.Error("a branch below a branch")
	}
}
