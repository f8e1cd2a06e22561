package relay

import (
	"context"
	"database/sql"
	"encoding/json"

	"tandem/internal/db"
	"tandem/internal/fault"
)

func save(tx *db.Tx, x *Relay) error {
	body, err := json.Marshal(x)
	if err != nil {
		return err
	}
	x.stored.status, x.stored.body = string(x.Status), string(body)
	_, err = tx.Exec(`INSERT INTO relay (tenant, id, status, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, id) DO UPDATE SET status = excluded.status, body = excluded.body, updated_at = excluded.updated_at`,
		x.Tenant, x.ID, x.stored.status, x.stored.body, x.CreatedAt, x.UpdatedAt)
	return err
}

const columns = "SELECT tenant, id, status, body FROM relay WHERE "

// scan reads a relay. One that somebody wrote past tandem, so that it cannot be read, is there all the same, and does not count.
func scan(row interface{ Scan(...any) error }) (*Relay, error) {
	var x Relay
	var tenant, id, status, body string
	if err := row.Scan(&tenant, &id, &status, &body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(body), &x); err != nil {
		x = Relay{Status: Blocked, Queue: []string{}, unread: true}
	}
	x.ID, x.Tenant, x.stored.status, x.stored.body = id, tenant, status, body
	return &x, nil
}

func missing(id string) error {
	return fault.New(fault.NotFound, "relay", "there is no relay %.60s", id)
}

func load(tx *db.Tx, tenant, id string) (*Relay, error) {
	x, err := scan(tx.QueryRow(columns+"tenant = ? AND id = ?"+tx.ForUpdate(), tenant, id))
	if db.NoRows(err) {
		return nil, missing(id)
	}
	return x, err
}

func (r *Runner) get(ctx context.Context, tenant, id string) (*Relay, error) {
	x, err := scan(r.db.QueryRow(ctx, columns+"tenant = ? AND id = ?", tenant, id))
	if db.NoRows(err) {
		return nil, missing(id)
	}
	return x, err
}

// LivesAt is the home of the server that runs a relay; found is false where there is no such relay.
func (r *Runner) LivesAt(ctx context.Context, tenant, id string) (home string, found bool, err error) {
	x, err := r.get(ctx, tenant, id)
	if fault.Is(err, fault.NotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return x.Lives, true, nil
}

func (r *Runner) rows(ctx context.Context, where string, args ...any) ([]*Relay, error) {
	rows, err := r.db.Query(ctx, columns+where+" ORDER BY created_at", args...)
	return db.Collect(rows, err, func(rows *sql.Rows) (*Relay, error) { return scan(rows) })
}

func (r *Runner) entries(ctx context.Context, tenant, id string, after int64, limit int) ([]Entry, error) {
	rows, err := r.db.Query(ctx, "SELECT step, task, role, turn, text, at FROM relay_log WHERE tenant = ? AND relay = ? AND step "+
		"> ? ORDER BY step LIMIT ?", tenant, id, after, limit)
	return db.Collect(rows, err, func(rows *sql.Rows) (e Entry, err error) {
		var at int64
		err = rows.Scan(&e.Step, &e.Task, &e.Role, &e.Turn, &e.Text, &at)
		e.At = db.Time(at)
		return e, err
	})
}
