package proof

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// Two replicas and a server go through random histories: stock jj rewrites,
// rebases, abandons and merges in the replicas, files change, and tandem brings
// them together. After each exchange stock jj reads all three, they agree, and
// neither it nor git finds anything wrong with any of them.
func TestReplicasAndServerAgree(t *testing.T) {
	r := testenv.Random(t)
	for range testenv.Rounds(10) {
		f := newFleet(t, 2)
		j := stocktest.New(t)
		// The server's own working copy is not the agents' to move.
		j.Run(f.repo, "workspace", "forget", repo.ServerWorkspace)
		for _, a := range f.agents {
			f.must(t, a.dir, "st")                                       // everybody has heard of it
			j.Run(a.dir, "--ignore-working-copy", "log", "-r", "root()") // and says once that its settings are elsewhere
		}
		first := f.agents[0].dir
		for i := range 3 {
			stocktest.Write(t, filepath.Join(first, fmt.Sprintf("f%d", r.IntN(3))), stocktest.Text(r))
			j.Run(first, "describe", "-m", fmt.Sprintf("c%d", i))
			j.Run(first, "bookmark", "create", fmt.Sprintf("b%d", i), "-r", "@")
			j.Run(first, "new")
		}
		dirs := []string{f.repo, first, f.agents[1].dir}
		for round := range 4 {
			for _, a := range f.agents {
				for range r.IntN(3) {
					j.Stray(r, a.dir)
				}
				if r.IntN(2) == 0 {
					stocktest.Write(t, filepath.Join(a.dir, fmt.Sprintf("f%d", r.IntN(3))), stocktest.Text(r))
				}
				if r.IntN(3) == 0 {
					// A tag may have made the commit immutable meanwhile.
					if out, err := f.tandem(a.dir, "describe", "-m", fmt.Sprintf("%s in round %d", a.name, round)); err != nil &&
						!strings.Contains(out, "is immutable") {
						t.Fatalf("describe: %v\n%s", err, out)
					}
				}
			}
			for range 2 { // the second time everybody has heard of everything
				for _, a := range f.agents {
					if out := f.must(t, a.dir, "st"); strings.Contains(out, "to be sent") {
						t.Fatalf("%s: %s", a.name, out)
					}
				}
			}
			var logs []string
			for i, dir := range dirs {
				lines := strings.Split(j.Run(dir, "--ignore-working-copy", "log", "-r", "all()", "--no-graph",
					"-T", `commit_id ++ change_id ++ description.first_line() ++ local_bookmarks ++ local_tags ++ working_copies ++ "\n"`), "\n")
				slices.Sort(lines)
				logs = append(logs, strings.Join(lines, "\n"))
				j.Run(dir, "--ignore-working-copy", "debug", "reindex")
				git := filepath.Join(dir, ".jj", "repo", "store", "git")
				if i == 0 {
					git = filepath.Join(dir, ".git")
				}
				j.Git(git, "fsck", "--strict", "--no-dangling")
			}
			if logs[0] != logs[1] || logs[1] != logs[2] {
				t.Fatalf("round %d: logs differ:\n%s\n\n%s\n\n%s", round, logs[0], logs[1], logs[2])
			}
		}
		if out, err := f.server.run("repo", "check", "project"); err != nil {
			t.Errorf("repo check: %v\n%s", err, out)
		}
	}
}

func (f *fleet) must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := f.tandem(dir, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}
