package job

import (
	"context"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
)

// advance takes a queued job one step further when it is its turn.
func (r *Room) advance(ctx context.Context, j *Job, w *worker) error {
	q, err := r.queue(ctx, j.Tenant, j.Repo, j.Onto)
	if err != nil {
		return err
	}
	if first, err := r.first(ctx, j.line(), q.Train); err != nil {
		return err
	} else if first != j.ID {
		r.waits(ctx, j, w)
		return nil
	}
	line, err := r.waiting(ctx, j.Tenant, j.Repo, j.Onto)
	if err != nil {
		return err
	}
	if leads(q.Train, line) != j.ID { // nor does it look at the branch, which the first one may be moving
		pause(ctx, w.woken, lookAgain)
		return nil
	}
	// What git cannot say now is no word about the branch: a job left its queue because the machine was too busy for git.
	tip, err := r.Tools.At(ctx, j.Repo, "refs/heads/"+j.Onto)
	if err != nil {
		return r.leftBy(ctx, j, err)
	}
	if q, err = r.look(ctx, j, tip); err != nil {
		return err
	}
	if q.Paused {
		pause(ctx, w.woken, lookAgain)
		return nil
	}
	if q.Train != nil {
		return r.ride(ctx, j, q, line, tip, w)
	}
	if err := r.people.Known(ctx, j.Tenant, j.ApprovedBy); fault.Is(err, fault.Unauthenticated) || fault.Is(err, fault.NotFound) {
		return r.unqueue(ctx, j, j.ApprovedBy+" approved it, and may do nothing here any more; it needs another look")
	} else if err != nil {
		return err
	}
	if tip == "" {
		return r.unqueue(ctx, j, "the branch "+j.Onto+" is not there any more")
	}
	out, err := r.Tools.Out(ctx, j.Repo, j.Onto)
	if err != nil {
		return err
	}
	holds, err := r.Tools.Has(ctx, j.Repo, tip, j.Commit)
	switch {
	case err != nil:
		return r.leftBy(ctx, j, err)
	case out:
		return r.unqueue(ctx, j, "the branch "+j.Onto+" is checked out: it is not moved under somebody's files")
	case holds && !j.mayMerge():
		return r.unqueue(ctx, j, "the branch "+j.Onto+" holds it already, and tandem did not bring it there")
	case holds: // it arrived before the server ended
		return r.arrived(ctx, j, q)
	}
	if t, err := r.couple(ctx, q, line, tip); err != nil {
		return err
	} else if t != nil {
		return r.departs(ctx, j, t)
	}
	switch {
	case tip != j.Base: // what a person was shown, and the check saw, is the difference to the base
		return r.joins(ctx, j, tip)
	case !j.mayMerge() && j.Check == "":
		return r.unqueue(ctx, j, "the branch "+j.Onto+" moved: this is both together, and nothing checks it; it needs another look")
	case !j.mayMerge():
		err := r.checks(ctx, j, w)
		r.others(ctx, j) // it may have left the queue
		return err
	}
	if err := r.Tools.Genuine(ctx, j.Repo, j.Base, j.Commit, false); fault.Is(err, fault.Unavailable) {
		return err
	} else if err != nil {
		return r.failed(ctx, j, err)
	}
	// The branch is moved before the row, and only from where it was checked; the row follows, also after a crash.
	if err := r.Tools.Move(ctx, j.Repo, "refs/heads/"+j.Onto, j.Commit, tip); err != nil {
		return err
	}
	return r.arrived(ctx, j, q)
}

// arrived writes down that the branch holds the job.
func (r *Room) arrived(ctx context.Context, j *Job, q *wire.Queue) error {
	if q.Protected {
		if err := r.DB.Write(ctx, func(tx *db.Tx) error {
			_, err := r.setQueue(tx, j.Tenant, j.Repo, j.Onto, j.ApprovedBy, "merged "+j.ID, func(q *wire.Queue) error {
				q.Tip = j.Commit
				if q.Push != nil && q.Push.Pushed != j.Commit {
					q.Push.Waits, q.Push.Problem = j.Commit, ""
				}
				return nil
			})
			return err
		}); err != nil {
			return err
		}
	}
	err := r.happened(ctx, j, Event{Kind: Merge, Commit: j.Commit, Ref: "refs/heads/" + j.Onto})
	r.others(ctx, j)
	if err == nil && q.Push != nil {
		r.pushOn(ctx, j.Tenant, j.Repo, j.Onto, j.ApprovedBy)
	}
	return err
}

