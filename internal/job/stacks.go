package job

import (
	"context"
	"errors"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// puts has a job that is about to be started stand on another one.
func (r *Room) puts(ctx context.Context, tx *db.Tx, j *Job, on string) error {
	if !op.May(ctx, "job.read", at(on)) {
		return op.NoSuch("job", on)
	}
	lower, err := r.change(tx, j.Tenant, on, func(lower *Job) error {
		switch {
		case lower.State == wire.Merged:
			return fault.New(fault.Conflict, "job.start", "the job %s is merged already", on).
				WithNext("start it without --on: it begins where the branch stands")
		case lower.discarded():
			return fault.New(fault.Conflict, "job.start", "the job %s was discarded", on).WithNext("start it without --on")
		case len(lower.Above) >= maxAbove:
			return fault.New(fault.Exhausted, "job.start", "%d jobs stand on %s, and more may not", maxAbove, on).
				WithNext("put it on one of those: tandem job show %s", on)
		case lower.Storey+1 >= maxStack:
			return fault.New(fault.Exhausted, "job.start", "a stack has %d jobs at most", maxStack).WithNext("merge the lowest one first")
		}
		lower.Above = append(lower.Above, j.ID)
		return nil
	})
	if err != nil {
		return err
	}
	j.On, j.Held, j.Storey = on, true, lower.Storey+1
	if j.Folder, j.Onto = lower.Folder, lower.Onto; j.Folder == "" {
		j.Named = lower.Named
	}
	if !lower.carries() {
		j.Reason = "it begins when the job " + on + ", which it stands on, is in review"
	}
	return r.vouchFor(tx, op.CallerFrom(ctx), lower, map[string]any{"event": "carries", "above": j.ID})
}

// footing is the job that a held one is to begin on; nil where it begins at its branch. It waits while there is nothing to stand on.
func (r *Room) footing(ctx context.Context, j *Job, w *worker) (lower *Job, wait bool, err error) {
	if !j.Held {
		return nil, false, nil
	}
	lower, err = r.get(ctx, j.Tenant, j.On)
	switch {
	case err != nil:
		return nil, false, err
	case lower.discarded():
		return nil, false, fault.New(fault.Conflict, "job", "the job %s, which it stands on, was discarded", j.On)
	case !lower.carries():
		pause(ctx, w.woken, 2*time.Second)
		return nil, true, nil
	}
	return lower, false, nil
}

// raise brings what the job below became into the workspace of one in review.
func (r *Room) raise(ctx context.Context, j *Job) error {
	e, err := r.rejoin(ctx, j, j.Ground)
	if err != nil {
		return r.failed(ctx, j, err)
	}
	return r.happened(ctx, j, e)
}

// lift tells those above a job what became of it, in the transaction in which it did.
func (r *Room) lift(tx *db.Tx, was, after *Job) error {
	e, moves := after.lifts(was)
	if !moves {
		return nil
	}
	for _, id := range after.Above {
		var from wire.State
		upper, err := r.change(tx, after.Tenant, id, func(j *Job) error {
			if from = j.State; !j.Held || e.Kind == Raised && j.Ground == "" && j.Base == e.Commit {
				return errStale
			}
			return j.Apply(e, tx.Now())
		})
		if errors.Is(err, errStale) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
			continue // it stands elsewhere by now, is gone, or does not count
		}
		if err != nil {
			return err
		}
		if err := r.vouchFor(tx, upper.Caller, upper, map[string]any{"event": e.Kind, "from": from, "state": upper.State,
			"reason": upper.Reason, "commit": upper.Commit, "on": after.ID}); err != nil {
			return err
		}
		if err := r.Told(tx, upper.Tenant, upper.Job, from); err != nil {
			return err
		}
		tx.AfterCommit(func() { r.wake(upper.Tenant, upper.ID) })
	}
	return nil
}

// ground is the commit that a stack stands on: of a job that stands on none that is open, its own base.
func (r *Room) ground(ctx context.Context, j *Job) (string, error) {
	for up := 0; j.Held && up < maxStack; up++ {
		lower, err := r.get(ctx, j.Tenant, j.On)
		if err != nil {
			return "", err
		}
		if lower.Base == "" {
			break
		}
		j = lower
	}
	return j.Base, nil
}

// masksStack leaves out the jobs of a stack that the caller may not see.
func (j *Job) masksStack(ctx context.Context) {
	may := func(id string) bool { return op.May(ctx, "job.list", at(id)) }
	j.Above = slices.DeleteFunc(j.Above, func(id string) bool { return !may(id) })
	if j.On != "" && !may(j.On) {
		j.On = ""
	}
}

// below is where a job stands that holds another one up, for whoever may see it.
func (r *Room) below(ctx context.Context, j *Job) wire.State {
	if !j.Held || j.On == "" {
		return ""
	}
	lower, err := r.peek(ctx, j.Tenant, j.On)
	if err != nil { // it was forgotten
		return ""
	}
	return lower.State
}
