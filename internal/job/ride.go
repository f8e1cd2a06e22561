package job

import (
	"context"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
)

// ride takes a train one step further.
func (r *Room) ride(ctx context.Context, j *Job, q *wire.Queue, line []*Job, tip string, w *worker) error {
	t := q.Train
	if t.Landing != "" && tip != "" {
		if there, err := answers(r.Tools.Has(ctx, j.Repo, tip, t.Landing)); err != nil {
			return err
		} else if there {
			return r.landed(ctx, j, t, line, tip)
		}
	}
	if why, err := r.broken(ctx, j, t, line, tip); err != nil || why != "" {
		if err != nil {
			return err
		}
		return r.ends(ctx, j, t, why, "")
	}
	switch n := tried(t); {
	case n > 0:
		return r.tries(ctx, j, t, line, n, w)
	case lands(t) == "":
		return r.ends(ctx, j, t, "the first one is red", t.Cars[0].Job)
	case t.Landing == "":
		return r.trained(ctx, j, t, "lands", nil, func(t *wire.Train) { t.Landing = lands(t) })
	}
	if err := r.Tools.Genuine(ctx, j.Repo, t.Base, t.Landing, false); fault.Is(err, fault.Unavailable) {
		return err
	} else if err != nil {
		return r.ends(ctx, j, t, fault.Public(err).Msg, t.Cars[0].Job) // the first one says so where it comes alone
	}
	if err := r.Tools.Move(ctx, j.Repo, "refs/heads/"+j.Onto, t.Landing, t.Base); err != nil {
		return err
	}
	return r.landed(ctx, j, t, line, t.Landing)
}

// broken says why a train cannot go on.
func (r *Room) broken(ctx context.Context, j *Job, t *wire.Train, line []*Job, tip string) (string, error) {
	if tip != t.Base {
		return "the branch moved", nil
	}
	for _, c := range t.Cars {
		rides := riding(c, line)
		if rides == nil {
			return c.Job + " left the queue, or is another commit by now", nil
		}
		if err := r.people.Known(ctx, j.Tenant, rides.ApprovedBy); fault.Is(err, fault.Internal) || fault.Is(err, fault.Unavailable) {
			return "", err // that is not known now
		} else if err != nil {
			return rides.ApprovedBy + " approved one of them, and may do nothing here any more", nil
		}
	}
	out, err := r.Tools.Out(ctx, j.Repo, j.Onto)
	if out {
		return "the branch is checked out", err
	}
	return "", err
}
