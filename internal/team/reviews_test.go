package team

import (
	"context"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	job "tandem/internal/job/wire"
	"tandem/internal/team/wire"
)

// A finished task is reviewed by an agent of another kind before it waits for a person. What the reviewer wants changed goes to the task's
// agent once; whatever is said after that, a person looks.
func TestATaskIsReviewedBeforeAPersonLooks(t *testing.T) {
	team := fresh()
	team.Review, team.Workers, team.Budget = wire.Others, []string{"codex", "claude"}, job.Budget{Turns: 100}
	apply := func(events ...Event) {
		t.Helper()
		for _, e := range events {
			if err := team.Apply(e, time.Unix(1, 0)); err != nil {
				t.Fatalf("%s: %v", e.Kind, err)
			}
		}
	}
	apply(begun...)
	if each, all := team.Share.Turns, int64(3*len(team.Tasks)); each < 1 || each*all > 80 {
		t.Errorf("each session has %d turns, of %d that there are for %d", each, 80, all)
	}
	k := team.task("a")
	seen := func(commit, reviewer string, reviews ...job.Reviewed) {
		t.Helper()
		apply(Event{Kind: Saw, Task: "a", Job: &job.Job{ID: "job_a", State: job.Review, Commit: commit, Reviewer: reviewer, Reviews: reviews,
			Path: "/w"}})
	}
	stands := func(stage wire.Stage, inspect, remark string) {
		t.Helper()
		if k.Stage != stage || k.Inspect != inspect || k.Remark != remark {
			t.Fatalf("it is %s, %q reviews it, its agent hears %q: %s", k.Stage, k.Inspect, k.Remark, k.Reason)
		}
	}
	wants := job.Reviewed{N: 1, By: "claude", Commit: "c1", Says: job.Changes, Text: "round once"}
	seen("c1", "")
	stands(wire.AtWork, "claude", "") // codex made it
	apply(Event{Kind: Inspects, Task: "a"})
	seen("c1", "claude")
	stands(wire.AtWork, "", "")
	seen("c1", "", wants)
	stands(wire.AtWork, "", "round once")
	apply(Event{Kind: Told, Task: "a"})
	seen("c1", "", wants) // the job was not moved yet
	stands(wire.Review, "", "")
	seen("c2", "", wants)
	stands(wire.AtWork, "claude", "")
	apply(Event{Kind: Inspects, Task: "a"})
	wants2 := wants
	wants2.N, wants2.Commit = 2, "c2"
	seen("c2", "", wants, wants2) // it had its say
	stands(wire.Review, "", "")
	if k.Says != job.Changes || !strings.Contains(k.Reason, "claude reviewed it: wants changes") {
		t.Errorf("%s: %s", k.Says, k.Reason)
	}
	seen("c3", "", wants, wants2) // a person told its agent something
	stands(wire.Review, "", "")
	apply(at1("a", job.Queued))
	if k.Stage != wire.Queued || k.Says != "" {
		t.Errorf("it is %s, %q", k.Stage, k.Says)
	}
}

// jobs answers for one job, and writes down what it is asked.
type jobs struct {
	job   job.Job
	asked []string
}

func (j *jobs) Invoke(_ context.Context, name string, in any) (any, error) {
	switch in := in.(type) {
	case job.ReviewIn:
		j.asked = append(j.asked, in.By+" reviews "+in.Commit)
	case job.SendIn:
		j.asked = append(j.asked, in.Text)
	default:
		j.asked = append(j.asked, name)
	}
	out := j.job
	return &out, nil
}

// A job that a person queued meanwhile is neither reviewed nor told anything.
func TestAPersonIsFasterThanAReview(t *testing.T) {
	for what, state := range map[string]job.State{"claude reviews c-a": job.Review, "": job.Queued} {
		r := build(t).room(1)
		team := fresh()
		team.Tenant, team.Review, team.State, team.ApprovedBy = "t", "claude", wire.Working, "ann"
		team.Tasks = []*wire.Task{{Item: wire.Item{Name: "a", Text: "x", Agent: "codex"}, Stage: wire.AtWork, Job: "job_a", Commit: "c-a",
			Reason: "why", Inspect: "claude"}}
		if err := r.DB.Write(t.Context(), func(tx *db.Tx) error { return r.insert(tx, team) }); err != nil {
			t.Fatal(err)
		}
		rooms := &jobs{job: *at1("a", state).Job}
		r.Rooms = rooms
		if err := r.look(t.Context(), team, "a"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(rooms.asked[1:], ","); got != what {
			t.Errorf("a job that is %s: %q", state, got)
		}
	}
}
