package job

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/job/wire"
)

// In a queue no job of a stack comes before the one that it stands on, those that stand on one that is not queued come last, and a stack
// comes as soon as the first of it would by its priority.
func TestAQueueTakesStacksFromBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*Job
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			j := &Job{Job: wire.Job{ID: fmt.Sprintf("job_%02d", i), State: wire.Queued, Priority: rapid.Int64Range(-2, 2).Draw(t, "priority"),
				QueuedAt: time.Unix(rapid.Int64Range(0, 9).Draw(t, "when"), 0)}}
			if on := rapid.IntRange(-2, i-1).Draw(t, "on"); on >= 0 {
				j.On, j.Held = fmt.Sprintf("job_%02d", on), rapid.Bool().Draw(t, "held")
			}
			all = append(all, j)
		}
		var in []*Job // the others are not queued
		for _, j := range all {
			if rapid.IntRange(0, 3).Draw(t, "queued") > 0 {
				in = append(in, j)
			}
		}
		line := lineUp(in)
		if len(line) != len(in) {
			t.Fatalf("%d of %d are in line", len(line), len(in))
		}
		at := func(id string) int { return slices.IndexFunc(line, func(j *Job) bool { return j.ID == id }) }
		stuck := func(j *Job) bool { // by one that is not queued
			for j.Held {
				i := at(j.On)
				if i < 0 {
					return true
				}
				j = line[i]
			}
			return false
		}
		for i, j := range line {
			switch below := at(j.On); {
			case !stuck(j) && j.Held && below > i:
				t.Fatalf("%s comes before %s, which it stands on", j.ID, j.On)
			case i > 0 && stuck(line[i-1]) && !stuck(j):
				t.Fatalf("%s comes after %s, which waits for one that is not queued", j.ID, line[i-1].ID)
			case !j.Held:
				best := func(j *Job) int64 {
					most := j.Priority
					for _, k := range line {
						for up := k; up.Held && at(up.On) >= 0; {
							if up = line[at(up.On)]; up == j {
								most = max(most, k.Priority)
							}
						}
					}
					return most
				}
				for _, k := range line[:i] {
					if !k.Held && best(k) < best(j) {
						t.Fatalf("%s of priority %d comes before %s of %d", k.ID, best(k), j.ID, best(j))
					}
				}
			}
		}
		if first := leads(nil, line); len(line) > 0 && (first == "") != line[0].Held {
			t.Fatalf("%q leads %+v", first, line[0])
		}
	})
}

// What becomes of the job below, wherever the one above it stands.
func TestAJobHearsOfTheOneBelow(t *testing.T) {
	on := func(events ...Event) *Job {
		j := fresh("x")
		j.On, j.Held, j.ApprovedBy = "job_low", true, "ann"
		for _, e := range events {
			if err := j.Apply(e, time.Unix(0, 0)); err != nil {
				t.Fatalf("%s: %v", e.Kind, err)
			}
		}
		return j
	}
	review := []Event{opened, prompted, ended, green}
	with := func(more ...Event) []Event { return append(slices.Clone(review), more...) }
	raised := Event{Kind: Raised, Commit: "b2"}

	if j := on(with(raised)...); !j.rises() || !j.next() {
		t.Error("another commit below is not brought into a job in review")
	}
	if j := on(opened, prompted, raised); j.next() && j.rises() {
		t.Error("it is brought under an agent at work")
	} else if j := on(opened, prompted, raised, ended, green); !j.rises() {
		t.Error("and not once that is done")
	}
	if j := on(with(Event{Kind: Raised, Commit: "b"})...); j.rises() {
		t.Error("what it stands on already is brought into it")
	}
	j := on(with(raised, Event{Kind: Remade, Commit: "d", Base: "b2"})...)
	const why = "the job job_low moved: this is both together, and needs another look"
	if j.rises() || j.State != wire.Checking || j.Base != "b2" || j.Reason != why {
		t.Errorf("%+v", j)
	}
	if j := on(with(raised, Event{Kind: Conflict, Base: "b2", Text: "a.go"})...); j.State != wire.SentBack || j.Ground != "" {
		t.Errorf("%+v", j)
	}
	if err := on(review...).Apply(Event{Kind: Merge, Commit: "c"}, time.Time{}); err == nil {
		t.Error("it is merged before the one below")
	}
	free := on(with(Event{Kind: Freed, Onto: "main"})...)
	if err := free.Apply(Event{Kind: Merge, Commit: "c"}, time.Time{}); err != nil || free.State != wire.Merged {
		t.Errorf("after the one below it is not merged: %v", err)
	}
	for name, events := range map[string][]Event{"planned": nil, "in review": review,
		"queued": with(Event{Kind: Queue, Commit: "c", By: "ann"})} {
		j := on(append(slices.Clone(events), Event{Kind: Sunk, Text: "gone"})...)
		if j.Reason != "gone" || !j.State.Waits() || !j.Held {
			t.Errorf("%s, and the one below was discarded: %s, %s", name, j.State, j.Reason)
		}
	}
}
