package stocktest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
)

// Wander makes a repository with a random history of a few files.
func (s *JJ) Wander(r *rand.Rand) string {
	dir := filepath.Join(s.t.TempDir(), "r")
	s.Run(filepath.Dir(dir), "git", "init", "--no-colocate", dir)
	for i := range 3 + r.IntN(4) {
		Write(s.t, filepath.Join(dir, fmt.Sprintf("f%d", r.IntN(3))), Text(r))
		if r.IntN(3) == 0 {
			Write(s.t, filepath.Join(dir, "d", fmt.Sprintf("g%d", r.IntN(2))), Text(r))
		}
		s.Run(dir, "describe", "-m", fmt.Sprintf("c%d", i))
		s.Run(dir, "bookmark", "create", fmt.Sprintf("b%d", i), "-r", "@")
		if r.IntN(2) == 0 {
			s.Run(dir, "new")
		} else {
			s.Run(dir, "new", fmt.Sprintf("b%d", r.IntN(i+1)))
		}
	}
	return dir
}

// Text is a few random lines, drawn from few so that they often agree.
func Text(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		fmt.Fprintf(&b, "%c\n", 'a'+r.IntN(4))
	}
	return b.String()
}

// Stray runs a random rewriting command; it may fail, as a rebase onto a
// descendant does.
func (s *JJ) Stray(r *rand.Rand, dir string, global ...string) {
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
	s.Try(dir, append(append([]string{"--ignore-working-copy"}, global...), command...)...)
}
