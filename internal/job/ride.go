package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
)

// EventTrain is the event of a train: it departs, was checked, lands, or came to nothing.
const EventTrain = "queue.train"

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
	if r.people.Known(ctx, j.Tenant, j.ApprovedBy) != nil || !r.Tools.Holds(ctx, j.Repo, tip, j.Base) ||
		r.Tools.Holds(ctx, j.Repo, prev, j.Commit) {
		return c, nil
	}
	commit := j.Commit
	if prev != j.Base {
		if commit, err = r.Tools.Together(ctx, j.Repo, prev, j.Commit, fmt.Sprintf("Merge a job into %s\n\nJob: %s\n", j.Onto, j.ID),
			j.author()); err != nil || commit == "" {
			return c, err
		}
	}
	alters, err := r.alters(ctx, j, prev, commit)
	if err != nil || alters || !r.mayRide(ctx, together, commit) {
		return c, err
	}
	return wire.Car{Job: j.ID, From: j.Commit, Commit: commit}, nil
}

// alters says that what a job adds changes what its check consists of.
func (r *Room) alters(ctx context.Context, j *Job, prev, commit string) (bool, error) {
	changes, err := r.Tools.Changed(ctx, j.Repo, prev, commit)
	if err != nil {
		return false, err
	}
	on := *j
	on.Base = prev
	p, err := r.parts(ctx, &on)
	return len(altered(p, changes)) > 0, err
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

// ride takes a train one step further.
func (r *Room) ride(ctx context.Context, j *Job, q *wire.Queue, line []*Job, tip string, w *worker) error {
	t := q.Train
	if t.Landing != "" && (tip == t.Landing || r.Tools.Holds(ctx, j.Repo, tip, t.Landing)) {
		return r.landed(ctx, j, t, line, tip)
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
	if err := r.Tools.Genuine(ctx, j.Repo, t.Base, t.Landing, false); err != nil {
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

// departs writes a train down, before anything is checked.
func (r *Room) departs(ctx context.Context, j *Job, t *wire.Train) error {
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		if _, err := r.changeQueue(tx, j.Tenant, j.Repo, j.Onto, func(q *wire.Queue) error {
			q.Train = t
			return nil
		}); err != nil {
			return err
		}
		return r.tellTrain(tx, j, t, "departs", "", nil)
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
		return r.tellTrain(tx, j, q.Train, did, "", ran)
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
		if err := r.uncouple(tx, j, suspect, func(*wire.Queue) {}); err != nil {
			return err
		}
		return r.tellTrain(tx, j, t, "ends", why, nil)
	})
	r.others(ctx, j)
	return err
}

// uncouple forgets the train of a queue.
func (r *Room) uncouple(tx *db.Tx, j *Job, suspect string, fn func(*wire.Queue)) error {
	var since *wire.Suspect
	if suspect != "" {
		s, err := scan(tx.QueryRow(columns+"tenant = ? AND id = ?", j.Tenant, suspect))
		if err != nil && !db.NoRows(err) {
			return err
		}
		if err == nil {
			since = &wire.Suspect{Job: s.ID, QueuedAt: s.QueuedAt}
		}
	}
	_, err := r.changeQueue(tx, j.Tenant, j.Repo, j.Onto, func(q *wire.Queue) error {
		if q.Train = nil; since != nil {
			q.Suspect = since
		}
		fn(q)
		return nil
	})
	return err
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
		if err := r.tellTrain(tx, j, t, "landed", "", nil); err != nil {
			return err
		}
		return r.uncouple(tx, j, suspect(t), func(q *wire.Queue) {
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
	})
	r.others(ctx, j)
	if err == nil && last != nil {
		r.pushOn(ctx, j.Tenant, j.Repo, j.Onto, last.ApprovedBy)
	}
	return err
}

// tellTrain writes into the journal what became of a train.
func (r *Room) tellTrain(tx *db.Tx, j *Job, t *wire.Train, did, why string, ran map[string]*wire.Evidence) error {
	said := map[string]any{"repo": j.Repo, "branch": j.Onto, "train": t, "did": did, "reason": why}
	var evidence []*wire.Evidence
	for _, e := range ran {
		evidence = append(evidence, unsaid(e))
	}
	said["evidence"] = evidence
	payload, err := json.Marshal(said)
	if err != nil {
		return err
	}
	_, err = r.Journal.Append(tx, journal.Event{Tenant: j.Tenant, Type: EventTrain, Phase: journal.Done, Actor: j.Caller.Name,
		For: j.Caller.For, Resource: at(j.ID).String(), Payload: payload})
	return err
}
