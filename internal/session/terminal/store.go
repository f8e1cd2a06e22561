package terminal

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the driver's own tables.
var Migrations = db.Migrations{Room: "terminal", FS: schema}

const rowColumns = "tenant, session, name, body"

type scanner interface{ Scan(...any) error }

func scan(from scanner) (*row, error) {
	var r row
	var session, name, body string
	if err := from.Scan(&r.Tenant, &session, &name, &body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return nil, fmt.Errorf("read a stored seat: %w", err)
	}
	if !r.stands(session, name) { // it answers for the place that it stands in, and for no other
		r.Session, r.Name, r.displaced = session, name, true
	}
	r.Skips = r.Skips || r.Skip // one from before says the second alone
	return &r, nil
}

func save(tx *db.Tx, r *row) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	closed := int64(0)
	if !r.ClosedAt.IsZero() {
		closed = db.Micros(r.ClosedAt)
	}
	_, err = tx.Exec(`INSERT INTO terminal (tenant, session, name, relay, body, created_at, closed_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, session) DO UPDATE SET relay = excluded.relay, body = excluded.body, closed_at = excluded.closed_at`,
		r.Tenant, r.Session, r.Name, r.Relay, string(body), r.CreatedAt, closed)
	return err
}

func (d *Driver) rows(ctx context.Context, where string, args ...any) ([]*row, error) {
	rows, err := d.db.Query(ctx, "SELECT "+rowColumns+" FROM terminal WHERE "+where, args...)
	return db.Collect(rows, err, func(rows *sql.Rows) (*row, error) { return scan(rows) })
}

// named finds a session by its id, or by its name: the one that is open, else the one that was closed last.
func (d *Driver) named(ctx context.Context, tenant, name string) (*row, error) {
	all, err := d.rows(ctx, "tenant = ? AND "+calledSo(name)+" ORDER BY CASE WHEN closed_at = 0 THEN 0 ELSE 1 END, created_at DESC LIMIT 1",
		tenant, name)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, op.NoSuch("session", name)
	}
	return all[0], nil
}

// LivesAt is the home of the server that has a session's terminal; found is false where no such session has one.
func (d *Driver) LivesAt(ctx context.Context, tenant, name string) (home string, found bool, err error) {
	r, err := d.named(ctx, tenant, name)
	if fault.Is(err, fault.NotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return r.Lives, true, nil
}

// calledSo is the column that holds what a caller names a session by.
func calledSo(name string) string {
	if strings.HasPrefix(name, "ses_") {
		return "session = ?"
	}
	return "name = ?"
}
