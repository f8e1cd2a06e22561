package job

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "job", FS: schema}

func at(id string) op.Resource { return op.Resource{Kind: "job", Path: "/" + id} }

const columns = "SELECT tenant, home, id, state, body FROM job WHERE "

// scan reads a job. One that somebody wrote past tandem, so that it cannot be read, is there all the same, and does not count.
func scan(row interface{ Scan(...any) error }) (*Job, error) {
	var j Job
	var tenant, home, id, state, body string
	if err := row.Scan(&tenant, &home, &id, &state, &body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(body), &j); err != nil {
		j = Job{Job: wire.Job{State: wire.Stopped, Reason: rewritten(id)}, unread: true}
	}
	j.ID, j.Tenant, j.Home, j.state, j.body = id, tenant, home, state, body
	return &j, nil
}

// peek is a job as its row says, for whoever only looks.
func (r *Room) peek(ctx context.Context, tenant, id string) (*Job, error) {
	j, err := scan(r.DB.QueryRow(ctx, columns+"tenant = ? AND id = ?", tenant, id))
	if db.NoRows(err) {
		return nil, op.NoSuch("job", id)
	}
	return j, err
}

func (r *Room) rows(ctx context.Context, where string, args ...any) ([]*Job, error) {
	return collect(r.DB.Query(ctx, columns+where, args...))
}

func collect(rows *sql.Rows, err error) ([]*Job, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (*Job, error) { return scan(rows) })
}

func (r *Room) insert(tx *db.Tx, j *Job) error {
	body, err := json.Marshal(j)
	if err != nil {
		return err
	}
	j.state, j.body = string(j.State), string(body)
	_, err = tx.Exec("INSERT INTO job (tenant, id, state, body, owner, fence, home, created_at, updated_at) VALUES "+
		"(?, ?, ?, ?, ?, ?, ?, ?, ?)",
		j.Tenant, j.ID, string(j.State), string(body), r.Owner.ID, r.Owner.Fence, r.Owner.Home, tx.Now(), tx.Now())
	return err
}

// change changes a job in a transaction. Only the server on the machine that has its files does, and none that another one followed.
func (r *Room) change(tx *db.Tx, tenant, id string, fn func(*Job) error) (*Job, error) {
	j, err := scan(tx.QueryRow(columns+"tenant = ? AND id = ?"+tx.ForUpdate(), tenant, id))
	if db.NoRows(err) {
		return nil, op.NoSuch("job", id)
	}
	if err == nil && j.Home != r.Owner.Home {
		err = errElsewhere
	}
	if err == nil {
		err = r.counts(tx, j)
	}
	if err != nil {
		return nil, err
	}
	if err := fn(j); err != nil {
		return nil, err
	}
	body, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	n, err := tx.Changed("UPDATE job SET state = ?, body = ?, owner = ?, fence = ?, updated_at = ? WHERE tenant = ? AND id = ? AND fence <= ?",
		string(j.State), string(body), r.Owner.ID, r.Owner.Fence, tx.Now(), tenant, id, r.Owner.Fence)
	if err == nil && n == 0 {
		err = errElsewhere
	}
	j.state, j.body = string(j.State), string(body)
	return j, err
}

// adopt makes this server the owner of the jobs that servers before it on this machine left, also of merged ones, whose workspaces may
// have to go. What another machine has is left to it.
func (r *Room) adopt(ctx context.Context) error {
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE job SET owner = ?, fence = ? WHERE home = ? AND fence <= ?", r.Owner.ID, r.Owner.Fence, r.Owner.Home,
			r.Owner.Fence)
		return err
	})
}

