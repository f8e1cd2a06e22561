package job

import (
	"os"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/job/wire"
)

func (s *station) steps(id string) *Job {
	s.t.Helper()
	if err := s.advance(s.t.Context(), s.read(id), &worker{woken: make(chan struct{}, 1)}); err != nil {
		s.t.Errorf("%s is tried again for ever: %v", id, err)
	}
	return s.read(id)
}

// A repository that is gone is an answer: the job said so and left its queue, and was tried again for ever once silence decided nothing.
func TestAJobLeavesTheQueueOfARepositoryThatIsGone(t *testing.T) {
	s := newStation(t)
	s.add("a", "true", map[string]string{"a.txt": "a"})
	if err := os.Rename(s.repo, s.repo+"-away"); err != nil {
		t.Fatal(err)
	}
	if j := s.steps("job_a"); j.State == wire.Queued || !strings.Contains(j.Reason, "no such file") {
		t.Errorf("it is %s: %q", j.State, j.Reason)
	}
}

// A job whose commit is not in the repository any more leaves its queue when its turn comes, and keeps nobody before it waiting.
func TestAMissingCommitKeepsNobodyWaiting(t *testing.T) {
	s := newStation(t)
	for _, n := range []string{"a", "b"} {
		s.add(n, "true", map[string]string{n + ".txt": n})
	}
	s.Rooms = nobody{}
	missing := strings.Repeat("d", 40)
	if err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := s.change(tx, "t", "job_b", func(j *Job) error {
			j.Commit, j.Approved = missing, missing
			return nil
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if j := s.steps("job_a"); j.State != wire.Merged {
		t.Errorf("the first is %s: %q", j.State, j.Reason)
	}
	if j := s.steps("job_b"); j.State == wire.Queued || !strings.Contains(j.Reason, missing) {
		t.Errorf("the second is %s: %q", j.State, j.Reason)
	}
}

// What is tried again less and less often is not woken by each look at its queue.
func TestAJobThatRestsIsNotWokenByTheWatch(t *testing.T) {
	s := newStation(t)
	s.add("a", "true", map[string]string{"a.txt": "a"})
	w := &worker{woken: make(chan struct{}, 1)}
	s.live["job_a"] = w
	s.mark(w, true)
	if at := s.read("job_a").line(); s.leader(t.Context(), at) != "job_a" || !s.rests("job_a") {
		t.Error("it leads, and does not rest")
	}
	s.mark(w, false)
	if s.rests("job_a") {
		t.Error("it rests for ever")
	}
}
