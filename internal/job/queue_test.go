package job

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
)

// A queue against a model: jobs with random ends (red together with the branch, in conflict, unchecked, stopped, evicted, told more) and
// a branch that others move, too. Whatever happens, the branch only ever gets commits whose check was green on exactly what it becomes, or
// that a person looked at; and each job is merged, waits, or is with somebody: none is lost.
func TestAQueueMergesNothingRedAndLosesNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, tip, commits := time.Unix(0, 0), "tip-0", 0
		fresh := func(kind string) string { commits++; return fmt.Sprint(kind, "-", commits) }
		on := map[string]string{} // which branch commit a commit holds
		checked := map[string]bool{}
		all := make([]*Job, rapid.IntRange(1, 8).Draw(t, "jobs"))
		for i := range all {
			all[i] = &Job{Tenant: "t", Job: wire.Job{ID: fmt.Sprint("job_", i), State: wire.Review, Bound: 3, Onto: "main", Commit: fresh("job"),
				Check: rapid.SampledFrom([]string{"", "go test"}).Draw(t, "check"), Path: "/p", Session: "ses"}}
			on[all[i].Commit] = tip
			if all[i].Check != "" {
				all[i].Verdict, checked[all[i].Commit] = wire.Green, true
			}
		}
		apply := func(j *Job, e Event) {
			t.Helper()
			if err := j.Apply(e, now); err != nil && !fault.Is(err, fault.Conflict) {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			now = now.Add(time.Second)
			j := rapid.SampledFrom(all).Draw(t, "job")
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				tip = fresh("person")
			case 1:
				apply(j, Event{Kind: Queue, Commit: j.Commit, By: "ann", Priority: rapid.Int64Range(-2, 2).Draw(t, "priority")})
			case 2:
				apply(j, rapid.SampledFrom([]Event{{Kind: Stop}, {Kind: Resume}, {Kind: Told, Text: "x"}, {Kind: Unqueued}, {Kind: Recheck},
					{Kind: Ranked, Priority: 2}}).Draw(t, "meanwhile"))
			case 3: // the agent ends a turn, and is checked
				apply(j, Event{Kind: Returned})
				apply(j, Event{Kind: Prompted, Turn: "turn"})
				if j.State == wire.Working {
					c := fresh("job")
					on[c] = on[j.Commit]
					apply(j, Event{Kind: Ended, Commit: c})
				}
				if j.State == wire.Checking {
					checked[j.Commit] = true
					apply(j, Event{Kind: Checked, Own: ran(wire.Green)})
				}
			default: // the queue's own step, as Room.advance takes it
				var line []*Job
				for _, k := range all {
					if k.State == wire.Queued {
						line = append(line, k)
					}
				}
				if len(line) == 0 {
					continue
				}
				line = lineUp(line)
				first := line[0]
				for _, k := range line[1:] {
					if k.Priority > first.Priority || k.Priority == first.Priority && k.QueuedAt.Before(first.QueuedAt) {
						t.Fatalf("%s comes before %s", first.ID, k.ID)
					}
				}
				switch {
				case on[first.Commit] != tip && rapid.Bool().Draw(t, "conflict"):
					apply(first, Event{Kind: Conflict, Base: tip, Text: "x"})
					on[first.Commit] = tip
				case on[first.Commit] != tip:
					c := fresh("both")
					on[c] = tip
					apply(first, Event{Kind: Joined, Commit: c, Base: tip})
				case !first.mayMerge() && first.Check == "":
					apply(first, Event{Kind: Unqueued})
				case !first.mayMerge():
					verdict := rapid.SampledFrom([]wire.Verdict{wire.Green, wire.Red}).Draw(t, "verdict")
					checked[first.Commit] = verdict == wire.Green
					apply(first, Event{Kind: Checked, Own: ran(verdict)})
				default:
					c := first.Commit
					apply(first, Event{Kind: Merge, Commit: c})
					if first.State != wire.Merged {
						t.Fatalf("%s may be merged, and is %s", first.ID, first.State)
					}
					if !checked[c] && first.Approved != c || first.Check != "" && !checked[c] || on[c] != tip {
						t.Fatalf("%s was merged at %s, which nothing checked on %s", first.ID, c, tip)
					}
					tip = c
				}
			}
			for _, j := range all {
				if !slices.Contains([]wire.State{wire.Review, wire.Queued, wire.SentBack, wire.Working, wire.Checking, wire.Merged,
					wire.Stopped}, j.State) {
					t.Fatalf("%s is lost: %s", j.ID, j.State)
				}
			}
		}
	})
}

// A protected branch that somebody else moved pauses its queue, and says so.
func TestAMoveFromOutsidePausesTheQueue(t *testing.T) {
	q := &wire.Queue{Branch: "main", Protected: true, Tip: "a"}
	if noticed(q, "a") || q.Paused {
		t.Errorf("nobody moved it: %+v", q)
	}
	if !noticed(q, "b") || !q.Paused || q.Reason == "" {
		t.Errorf("somebody moved it: %+v", q)
	}
	if open := (&wire.Queue{Branch: "main", Tip: "a"}); noticed(open, "b") || open.Paused {
		t.Errorf("it is not protected: %+v", open)
	}
}
