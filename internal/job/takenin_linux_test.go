package job

import (
	"fmt"
	"testing"

	"tandem/internal/job/wire"
)

// A list says of no job that its branch does not hold it where nobody looked; a job that is read alone is always looked at.
func TestAListSaysNothingOfWhatItDidNotLookAt(t *testing.T) {
	s := newStation(t)
	out := s.git("commit-tree", "-m", "beside", "main^{tree}")
	made := func(i int, commit string, old bool) *Job {
		j := &Job{Job: wire.Job{ID: fmt.Sprint("job_", i), State: wire.Merged, Repo: s.repo, Onto: "main", Commit: commit, Next: "git merge"}}
		if !old {
			j.MovedAt = s.DB.Now()
		}
		return j
	}
	var all []*Job
	for i := range lookedAt + 1 {
		all = append(all, made(i, out, false))
	}
	s.takenIn(t.Context(), all...)
	if all[0].Next == "" || all[lookedAt].Next != "" {
		t.Errorf("the first says %q, the one that nobody looked at %q", all[0].Next, all[lookedAt].Next)
	}
	in, beside := made(1, s.git("rev-parse", "main"), true), made(2, out, true)
	s.takenIn(t.Context(), in)
	s.takenIn(t.Context(), beside)
	if in.Next != "" || beside.Next == "" {
		t.Errorf("read alone they say %q and %q", in.Next, beside.Next)
	}
}
