package job

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// Jobs that stand on each other get into the branch from below, alone and in trains, also when the server dies between (make soak: before
// each step). Where one of them is red together with the branch, it goes back to its agent and holds those above it, and no others.
func TestAStackIsMergedFromBelow(t *testing.T) {
	every := 5
	if testenv.Soak() {
		every = 1
	}
	for _, train := range []int{1, 4} {
		steps := 0
		for die := 0; die <= steps; die += every {
			t.Run(fmt.Sprintf("trains of %d, dies before step %d", train, die), func(t *testing.T) {
				s := newStation(t)
				s.die, s.Train = die, train
				s.add("left", harm, map[string]string{"left.txt": "x\n"})
				s.add("low", harm, map[string]string{"low.txt": "1\n"})
				s.addOn("low", "mid", harm, map[string]string{"low.txt": "1\n2\n", "mid.txt": "1\n"})
				s.addOn("mid", "right", harm, map[string]string{"right.txt": "x\n"})
				s.addOn("right", "top", harm, map[string]string{"top.txt": "1\n"})
				s.add("other", harm, map[string]string{"other.txt": "1\n"})
				if err := s.DB.Write(t.Context(), func(tx *db.Tx) error { // the highest ones come first by their own priority
					for i, name := range []string{"left", "low", "mid", "right"} {
						if _, err := s.change(tx, "t", "job_"+name, func(j *Job) error { j.Priority = int64(i); return nil }); err != nil {
							return err
						}
					}
					_, err := s.change(tx, "t", "job_left", func(j *Job) error { j.Priority = 50; return nil })
					return err
				}); err != nil {
					t.Fatal(err)
				}
				s.serve()
				if die == 0 {
					steps = s.at
				}
				s.judge(map[string]string{"left": "", "low": "", "mid": "", "other": "", "right": "fail the check"})
				if top := s.read("job_top"); top.State != wire.Queued || !top.Held {
					t.Errorf("what stands on the red one is %s: %s", top.State, top.Reason)
				}
				if low, mid := s.read("job_low"), s.read("job_mid"); !s.Tools.Holds(t.Context(), s.repo, mid.Commit, low.Commit) || mid.Held {
					t.Errorf("mid at %s does not hold low at %s", mid.Commit, low.Commit)
				}
			})
		}
		if steps < 6 {
			t.Errorf("the queue took %d steps: too few to have been a stack", steps)
		}
	}
}

// While the one below is not merged, nobody merges the one above, neither by hand nor past what its row says.
func TestNobodyMergesTheUpperFirst(t *testing.T) {
	s := newStation(t)
	s.add("low", "true", map[string]string{"low.txt": "1\n"})
	s.addOn("low", "top", "true", map[string]string{"top.txt": "1\n"})
	ctx := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann", Kind: op.Person}),
		op.Sight{File: func(string) bool { return true }})
	for _, id := range s.jobs {
		if _, err := s.queueEvicted(id); err != nil {
			t.Fatal(err)
		}
	}
	top := s.read("job_top")
	before := s.git("rev-parse", "main")
	if _, err := s.merge(ctx, wire.MergeIn{ID: top.ID, Commit: top.Commit}); !fault.Is(err, fault.Conflict) {
		t.Errorf("the upper one is merged: %v", err)
	}
	if err := s.settle(ctx, top, Event{Kind: Merge, Commit: top.Commit}); err == nil || errors.Is(err, errStale) {
		t.Errorf("its row takes it: %v", err)
	}
	if s.git("rev-parse", "main") != before {
		t.Error("main moved")
	}
	low := s.read("job_low")
	if _, err := s.merge(ctx, wire.MergeIn{ID: low.ID, Commit: low.Commit}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.merge(ctx, wire.MergeIn{ID: top.ID, Commit: top.Commit}); err != nil {
		t.Fatal(err)
	}
	if got := s.git("rev-parse", "main"); got != top.Commit || s.read("job_top").State != wire.Merged {
		t.Errorf("main is at %s after both, want %s", got, top.Commit)
	}
	if places := s.places(); !slices.Contains(places, low.Commit) {
		t.Error("main never stood at the lower one")
	}
}

// queueEvicted takes a job out of its queue.
func (s *station) queueEvicted(id string) (j *Job, err error) {
	err = s.DB.Write(s.t.Context(), func(tx *db.Tx) error {
		j, err = s.change(tx, "t", id, func(j *Job) error { return j.Apply(Event{Kind: Unqueued}, tx.Now()) })
		return err
	})
	return j, err
}
