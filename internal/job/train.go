package job

import (
	"slices"

	"tandem/internal/job/wire"
)

// A train is several jobs of a queue, each merged on top of the one before, of which the last is checked: where that is green, the branch
// moves there once and all are merged. Where it is red, half of them are tried, until as many as are green together are known and the next
// one is suspected. The suspect comes alone then, in its own workspace, as any job without a train does: there it is checked once more,
// and goes back to its agent when it is red. What does not go together with those before it, has no check or changes what its check
// consists of is not taken along: it comes alone when its turn comes.

// How many jobs a train has.
const (
	DefaultTrain = 4
	MaxTrain     = 16
)

// tried is how many of the first cars are checked together next; 0 when nothing is left to find out.
func tried(t *wire.Train) int {
	switch {
	case t.Green == len(t.Cars):
		return 0
	case t.Red == 0:
		return len(t.Cars)
	case t.Red-t.Green > 1:
		return (t.Green + t.Red) / 2
	}
	return 0
}

// found takes what the checks of the first cars said.
func found(t *wire.Train, cars int, v wire.Verdict) {
	if v == wire.Green {
		t.Green = cars
		return
	}
	t.Red = cars
}

// lands is the commit that the branch moves to: of the last car that is green with those before it. "" where there is none.
func lands(t *wire.Train) string {
	if t.Green == 0 {
		return ""
	}
	return t.Cars[t.Green-1].Commit
}

// suspect is the job with which the train was red; "" where it was not.
func suspect(t *wire.Train) string {
	if t.Red == 0 {
		return ""
	}
	return t.Cars[t.Red-1].Job
}

// leads is the job whose worker looks after the queue: the first of the train, while that waits, else the first that can be merged. One of
// a stack can stand before that, where the row of the one below does not count.
func leads(t *wire.Train, line []*Job) string {
	if t != nil && riding(t.Cars[0], line) != nil {
		return t.Cars[0].Job
	}
	if i := slices.IndexFunc(line, func(j *Job) bool { return !j.Held }); i >= 0 {
		return line[i].ID
	}
	return ""
}

// riding is the job of a car, if it is still what the car was made of.
func riding(c wire.Car, line []*Job) *Job {
	i := slices.IndexFunc(line, func(j *Job) bool { return j.ID == c.Job && j.Commit == c.From })
	if i < 0 {
		return nil
	}
	return line[i]
}

// suspected says that a job comes alone.
func suspected(q *wire.Queue, j *Job) bool {
	return q.Suspect != nil && q.Suspect.Job == j.ID && q.Suspect.QueuedAt.Equal(j.QueuedAt)
}
