package jj

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// shuffle changes the files of both copies in one way: files and folders are
// copied, moved, edited, removed and made executable.
func (p *pair) shuffle(r *rand.Rand) {
	p.t.Helper()
	dirs := []string{"", "d", "e", "d/in"}
	name := func() string { return filepath.Join(dirs[r.IntN(len(dirs))], string(rune('p'+r.IntN(6)))) }
	var old []string
	for _, line := range strings.Split(files(p.t, p.theirs), "\n") {
		if n, _, ok := strings.Cut(line, ": "); ok {
			old = append(old, n)
		}
	}
	for range 1 + r.IntN(5) {
		to, what, lines := name(), r.IntN(8), r.Perm(12)
		from := to
		if len(old) > 0 {
			from = old[r.IntN(len(old))]
		}
		for _, root := range []string{p.theirs, p.our} {
			a, b := filepath.Join(root, from), filepath.Join(root, to)
			if info, err := os.Stat(b); err == nil && info.IsDir() {
				continue
			}
			data, err := os.ReadFile(a)
			switch {
			case err != nil || what == 0:
				stocktest.Write(p.t, b, story(lines[:1+lines[0]]))
			case what <= 2:
				stocktest.Write(p.t, b, string(data))
			case what == 3:
				stocktest.Write(p.t, b, string(data)+story(lines[:lines[0]]))
			case what == 4:
				os.MkdirAll(filepath.Dir(b), 0o755)
				os.Rename(a, b)
			case what == 5:
				got := strings.SplitAfter(string(data), "\n")
				stocktest.Write(p.t, a, strings.Join(slices.Delete(got, 0, min(len(got), lines[1]/3)), "")+story(lines[:2]))
			case what == 6:
				os.Remove(a)
			default:
				os.Rename(filepath.Join(root, dirs[1+lines[0]%3]), filepath.Join(root, "g"))
				if lines[1]%2 == 0 {
					os.Chmod(a, 0o755)
				}
			}
		}
	}
}

// story is text of lines that are long and short, so that likeness by bytes and
// by lines differ.
func story(lines []int) string {
	var b strings.Builder
	for _, n := range lines {
		fmt.Fprintf(&b, "%d%s\n", n%7, strings.Repeat("x", n%5*n%7))
	}
	return b.String()
}

// TestCopiesAgainstStock looks at random copies and renames in commits with one
// parent and in merges, conflicts among them, in every format that shows them.
func TestCopiesAgainstStock(t *testing.T) {
	r := testenv.Random(t)
	p := newPair(t, "--no-colocate")
	for i := range testenv.Rounds(80) {
		p.shuffle(r)
		switch r.IntN(6) {
		case 0:
			p.run(t.Context(), "new", p.revision(r), p.revision(r))
		case 1:
			p.run(t.Context(), "new", p.revision(r))
		default:
			p.run(t.Context(), "commit", "-m", fmt.Sprintf("c%d", i))
		}
		rev, other := p.revision(r), p.revision(r)
		for _, q := range [][]string{
			{"diff", "--stat", "-r", rev}, {"diff", "--summary", "-r", rev}, {"diff", "--git", "-r", rev},
			{"diff", "--summary", "--from", rev, "--to", other},
			{"diff", "--summary", "-r", rev + "::" + other}, {"diff", "--summary", "-r", rev, "d"}, {"log", "-s", "-n3"}, {"st"},
			{"debug", "copy-detection", "-r", rev},
			{"log", "-n3", "-T", "diff.files().map(|f| f.status() ++ f.source().path() ++ '>' ++ f.path())"},
		} {
			p.run(t.Context(), q...)
		}
	}
	p.same()
}
