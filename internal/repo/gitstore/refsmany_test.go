package gitstore

import (
	"fmt"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// Ten thousand bookmarks took a file, a lock and two flushes each when a workspace was made. Many are made and removed in one file, which
// git reads; one of them moves and goes as every other.
func TestManyRefsAreOneFile(t *testing.T) {
	j := stocktest.New(t)
	dir := j.Wander(testenv.Random(t))
	s := openTest(t, dir)
	git := func(args ...string) string {
		return strings.TrimSpace(j.TryGit(s.GitDir(), append([]string{"-c", "core.bare=true"}, args...)...))
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	hex := git("commit-tree", "-m", "one", git("mktree"))
	must(s.UpdateRef("refs/heads/alone", "", string(unhex(t, hex))))
	git("tag", "-a", "-m", "annotated", "v1", hex)
	git("pack-refs", "--all")
	create := map[string]string{}
	for i := range 3 * manyRefs {
		create[fmt.Sprintf("refs/heads/many/b%03d", i)] = string(unhex(t, hex))
	}
	must(s.ChangeRefs(create, nil))
	count := func() int { return len(strings.Fields(git("for-each-ref", "--format=%(refname)", "refs/heads/many"))) }
	if n := count(); n != 3*manyRefs {
		t.Errorf("git sees %d", n)
	}
	if at := git("rev-parse", "v1^{commit}"); at != hex {
		t.Errorf("the tag names %s", at)
	}
	must(s.UpdateRef("refs/heads/many/b000", string(unhex(t, hex)), ""))
	delete(create, "refs/heads/many/b000")
	if err := s.ChangeRefs(create, nil); err == nil {
		t.Error("what is there was made again")
	}
	must(s.ChangeRefs(nil, create))
	if n := count(); n != 0 {
		t.Errorf("%d are left", n)
	}
	if at := git("rev-parse", "refs/heads/alone"); at != hex {
		t.Errorf("another one is at %s", at)
	}
}

func unhex(t *testing.T, hex string) repo.CommitID {
	t.Helper()
	id, ok := repo.ParseCommitID(hex)
	if !ok {
		t.Fatalf("%q is no commit", hex)
	}
	return id
}
