package job

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/job/wire"
)

// What is looked for in a train is found: the first cars that land were green together, and the next one was red with them. Each try
// halves what is not known.
func TestATrainIsBisected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, MaxTrain).Draw(t, "cars")
		said := rapid.SliceOfN(rapid.Bool(), n+1, n+1).Draw(t, "green") // of the first i cars together
		train := &wire.Train{Green: rapid.IntRange(0, 1).Draw(t, "first is known")}
		said[train.Green] = true
		for i := range n {
			train.Cars = append(train.Cars, wire.Car{Job: fmt.Sprint("job_", i), Commit: fmt.Sprint("c", i)})
		}
		tries := 0
		for at := tried(train); at > 0; at = tried(train) {
			if at <= train.Green || train.Red > 0 && at >= train.Red {
				t.Fatalf("%d cars are tried again: %+v", at, train)
			}
			v := wire.Red
			if said[at] {
				v = wire.Green
			}
			found(train, at, v)
			tries++
		}
		if tries > 5 {
			t.Errorf("%d tries for %d cars", tries, n)
		}
		if c := lands(train); c != "" && (!said[train.Green] || c != train.Cars[train.Green-1].Commit) || c == "" && train.Green > 0 {
			t.Errorf("%q lands: %+v", c, train)
		}
		if s := suspect(train); train.Green < n && (train.Red != train.Green+1 || said[train.Red] || s != train.Cars[train.Green].Job) {
			t.Errorf("%q is suspected: %+v", s, train)
		}
	})
}

// A queue with trains against a model: jobs of which some are red together, or with the branch, or do not go together; people who take
// jobs out and let others come sooner; servers that end and forget all but rows. The branch only ever gets sets of jobs that are green
// together, and each job is merged or has gone back to somebody.
func TestTrainsMergeNothingRedAndLoseNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "jobs")
		most := rapid.IntRange(1, MaxTrain).Draw(t, "train")
		harms, clashes := map[[2]int]bool{}, map[[2]int]bool{}
		for range rapid.IntRange(0, n).Draw(t, "pairs") {
			p := [2]int{rapid.IntRange(0, n-1).Draw(t, "one"), rapid.IntRange(0, n-1).Draw(t, "other")}
			if p[0] != p[1] && rapid.Bool().Draw(t, "clash") {
				clashes[p] = true
			} else if p[0] != p[1] {
				harms[p] = true
			}
		}
		pairs := func(of map[[2]int]bool, in []int) bool {
			for p := range of {
				if slices.Contains(in, p[0]) && slices.Contains(in, p[1]) {
					return true
				}
			}
			return false
		}
		var all []*Job
		number := map[string]int{}
		for i := range n {
			j := &Job{Job: wire.Job{ID: fmt.Sprint("job_", i), State: wire.Queued, Check: "x", Bound: 3, Commit: fmt.Sprint("c", i), Path: "/p",
				Session: "s", ApprovedBy: "ann", Verdict: wire.Green, QueuedAt: time.Unix(int64(i), 0)}}
			number[j.ID] = i
			all = append(all, j)
		}
		q, merged, back := &wire.Queue{}, []int{}, map[int]bool{}
		with := func(cars []wire.Car) []int {
			out := slices.Clone(merged)
			for _, c := range cars {
				out = append(out, number[c.Job])
			}
			return out
		}
		land := func(j *Job, e Event) {
			if err := j.Apply(e, time.Unix(0, 0)); err != nil || j.State != wire.Merged {
				t.Fatalf("%s is %s: %v", j.ID, j.State, err)
			}
			merged = append(merged, number[j.ID])
		}
		for steps := 0; ; steps++ {
			line := slices.DeleteFunc(slices.Clone(all), func(j *Job) bool { return j.State != wire.Queued })
			slices.SortFunc(line, order)
			if len(line) == 0 {
				break
			}
			if steps > 60*n {
				t.Fatalf("the queue does not come to an end: %+v", q)
			}
			if rapid.IntRange(0, 9).Draw(t, "a person comes") == 0 {
				j := rapid.SampledFrom(line).Draw(t, "whom")
				e := rapid.SampledFrom([]Event{{Kind: Unqueued}, {Kind: Ranked, Priority: 3}, {Kind: Stop}}).Draw(t, "what")
				if err := j.Apply(e, time.Unix(0, 0)); err != nil {
					t.Fatal(err)
				}
				back[number[j.ID]] = j.State != wire.Queued
				continue
			}
			first := line[slices.IndexFunc(line, func(j *Job) bool { return j.ID == leads(q.Train, line) })]
			switch train := q.Train; {
			case train != nil && slices.ContainsFunc(train.Cars, func(c wire.Car) bool { return riding(c, line) == nil }):
				q.Train = nil
			case train != nil && tried(train) > 0:
				at, v := tried(train), wire.Green
				if pairs(harms, with(train.Cars[:at])) {
					v = wire.Red
				}
				found(train, at, v)
			case train != nil:
				if s := suspect(train); s != "" {
					q.Suspect = &wire.Suspect{Job: s, QueuedAt: all[number[s]].QueuedAt}
				}
				for _, c := range train.Cars[:train.Green] {
					land(riding(c, line), Event{Kind: Landed, Commit: c.Commit, Tip: lands(train)})
				}
				if q.Train = nil; pairs(harms, merged) || pairs(clashes, merged) {
					t.Fatalf("the branch is red: %v", merged)
				}
			default:
				made := &wire.Train{}
				for _, j := range line[:min(len(line), most)] {
					c := wire.Car{Job: j.ID, From: j.Commit, Commit: "with " + j.Commit}
					if suspected(q, j) || pairs(clashes, with(append(slices.Clone(made.Cars), c))) {
						break
					}
					made.Cars = append(made.Cars, c)
				}
				alone := with([]wire.Car{{Job: first.ID}})
				switch {
				case len(made.Cars) > 1:
					q.Train = made
				case pairs(clashes, alone) || pairs(harms, alone): // it is brought together with the branch, and checked
					back[number[first.ID]] = true
					if err := first.Apply(Event{Kind: Conflict, Text: "x"}, time.Unix(0, 0)); err != nil {
						t.Fatal(err)
					}
				default:
					land(first, Event{Kind: Merge, Commit: first.Commit})
				}
			}
		}
		for i, j := range all {
			if (j.State == wire.Merged) == back[i] {
				t.Errorf("%s is %s", j.ID, j.State)
			}
		}
	})
}