func (r *Room) unqueue(ctx context.Context, j *Job, why string) error {
	err := r.happened(ctx, j, Event{Kind: Unqueued, Text: why})
	r.others(ctx, j)
	return err
}

// joins brings the branch into the job's workspace.
func (r *Room) joins(ctx context.Context, j *Job, tip string) error {
	e, err := r.rejoin(ctx, j, tip)
	if fault.Is(err, fault.Unavailable) {
		return err
	} else if err != nil {
		return r.failed(ctx, j, err)
	}
	if e.Kind == Remade {
		e.Kind = Joined
	}
	err = r.happened(ctx, j, e)
	r.others(ctx, j)
	return err
}

// others wakes who leads the queue now; the rest of it waits for that.
func (r *Room) others(ctx context.Context, j *Job) {
	if id := r.leader(ctx, j.line()); id != "" {
		r.wake(j.Tenant, id)
	}
}

// waiting is who waits in a queue, in order.
func (r *Room) waiting(ctx context.Context, tenant, repo, branch string) ([]*Job, error) {
	var line []*Job
	err := r.view(ctx, func(tx *db.Tx) error {
		all, err := r.queued(tx, tenant, repo, branch)
		if err == nil {
			line, err = r.counting(tx, all)
		}
		return err
	})
	return line, err
}

// first is who leads a queue, for the many who do not: only rows up to it are held against the journal.
func (r *Room) first(ctx context.Context, at line, t *wire.Train) (id string, err error) {
	err = r.view(ctx, func(tx *db.Tx) error {
		id = ""
		all, err := r.queued(tx, at.tenant, at.repo, at.branch)
		if err != nil {
			return err
		}
		if t != nil {
			if car := riding(t.Cars[0], all); car != nil {
				all = append([]*Job{car}, all...)
			}
		}
		for _, one := range all {
			if one.Held && (t == nil || one.ID != t.Cars[0].Job) {
				continue // what it stands on is no more in line than it would be: its row may be one that does not count
			}
			if err := r.counts(tx, one); err == nil {
				id = one.ID
				return nil
			} else if !fault.Is(err, fault.Denied) {
				return err
			}
		}
		return nil
	})
	return id, err
}

// queued are those in a queue, in order, as their rows say.
func (r *Room) queued(tx *db.Tx, tenant, repo, branch string) ([]*Job, error) {
	all, err := collect(tx.Query(columns+"tenant = ? AND state = ?", tenant, string(wire.Queued)))
	all = slices.DeleteFunc(all, func(j *Job) bool {
		return j.State != wire.Queued || repo != "" && (j.Repo != repo || j.Onto != branch || j.Home != r.Owner.Home)
	})
	return lineUp(all), err
}

// EventOutside is the event of a protected branch that somebody moved, and not through its queue.
const EventOutside = "queue.moved"

// look reads a queue, and pauses it when somebody else moved its branch to a commit that no job of the queue is at.
func (r *Room) look(ctx context.Context, j *Job, tip string) (q *wire.Queue, err error) {
	if q, err = r.queue(ctx, j.Tenant, j.Repo, j.Onto); err != nil || q.Paused || tip == j.Commit || q.Train != nil && q.Train.Landing == tip {
		return q, err
	}
	if was := *q; !noticed(&was, tip) {
		return q, nil
	}
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		from := ""
		k, err := r.changeQueue(tx, j.Tenant, j.Repo, j.Onto, func(q *wire.Queue) error {
			from = q.Tip
			noticed(q, tip)
			return nil
		})
		if err != nil {
			return err
		}
		q = k.Queue
		return r.Journal.Tell(tx, journal.Event{Tenant: j.Tenant, Type: EventOutside, Phase: journal.Done, Actor: j.Caller.Name,
			For: j.Caller.For, Resource: at(j.ID).String()},
			map[string]any{"repo": q.Repo, "branch": q.Branch, "from": from, "to": tip, "reason": q.Reason}, k.seal())
	})
	return q, err
}

// mergeable refuses a merge past the queue of a protected branch.
func (r *Room) mergeable(ctx context.Context, j *Job) error {
	q, err := r.queue(ctx, j.Tenant, j.Repo, j.Onto)
	if err == nil && q.Protected {
		return throughQueue(j)
	}
	return err
}

// inBounds refuses a priority that is out of bounds.
func inBounds(n int64) error {
	if n < -100 || n > 100 {
		return fault.New(fault.Invalid, "queue", "a priority lies between -100 and 100")
	}
	return nil
}
