package job

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/job/wire"
	"tandem/internal/testenv"
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

// yard is a queue with trains whose checks and files are a model: which jobs are red, alone or together, and which do not go together.
type yard struct {
	*rapid.T
	all             []*Job
	number          map[string]int
	harms, clashes  map[[2]int]bool
	q               *wire.Queue
	in              []bool // merged
	back            []bool // gone back to somebody, or to nobody any more
	tip             string // where the branch stands
	landed, mended  int
	kills           int // between the branch and the rows
	restarts, steps int
}

func newYard(t *rapid.T, n int) *yard {
	y := &yard{T: t, number: map[string]int{}, harms: map[[2]int]bool{}, clashes: map[[2]int]bool{}, q: &wire.Queue{}, in: make([]bool, n),
		back: make([]bool, n)}
	for range rapid.IntRange(0, n).Draw(t, "pairs") {
		p := [2]int{rapid.IntRange(0, n-1).Draw(t, "one"), rapid.IntRange(0, n-1).Draw(t, "other")}
		if p[0] != p[1] && rapid.Bool().Draw(t, "clash") {
			y.clashes[p] = true
		} else {
			y.harms[p] = true // one alone is red by itself once it is together with the branch
		}
	}
	for i := range n {
		j := &Job{Job: wire.Job{ID: fmt.Sprint("job_", i), State: wire.Queued, Check: "x", Bound: 3, Commit: fmt.Sprint("c", i), Path: "/p",
			Session: "s", ApprovedBy: "ann", Verdict: wire.Green, QueuedAt: time.Unix(int64(i), 0)}}
		y.number[j.ID] = i
		y.all = append(y.all, j)
	}
	return y
}

// wrong says whether a pair is among what is merged, with some more.
func (y *yard) wrong(of map[[2]int]bool, more ...wire.Car) bool {
	with := slices.Clone(y.in)
	for _, c := range more {
		with[y.number[c.Job]] = true
	}
	for p := range of {
		if with[p[0]] && with[p[1]] {
			return true
		}
	}
	return false
}

func (y *yard) apply(j *Job, events ...Event) {
	for _, e := range events {
		if err := j.Apply(e, time.Unix(0, 0)); err != nil {
			y.Fatalf("%s: %s: %v", j.ID, e.Kind, err)
		}
	}
}

func (y *yard) land(j *Job, e Event) {
	y.apply(j, e)
	if j.State != wire.Merged || !y.in[y.number[j.ID]] {
		y.Fatalf("%s is %s, in the branch: %v", j.ID, j.State, y.in[y.number[j.ID]])
	}
	y.landed++
}

// move moves the branch to a commit that brings some jobs.
func (y *yard) move(to string, jobs ...string) {
	for _, id := range jobs {
		if y.in[y.number[id]] {
			y.Fatalf("%s is merged twice", id)
		}
		y.in[y.number[id]] = true
	}
	if y.tip = to; y.wrong(y.harms) || y.wrong(y.clashes) {
		y.Fatalf("the branch is red: %v", y.in)
	}
}

// moved says whether a train's commit is in the branch, and its rows do not know of it.
func (y *yard) moved() bool {
	return y.q.Train != nil && y.q.Train.Landing != "" && y.tip == y.q.Train.Landing
}

// lands takes a train to its end in the steps between which a server can be killed: what is to land is written down, the branch is moved,
// and the rows say so.
func (y *yard) lands(line []*Job) {
	train := y.q.Train
	switch to := lands(train); {
	case to == "": // its first one is red, and comes alone
	case train.Landing == "":
		train.Landing = to
		return
	case !y.moved():
		var jobs []string
		for _, c := range train.Cars[:train.Green] {
			jobs = append(jobs, c.Job)
		}
		y.move(train.Landing, jobs...)
		if rapid.IntRange(0, 3).Draw(y.T, "killed") == 0 {
			y.kills++
			y.restart()
			return
		}
	}
	if s := suspect(train); s != "" {
		y.q.Suspect = &wire.Suspect{Job: s, QueuedAt: y.all[y.number[s]].QueuedAt}
	}
	for _, c := range train.Cars[:train.Green] {
		y.land(riding(c, line), Event{Kind: Landed, Commit: c.Commit, Tip: lands(train)})
	}
	y.q.Train = nil
}

// mend has the agent of a job that came back do away with what was wrong; a person looks, and queues it again.
func (y *yard) mend(j *Job) {
	i := y.number[j.ID]
	for _, of := range []map[[2]int]bool{y.harms, y.clashes} {
		for p := range of {
			if p[0] == i || p[1] == i {
				delete(of, p)
			}
		}
	}
	commit := j.Commit + "'"
	y.apply(j, Event{Kind: Returned}, Event{Kind: Prompted, Turn: "turn"}, Event{Kind: Ended, Commit: commit},
		Event{Kind: Checked, Own: &wire.Evidence{Verdict: wire.Green}}, Event{Kind: Queue, Commit: commit, By: "ann"})
	y.back[i] = false
	y.mended++
}

