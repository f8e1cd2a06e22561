package job

import (
	"context"
	"errors"
	"slices"

	"tandem/internal/db"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
)

// EventTrain is the event of a train: it departs, was checked, lands, or came to nothing.
const EventTrain = "queue.train"

// departs writes a train down, before anything is checked.
func (r *Room) departs(ctx context.Context, j *Job, t *wire.Train) error {
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		k, err := r.changeQueue(tx, j.Tenant, j.Repo, j.Onto, func(q *wire.Queue) error {
			q.Train = t
			return nil
		})
		if err != nil {
			return err
		}
		return r.tellTrain(tx, j, t, "departs", "", nil, k)
	})
}

// trained changes a train. What a check said is kept with the jobs that it was the check of; what was red, with the last of them.
func (r *Room) trained(ctx context.Context, j *Job, t *wire.Train, did string, ran map[string]*wire.Evidence, fn func(*wire.Train),
	cars ...*Job) error {
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		q, err := r.changeQueue(tx, j.Tenant, j.Repo, j.Onto, func(q *wire.Queue) error {
			if !sameTrain(q.Train, t) {
				return errStale
			}
			fn(q.Train)
			return nil
		})
		if errors.Is(err, errStale) {
			return nil
		}
		for i, car := range cars {
			if e := ran[sameCheck(car)]; err == nil && e != nil && (e.Verdict == wire.Green || i == len(cars)-1) {
				own := *e
				err = r.keep(tx, car, &own)
			}
		}
		if err != nil {
			return err
		}
		return r.tellTrain(tx, j, q.Train, did, "", ran, q)
	})
}

func sameTrain(a, b *wire.Train) bool {
	return a != nil && b != nil && a.Base == b.Base && slices.Equal(a.Cars, b.Cars)
}

// ends takes a train out of its queue. Where a job is suspected, that comes alone.
func (r *Room) ends(ctx context.Context, j *Job, t *wire.Train, why, suspect string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		k, err := r.uncouple(tx, j, suspect, func(*wire.Queue) {})
		if err != nil {
			return err
		}
		return r.tellTrain(tx, j, t, "ends", why, nil, k)
	})
	r.others(ctx, j)
	return err
}

// uncouple forgets the train of a queue.
func (r *Room) uncouple(tx *db.Tx, j *Job, suspect string, fn func(*wire.Queue)) (kept, error) {
	var since *wire.Suspect
	if suspect != "" {
		s, err := scan(tx.QueryRow(columns+"tenant = ? AND id = ?", j.Tenant, suspect))
		if err != nil && !db.NoRows(err) {
			return kept{}, err
		}
		if err == nil {
			since = &wire.Suspect{Job: s.ID, QueuedAt: s.QueuedAt}
		}
	}
	return r.changeQueue(tx, j.Tenant, j.Repo, j.Onto, func(q *wire.Queue) error {
		if q.Train = nil; since != nil {
			q.Suspect = since
		}
		fn(q)
		return nil
	})
}

// landed writes down that the branch holds the first cars of a train, all at once. One that left the queue in the moment in which the
// branch was moved is where its people put it, and is found in the branch from there.
func (r *Room) landed(ctx context.Context, j *Job, t *wire.Train, line []*Job, tip string) error {
	var last *Job
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		prev := t.Base
		for _, c := range t.Cars[:t.Green] {
			e := Event{Kind: Landed, Base: prev, Commit: c.Commit, Tip: t.Landing, Ref: "refs/heads/" + j.Onto}
			prev = c.Commit
			rides := riding(c, line)
			if rides == nil {
				continue
			}
			if err := r.settleIn(tx, rides, e); errors.Is(err, errStale) {
				continue
			} else if err != nil {
				return err
			}
			last = rides
			tx.AfterCommit(func() { r.wake(rides.Tenant, rides.ID) })
		}
		k, err := r.uncouple(tx, j, suspect(t), func(q *wire.Queue) {
			if !q.Protected {
				return
			}
			if tip == t.Landing {
				q.Tip = t.Landing
			}
			if q.Push != nil && q.Push.Pushed != t.Landing {
				q.Push.Waits, q.Push.Problem = t.Landing, ""
			}
		})
		if err != nil {
			return err
		}
		return r.tellTrain(tx, j, t, "landed", "", nil, k)
	})
	r.others(ctx, j)
	if err == nil && last != nil {
		r.pushOn(ctx, j.Tenant, j.Repo, j.Onto, last.ApprovedBy)
	}
	return err
}

// tellTrain writes into the journal what became of a train.
func (r *Room) tellTrain(tx *db.Tx, j *Job, t *wire.Train, did, why string, ran map[string]*wire.Evidence, k kept) error {
	said := map[string]any{"repo": j.Repo, "branch": j.Onto, "train": t, "did": did, "reason": why}
	var evidence []*wire.Evidence
	for _, e := range ran {
		evidence = append(evidence, unsaid(e))
	}
	said["evidence"] = evidence
	return r.Journal.Tell(tx, journal.Event{Tenant: j.Tenant, Type: EventTrain, Phase: journal.Done, Actor: j.Caller.Name,
		For: j.Caller.For, Resource: at(j.ID).String()}, said, k.seal())
}
