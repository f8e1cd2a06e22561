package job

import (
	"context"
	"path/filepath"
	"slices"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
)

// tries runs the checks of the first cars on the commit of the last of these.
func (r *Room) tries(ctx context.Context, j *Job, t *wire.Train, line []*Job, n int, w *worker) error {
	var cars []*Job
	for _, c := range t.Cars[:n] {
		cars = append(cars, riding(c, line))
	}
	var ran map[string]*wire.Evidence
	var err error
	if !r.during(ctx, w, func() bool {
		line, err := r.waiting(ctx, j.Tenant, j.Repo, j.Onto)
		return err == nil && !slices.ContainsFunc(t.Cars, func(c wire.Car) bool { return riding(c, line) == nil })
	}, func(running context.Context) { ran, err = r.together(running, t, cars, j.ID+trainFolder) }) {
		return ctx.Err() // the next step sees what became of it
	}
	if err != nil {
		return r.ends(ctx, j, t, fault.Public(err).Msg, j.ID) // alone it is told what is wrong
	}
	verdict := wire.Green
	for _, e := range ran {
		if e.Verdict != wire.Green {
			verdict = e.Verdict
		}
	}
	return r.trained(ctx, j, t, "checked", ran, func(t *wire.Train) { found(t, n, verdict) }, cars...)
}

// sameCheck is the same for jobs of which one run of the check stands for both.
func sameCheck(j *Job) string {
	in, _ := filepath.Rel(j.Path, j.Work) // where it is nothing, the check runs at the top
	return in + "\x00" + j.Check
}

// trainFolder ends the name of the folder in which a train's checks run: a job of it that leaves the queue is checked in its own.
const trainFolder = ".train"

// sweep takes away what trains left that a crash cut off.
func (r *Room) sweep() {
	left, _ := filepath.Glob(filepath.Join(r.Folder, "*"+trainFolder)) //nolint:errcheck // the pattern is a good one
	for _, at := range left {
		if err := clear(at); err != nil {
			r.Log.Warn("a folder of a check stays", "folder", at, "err", err)
		}
	}
}

// together runs each check of some jobs on the commit of the last one's car, until one is red.
func (r *Room) together(ctx context.Context, t *wire.Train, cars []*Job, in string) (map[string]*wire.Evidence, error) {
	out := map[string]*wire.Evidence{}
	for _, j := range cars {
		if out[sameCheck(j)] != nil {
			continue
		}
		on := *j
		on.Base, on.Commit = t.Base, t.Cars[len(cars)-1].Commit
		for _, other := range cars {
			if sameCheck(other) == sameCheck(j) {
				on.Seconds = max(on.Seconds, other.Seconds)
			}
		}
		if err := r.mayCheck(ctx, j, on.Commit); err != nil {
			return nil, err
		}
		if err := r.Tools.Genuine(ctx, j.Repo, on.Base, on.Commit, false); err != nil {
			return nil, err
		}
		e, err := r.run(ctx, &on, in, nil)
		if err != nil {
			return nil, err
		}
		e.Copies = "train"
		if out[sameCheck(j)] = e; e.Verdict != wire.Green {
			break
		}
	}
	return out, nil
}