// LivesAt is the home of the server that has a job; found is false where there is no such job.
func (r *Room) LivesAt(ctx context.Context, tenant, id string) (home string, found bool, err error) {
	j, err := r.peek(ctx, tenant, id)
	if fault.Is(err, fault.NotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return j.Home, true, nil
}

// happened moves a job that works by itself: row, evidence and event are one transaction. What somebody else did to the job meanwhile
// makes the event stale, and nothing happens.
func (r *Room) happened(ctx context.Context, j *Job, e Event) error {
	if err := r.settle(ctx, j, e); !errors.Is(err, errStale) {
		return err
	}
	return nil
}

// settle moves a job, or says that it is elsewhere by now.
func (r *Room) settle(ctx context.Context, j *Job, e Event) error {
	return r.DB.Write(ctx, func(tx *db.Tx) error { return r.settleIn(tx, j, e) })
}

func (r *Room) settleIn(tx *db.Tx, j *Job, e Event) error {
	said := map[string]any{"event": e.Kind, "from": j.State, "turn": j.Flight}
	var was Job
	after, err := r.change(tx, j.Tenant, j.ID, func(now *Job) error {
		was = *now
		if now.State != j.State || now.Flight != j.Flight || now.Commit != j.Commit || now.Turns != j.Turns {
			return errStale
		}
		return now.Apply(e, tx.Now())
	})
	if err != nil {
		return err
	}
	for _, ev := range []*wire.Evidence{e.Own, e.ByBase} {
		if ev == nil {
			continue
		}
		if err := r.keep(tx, j, ev); err != nil {
			return err
		}
	}
	said["state"], said["reason"], said["commit"] = after.State, after.Reason, after.Commit
	said["evidence"], said["evidence_by_base"] = unsaid(e.Own), unsaid(e.ByBase)
	if err := r.vouchFor(tx, j.Caller, after, said); err != nil {
		return err
	}
	if err := r.lift(tx, &was, after); err != nil {
		return err
	}
	return r.Told(tx, j.Tenant, after.Job, j.State)
}

// unsaid is evidence for the journal, which more people read than may see the files: without what the check printed.
func unsaid(e *wire.Evidence) *wire.Evidence {
	if e == nil {
		return nil
	}
	out := *e
	out.Output = ""
	return &out
}

// EventMoved is the event of a job that moved by itself.
const EventMoved = "job.moved"

// EventNoted is the event of a job that is where it was, and of which more is known.
const EventNoted = "job.noted"

func (r *Room) keep(tx *db.Tx, j *Job, e *wire.Evidence) error {
	err := tx.QueryRow("SELECT COALESCE(MAX(n), 0) + 1 FROM job_evidence WHERE tenant = ? AND job = ?", j.Tenant, j.ID).Scan(&e.N)
	if err != nil {
		return err
	}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err = tx.Exec("INSERT INTO job_evidence (tenant, job, n, body) VALUES (?, ?, ?, ?)", j.Tenant, j.ID, e.N, string(body)); err != nil {
		return err
	}
	_, err = tx.Exec("DELETE FROM job_evidence WHERE tenant = ? AND job = ? AND n <= ?", j.Tenant, j.ID, e.N-maxEvidence)
	return err
}

func (r *Room) evidence(ctx context.Context, tenant, id string) ([]wire.Evidence, error) {
	rows, err := r.DB.Query(ctx, "SELECT body FROM job_evidence WHERE tenant = ? AND job = ? ORDER BY n", tenant, id)
	return db.Collect(rows, err, func(rows *sql.Rows) (e wire.Evidence, err error) {
		var body string
		if err = rows.Scan(&body); err != nil {
			return e, err
		}
		if err = json.Unmarshal([]byte(body), &e); err != nil {
			err = fmt.Errorf("read evidence of %s: %w", id, err)
		}
		return e, err
	})
}

// Restored stops the jobs that were open when a copy was made: what they did since then is done, and their workspaces may be gone. All
// jobs of the copy are this server's from now on: their owners are counted anew, and the fences of the copy may be higher than any of now.
func (r *Room) Restored(tx *db.Tx) (int, error) {
	if _, err := tx.Exec("UPDATE job SET owner = ?, fence = ?, home = ?", r.Owner.ID, r.Owner.Fence, r.Owner.Home); err != nil {
		return 0, err
	}
	if err := r.takeQueues(tx); err != nil {
		return 0, err
	}
	left, err := collect(tx.Query(columns+"state <> ?", string(wire.Merged)))
	open := 0
	for _, j := range left {
		after, err := r.change(tx, j.Tenant, j.ID, func(j *Job) (err error) {
			if j.State != wire.Stopped {
				open++
				err = j.Apply(Event{Kind: Stop, Text: "the server's data was restored from a copy"}, tx.Now())
			}
			j.Flight, j.Hush = "", false // turns of a copy are ended by their own room
			j.Look, j.Reviewer = nil, ""
			j.Opening = false // what was opened has been worked in since: it is not taken away
			return err
		})
		if fault.Is(err, fault.Denied) { // it never goes on, and keeps nothing from coming back
			continue
		}
		if err == nil {
			err = r.vouchFor(tx, op.Caller{Name: "tandem"}, after, map[string]any{"event": Stop, "from": j.State, "state": after.State})
		}
		if err != nil {
			return 0, err
		}
	}
	return open, err
}

// Whose tells to whom a job belongs: whoever started it, and everybody whom that one acts for.
func (r *Room) Whose(ctx context.Context, tenant, id string) []string {
	j, err := r.get(ctx, tenant, id)
	if err != nil {
		return nil // nobody's
	}
	return j.Caller.Chain()
}
