package checkout

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Step is a commit on a line of work.
type Step struct {
	ID      string
	Parents []string
	Subject string
	At      time.Time
}

// Steps are the commits of a line of work that another commit does not hold, oldest first; of a merge the side that came in is left out.
func (t Tools) Steps(ctx context.Context, repo, base, commit string, most int) (all []Step, err error) {
	out, err := t.git(ctx, repo, "log", "--first-parent", "--reverse", "--max-count="+strconv.Itoa(most), "-z",
		"--format=%H%n%P%n%ct%n%s", base+".."+commit)
	for one := range strings.SplitSeq(out, "\x00") {
		f := strings.SplitN(one, "\n", 4)
		if len(f) < 4 {
			continue
		}
		at, _ := strconv.ParseInt(f[2], 10, 64) // git wrote it
		all = append(all, Step{ID: f[0], Parents: strings.Fields(f[1]), Subject: f[3], At: time.Unix(at, 0).UTC()})
	}
	return all, err
}

// Expected are the files that two commits make together where nobody does anything beside: the first as it is when it holds the second.
// What does not go together has the marks of a conflict in it.
func (t Tools) Expected(ctx context.Context, repo, one, other string) (string, error) {
	if other == "" || t.Holds(ctx, repo, one, other) {
		return one, nil
	}
	t.unsure = true
	out, err := t.git(ctx, repo, "merge-tree", "--write-tree", "--no-messages", one, other)
	tree, _, _ := strings.Cut(out, "\n")
	return tree, err
}
