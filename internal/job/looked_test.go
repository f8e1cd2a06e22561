package job

import (
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
)

// Whoever gave the digits that a list shows was told that the job was at another commit, with the same digits.
func TestACommitIsNamedWhole(t *testing.T) {
	j := &Job{Job: wire.Job{ID: "job_1", State: wire.Review, Commit: strings.Repeat("82c9", 10)}}
	if err := j.looked("job.merge", j.Commit); err != nil {
		t.Error(err)
	}
	if err := j.looked("job.merge", j.Commit[:12]); !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "by now") {
		t.Errorf("the beginning of it: %v", err)
	}
	if err := j.looked("job.merge", strings.Repeat("a", 40)); !fault.Is(err, fault.Conflict) {
		t.Errorf("another one: %v", err)
	}
}