// restart forgets all but rows.
func (y *yard) restart() {
	y.restarts++
	again := func(row, into any) {
		text, err := json.Marshal(row)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			y.Fatal(err)
		}
	}
	q := &wire.Queue{}
	again(y.q, q)
	y.q = q
	for i, j := range y.all {
		fresh := &Job{}
		again(j, fresh)
		y.all[i] = fresh
	}
}

// person is somebody who does something to a job that waits.
func (y *yard) person(line []*Job) {
	j := rapid.SampledFrom(line).Draw(y.T, "whom")
	y.apply(j, rapid.SampledFrom([]Event{{Kind: Unqueued}, {Kind: Ranked, Priority: 3}, {Kind: Stop}}).Draw(y.T, "what"))
	y.back[y.number[j.ID]] = j.State != wire.Queued
}

// step does what is next for the queue.
func (y *yard) step(line []*Job, most int) {
	first := line[slices.IndexFunc(line, func(j *Job) bool { return j.ID == leads(y.q.Train, line) })]
	switch train := y.q.Train; {
	case train != nil && slices.ContainsFunc(train.Cars, func(c wire.Car) bool { return riding(c, line) == nil }):
		y.q.Train = nil
	case train != nil && tried(train) > 0:
		at, v := tried(train), wire.Green
		if y.wrong(y.harms, train.Cars[:at]...) {
			v = wire.Red
		}
		found(train, at, v)
	case train != nil:
		y.lands(line)
	default:
		y.depart(line, first, most)
	}
}

// depart puts a train together, or has the first job come alone.
func (y *yard) depart(line []*Job, first *Job, most int) {
	made := &wire.Train{}
	for _, j := range line[:min(len(line), most)] {
		c := wire.Car{Job: j.ID, From: j.Commit, Commit: "with " + j.Commit}
		if suspected(y.q, j) || y.wrong(y.clashes, append(slices.Clone(made.Cars), c)...) {
			break
		}
		made.Cars = append(made.Cars, c)
	}
	alone := wire.Car{Job: first.ID}
	switch {
	case len(made.Cars) > 1:
		y.q.Train = made
	case y.wrong(y.clashes, alone) || y.wrong(y.harms, alone): // it is brought together with the branch, and checked
		y.back[y.number[first.ID]] = true
		y.apply(first, Event{Kind: Conflict, Text: "x"})
	default:
		y.move(first.Commit, first.ID)
		y.land(first, Event{Kind: Merge, Commit: first.Commit})
	}
}

// A queue with trains against a model: jobs of which some are red, alone or together, or do not go together; people who take jobs out and
// let others come sooner; agents who mend what came back; servers that end and forget all but rows, also between the branch and the rows
// that say where it is. The branch only ever gets sets of jobs that are green together, and each job is merged once or has gone back to
// somebody. One in ten queues is long: a hundred jobs, and a thousand in make soak.
func TestTrainsMergeNothingRedAndLoseNobody(t *testing.T) {
	long, jobs := 100, 0
	if testenv.Soak() {
		long = 1000
	}
	var merged, mended, restarts, kills int
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "jobs")
		if rapid.IntRange(0, 9).Draw(t, "long") == 9 {
			n = long
		}
		most := rapid.IntRange(1, MaxTrain).Draw(t, "train")
		y := newYard(t, n)
		for ; ; y.steps++ {
			if y.steps > 60*n {
				t.Fatalf("the queue does not come to an end: %+v", y.q)
			}
			var line, gone []*Job
			for _, j := range y.all {
				switch j.State {
				case wire.Queued:
					line = append(line, j)
				case wire.SentBack:
					gone = append(gone, j)
				}
			}
			what := rapid.IntRange(0, 19).Draw(t, "what comes")
			switch line = lineUp(line); {
			case len(gone) > 0 && what < 4:
				y.mend(rapid.SampledFrom(gone).Draw(t, "who mends"))
				continue
			case what == 4:
				y.restart()
				continue
			case len(line) > 0 && what < 7 && !y.moved():
				y.person(line)
				continue
			}
			if len(line) == 0 {
				break
			}
			y.step(line, most)
		}
		for i, j := range y.all {
			if (j.State == wire.Merged) == y.back[i] || (j.State == wire.Merged) != y.in[i] {
				t.Errorf("%s is %s", j.ID, j.State)
			}
		}
		jobs, merged, mended, restarts = jobs+n, merged+y.landed, mended+y.mended, restarts+y.restarts
		kills += y.kills
	})
	t.Logf("%d jobs: %d merged, %d mended, %d restarts, %d kills between the branch and the rows", jobs, merged, mended, restarts, kills)
	if merged == 0 || mended == 0 || restarts == 0 || kills == 0 {
		t.Error("the queues had too little to do")
	}
}
