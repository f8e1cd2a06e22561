package team

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/team/wire"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "team", FS: schema}

// EventMoved is the event of a team that moved by itself.
const EventMoved = "team.moved"

var (
	errStale     = fault.New(fault.Conflict, "team", "the team moved on")
	errElsewhere = fault.New(fault.Conflict, "team", "another server looks after this team").WithNext("ask that one")
)

// at is a team as policy sees it: it is made of jobs, and who may do something to jobs may do it to teams.
func at(id string) op.Resource { return op.Resource{Kind: "job", Path: "/" + id} }

const columns = "SELECT tenant, home, id, state, body FROM team WHERE "

// scan reads a team. One that somebody wrote past tandem, so that it cannot be read, is there all the same, and does not count.
func scan(row interface{ Scan(...any) error }) (*Team, error) {
	var t Team
	var tenant, home, id, state, body string
	if err := row.Scan(&tenant, &home, &id, &state, &body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(body), &t); err != nil {
		t = Team{Team: wire.Team{State: wire.Stopped, Reason: rewritten(id)}, unread: true}
	}
	t.ID, t.Tenant, t.Home, t.state, t.body = id, tenant, home, state, body
	return &t, nil
}

func (r *Room) get(ctx context.Context, tenant, id string) (*Team, error) {
	t, err := scan(r.DB.QueryRow(ctx, columns+"tenant = ? AND id = ?", tenant, id))
	if db.NoRows(err) {
		return nil, op.NoSuch("team", id)
	}
	return t, err
}

func (r *Room) rows(ctx context.Context, where string, args ...any) ([]*Team, error) {
	rows, err := r.DB.Query(ctx, columns+where, args...)
	return db.Collect(rows, err, func(rows *sql.Rows) (*Team, error) { return scan(rows) })
}

func (r *Room) insert(tx *db.Tx, t *Team) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	t.state, t.body = string(t.State), string(body)
	_, err = tx.Exec("INSERT INTO team (tenant, id, state, body, home, fence, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		t.Tenant, t.ID, string(t.State), string(body), r.Owner.Home, r.Owner.Fence, tx.Now(), tx.Now())
	return err
}

// change changes a team in a transaction. Only the server on the machine where it was started does, and none that another one followed.
func (r *Room) change(tx *db.Tx, tenant, id string, fn func(*Team) error) (*Team, error) {
	t, err := scan(tx.QueryRow(columns+"tenant = ? AND id = ?"+tx.ForUpdate(), tenant, id))
	if db.NoRows(err) {
		return nil, op.NoSuch("team", id)
	}
	if err == nil && t.Home != r.Owner.Home {
		err = errElsewhere
	}
	if err == nil {
		err = r.counts(tx, t)
	}
	if err == nil {
		err = fn(t)
	}
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	n, err := tx.Changed("UPDATE team SET state = ?, body = ?, fence = ?, updated_at = ? WHERE tenant = ? AND id = ? AND fence <= ?",
		string(t.State), string(body), r.Owner.Fence, tx.Now(), tenant, id, r.Owner.Fence)
	if err == nil && n == 0 {
		err = errElsewhere
	}
	t.state, t.body = string(t.State), string(body)
	return t, err
}

// facts are events of something that is there now, whatever somebody did to the team meanwhile: a team at rest has to know of it.
var facts = map[Kind]bool{Opened: true, Prompted: true, Began: true, Held: true}

// happened moves a team that works by itself, with its event. What somebody else did to it meanwhile makes the event stale: errStale is
// said then, and nothing happens.
func (r *Room) happened(ctx context.Context, t *Team, e Event) error {
	r.moved = true
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		after, err := r.change(tx, t.Tenant, t.ID, func(now *Team) error {
			if !facts[e.Kind] && (now.State != t.State || now.Version != t.Version || now.Flight != t.Flight) {
				return errStale
			}
			return now.Apply(e, tx.Now())
		})
		if err != nil {
			return err
		}
		err = r.vouchFor(tx, after, map[string]any{"event": e.Kind, "from": t.State, "state": after.State, "reason": after.Reason,
			"task": e.Task})
		if err == nil {
			err = r.Told(tx, t.Tenant, after.Team, t.State)
		}
		if err == nil {
			*t = *after
		}
		return err
	})
}

// Restored pauses the teams that were at work when a copy was made. All teams of the copy are this server's from now on.
func (r *Room) Restored(tx *db.Tx) (int, error) {
	if _, err := tx.Exec("UPDATE team SET fence = ?, home = ?", r.Owner.Fence, r.Owner.Home); err != nil {
		return 0, err
	}
	rows, err := tx.Query(columns+"state IN (?, ?)", string(wire.Planning), string(wire.Working))
	open, err := db.Collect(rows, err, func(rows *sql.Rows) (*Team, error) { return scan(rows) })
	for _, t := range open {
		after, err := r.change(tx, t.Tenant, t.ID, func(t *Team) error {
			t.Flight, t.Hush, t.Begins = "", false, "" // turns of a copy are ended by their own room, and jobs are stopped
			for _, k := range t.Tasks {
				k.Held = k.Held || k.Stage == wire.AtWork
			}
			return t.Apply(Event{Kind: Paused, Text: "the server's data was restored from a copy"}, tx.Now())
		})
		if fault.Is(err, fault.Denied) { // it never goes on, and keeps nothing from coming back
			continue
		}
		if err == nil {
			err = r.vouchFor(tx, after, map[string]any{"event": Paused, "from": t.State, "state": after.State})
		}
		if err != nil {
			return 0, err
		}
	}
	return len(open), err
}

// Whose tells to whom a team belongs: whoever started it, and everybody whom that one acts for.
func (r *Room) Whose(ctx context.Context, tenant, id string) []string {
	t, err := r.get(ctx, tenant, id)
	if err != nil {
		return nil // nobody's
	}
	return t.Caller.Chain()
}

// LivesAt is the home of the server that has a team; found is false where there is no such team.
func (r *Room) LivesAt(ctx context.Context, tenant, id string) (home string, found bool, err error) {
	t, err := r.get(ctx, tenant, id)
	if fault.Is(err, fault.NotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return t.Home, true, nil
}
