package job

import (
	"context"
	"fmt"
	"slices"

	"tandem/internal/job/prepare"
	"tandem/internal/job/wire"
	"tandem/internal/session/checkout"
)

// couple puts a train together; nil where the first job comes alone. No workspace and no row of a job is touched.
func (r *Room) couple(ctx context.Context, q *wire.Queue, line []*Job, tip string) (*wire.Train, error) {
	if len(line) < 2 || r.Train < 2 {
		return nil, nil
	}
	t, prev := &wire.Train{Base: tip}, tip
	for _, j := range line[:min(len(line), r.Train)] {
		car, err := r.car(ctx, q, line[:len(t.Cars)+1], j, tip, prev)
		if err != nil {
			return nil, err
		}
		if car.Commit == "" {
			break
		}
		if len(t.Cars) == 0 && car.Commit == j.Commit && j.Verdict == wire.Green {
			t.Green = 1
		}
		t.Cars, prev = append(t.Cars, car), car.Commit
	}
	if len(t.Cars) < 2 {
		return nil, nil
	}
	return t, nil
}

// car is a job on top of the commit before it, which holds the others so far; it has no commit where the job is not taken along.
func (r *Room) car(ctx context.Context, q *wire.Queue, together []*Job, j *Job, tip, prev string) (c wire.Car, err error) {
	if j.Check == "" || len(j.Altered) > 0 || suspected(q, j) {
		return c, nil
	}
	held := tip
	if j.Held { // the one below rides with it, or it does not
		if held = prev; !slices.ContainsFunc(together, func(other *Job) bool { return other.ID == j.On }) {
			return c, nil
		}
	}
	if r.people.Known(ctx, j.Tenant, j.ApprovedBy) != nil {
		return c, nil
	}
	// What another job stands on may be gone: it hears of that when it comes alone, and those before it do not wait for it.
	if has, err := answers(r.Tools.Has(ctx, j.Repo, held, j.Base)); err != nil || !has {
		return c, err
	}
	if in, err := r.Tools.Has(ctx, j.Repo, prev, j.Commit); err != nil || in {
		_, err = answers(in, err)
		return c, err
	}
	commit := j.Commit
	if prev != j.Base {
		if commit, err = r.Tools.Together(ctx, j.Repo, prev, j.Commit, fmt.Sprintf("Merge a job into %s\n\nJob: %s\n", j.Onto, j.ID),
			j.author()); err != nil || commit == "" {
			_, err = answers(commit, err)
			return c, err
		}
	}
	alters, err := r.alters(ctx, j, prev, commit)
	if err != nil {
		_, err = answers(alters, err)
		return c, err
	}
	if alters || !r.mayRide(ctx, together, commit) {
		return c, err
	}
	return wire.Car{Job: j.ID, From: j.Commit, Commit: commit}, nil
}

// alters says that what a job adds changes what its check consists of, or depends on.
func (r *Room) alters(ctx context.Context, j *Job, prev, commit string) (bool, error) {
	changes, err := r.Tools.Changed(ctx, j.Repo, prev, commit)
	if err != nil {
		return false, err
	}
	on := *j
	on.Base = prev
	p, err := r.parts(ctx, &on)
	locked := slices.ContainsFunc(changes, func(c checkout.Change) bool { _, known := prepare.Known(c.Path); return known })
	return locked || len(altered(p, changes)) > 0, err
}

// mayRide says whether all who started these jobs may see the files of a commit: their checks would run on it.
func (r *Room) mayRide(ctx context.Context, together []*Job, commit string) bool {
	asked := map[string]bool{}
	for _, j := range together {
		if !asked[j.Caller.Actor] && r.mayCheck(ctx, j, commit) != nil {
			return false
		}
		asked[j.Caller.Actor] = true
	}
	return true
}
