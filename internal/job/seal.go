package job

import (
	"context"
	"database/sql"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// A job acts as whoever started it, and is merged by what its row says: who approved which commit, and what its check said of it. So it
// goes on only while the newest entry of the journal about it vouches for all of that.

func subject(id string) string { return "job:" + id }

func (j *Job) seal() op.Sealed {
	return sealed(j.Tenant, j.ID, j.state, j.body)
}

// sealed is a row whose words nobody has read: which job it is, how it is found by its state, and all that it says.
func sealed(tenant, id, state, body string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: subject(id), Says: []string{state, body}, What: "the job " + id + ", " + state,
		Over: state == string(wire.Merged)}
}

// vouchFor tells what became of a job, and by whom, and vouches for its row as it is from now on.
func (r *Room) vouchFor(tx *db.Tx, by op.Caller, j *Job, said map[string]any) error {
	kind := EventMoved
	if said["state"] == nil {
		kind = EventNoted
	}
	return r.Journal.Tell(tx, journal.Event{Tenant: j.Tenant, Type: kind, Phase: journal.Done, Actor: by.Name, For: by.For,
		Resource: at(j.ID).String()}, said, j.seal())
}

// counts refuses a row that somebody wrote past tandem.
func (r *Room) counts(tx *db.Tx, j *Job) error {
	held, err := !j.unread, error(nil)
	if r.Sealed && held {
		held, err = r.Journal.Kept(tx, j.seal())
	}
	if err == nil && !held {
		err = fault.New(fault.Denied, "job", "%s", rewritten(j.ID)).
			WithNext("look, and take it away: tandem audit verify; tandem job stop %s --discard", j.ID)
	}
	return err
}

func rewritten(id string) string {
	return "the job " + id + " was changed in the database, and not by tandem: it does not go on"
}

// view is one look at rows and at what the journal says of them.
func (r *Room) view(ctx context.Context, fn func(tx *db.Tx) error) error {
	if !r.Sealed {
		return r.DB.Read(ctx, fn)
	}
	return r.Journal.View(ctx, fn)
}

// weigh reads a job, and says why it does not count, where it does not.
func (r *Room) weigh(ctx context.Context, tenant, id string) (j *Job, denied, err error) {
	err = r.view(ctx, func(tx *db.Tx) (err error) {
		if j, err = scan(tx.QueryRow(columns+"tenant = ? AND id = ?", tenant, id)); db.NoRows(err) {
			return op.NoSuch("job", id)
		}
		if err != nil {
			return err
		}
		if denied = r.counts(tx, j); !fault.Is(denied, fault.Denied) {
			err, denied = denied, nil
		}
		return err
	})
	return j, denied, err
}

// get is a job whose row counts.
func (r *Room) get(ctx context.Context, tenant, id string) (*Job, error) {
	j, denied, err := r.weigh(ctx, tenant, id)
	if err == nil {
		err = denied
	}
	if err != nil {
		return nil, err
	}
	return j, nil
}

// shown is a job for somebody who looks: one that does not count says so.
func (r *Room) shown(ctx context.Context, tenant, id string) (*Job, error) {
	j, denied, err := r.weigh(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	if denied != nil {
		j.State, j.Reason = wire.Stopped, rewritten(id)+"; take it away: tandem job stop "+id+" --discard"
	}
	return j, nil
}

// counting leaves out those whose rows do not count, in the view in which they were read.
func (r *Room) counting(tx *db.Tx, all []*Job) (out []*Job, err error) {
	for _, j := range all {
		switch err := r.counts(tx, j); {
		case err == nil:
			out = append(out, j)
		case !fault.Is(err, fault.Denied):
			return nil, err
		}
	}
	return out, nil
}

// giveUp takes the row of a job away that does not count. Nobody knows what it says that is true: its workspace stays where it is.
func (r *Room) giveUp(ctx context.Context, tx *db.Tx, id string) (*wire.Job, error) {
	tenant := op.CallerFrom(ctx).Tenant
	for _, q := range []string{"DELETE FROM job_evidence WHERE tenant = ? AND job = ?", "DELETE FROM job WHERE tenant = ? AND id = ?"} {
		if _, err := tx.Exec(q, tenant, id); err != nil {
			return nil, err
		}
	}
	if err := r.Unpost(ctx, tx, tenant, id); err != nil {
		return nil, err
	}
	op.Seal(ctx, subject(id))
	return &wire.Job{ID: id, State: wire.Stopped, Reason: "its row is gone; a workspace that it had stays where it is"}, nil
}

// lockSeal is a person's word that what a lock file names is fetched.
func lockSeal(tenant, repo, digest, by string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: "lock:" + digest + "@" + repo, Says: []string{repo, digest, by},
		What: "that what a lock file of " + repo + " names is fetched, by the word of " + by}
}

// Rows are what the journal vouches for: jobs, queues, and which lock files people said yes to.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT tenant, id, state, body FROM job ORDER BY id")
	jobs, err := db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, id, state, body string
		err := rows.Scan(&tenant, &id, &state, &body)
		return sealed(tenant, id, state, body), err
	})
	if err != nil {
		return nil, err
	}
	rows, err = d.Query(ctx, "SELECT tenant, repo, digest, by_name FROM job_lock ORDER BY repo, digest")
	locks, err := db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, repo, digest, by string
		err := rows.Scan(&tenant, &repo, &digest, &by)
		return lockSeal(tenant, repo, digest, by), err
	})
	if err != nil {
		return nil, err
	}
	queues, err := collectQueues(d.Query(ctx, selectQueue+"1 = 1 ORDER BY repo, branch, home"))
	for _, q := range queues {
		locks = append(locks, q.seal())
	}
	return slices.Concat(jobs, locks), err
}
