package job

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
)

// A queue that comes to a job looks whether its approval still stands and whether the branch holds it already. What a removed person had
// approved was merged, and a job that somebody merged by hand, unchecked, kept the queue from going on for good.
func TestAQueueLooksBeforeItMerges(t *testing.T) {
	for what, c := range map[string]struct {
		checked, gone, byHand bool
		state                 wire.State
		why                   string
	}{
		"approved and checked":      {checked: true, state: wire.Merged},
		"whoever approved it left":  {checked: true, gone: true, state: wire.Review, why: "bob approved it, and may do nothing here any more"},
		"merged by hand":            {byHand: true, state: wire.Checking, why: "holds it already"},
		"merged before a crash":     {checked: true, byHand: true, state: wire.Merged},
		"merged by hand after that": {checked: true, gone: true, byHand: true, state: wire.Review, why: "bob approved it"},
	} {
		t.Run(what, func(t *testing.T) {
			a := newAlone(t, "true")
			if c.gone {
				a.people.Known = func(_ context.Context, tenant, name string) error {
					if tenant != "t" || name != "bob" {
						t.Errorf("%s of %s is looked for", name, tenant)
					}
					return fault.New(fault.Unauthenticated, "identity", "bob is disabled")
				}
			}
			if c.byHand {
				a.git("update-ref", "refs/heads/main", a.job.Commit)
			}
			err := a.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
				a.job, err = a.change(tx, "t", "job_1", func(j *Job) error {
					j.State, j.ApprovedBy, j.QueuedAt = wire.Queued, "bob", tx.Now()
					if c.checked {
						j.Verdict, j.Approved = wire.Green, j.Commit
					}
					return nil
				})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.step(t.Context(), a.job, &worker{woken: make(chan struct{}, 1)}); err != nil {
				t.Fatal(err)
			}
			j, err := a.get(t.Context(), "t", "job_1")
			if err != nil || j.State != c.state || !strings.Contains(j.Reason, c.why) {
				t.Errorf("it is %s: %s (%v)", j.State, j.Reason, err)
			}
			moved := a.git("rev-parse", "main") == j.Commit
			if want := c.byHand || c.state == wire.Merged; moved != want {
				t.Errorf("main was moved: %v", moved)
			}
		})
	}
}
