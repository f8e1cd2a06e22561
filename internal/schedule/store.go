package schedule

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/schedule/wire"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "schedule", FS: schema}

const columns = "tenant, kind, body, grant_id, made_by, made_at, since_at, done_at, failed_at, failure, asked_at"

// row is a schedule as it is stored.
type row struct {
	wire.Schedule
	tenant, body string
	since        time.Time // everything up to then was dealt with
	unstored     bool      // what became of it last is known here alone
}

func scan(rows interface{ Scan(...any) error }) (*row, error) {
	var r row
	var made, since, done, failed, asked int64
	if err := rows.Scan(&r.tenant, &r.Kind, &r.body, &r.Grant, &r.By, &made, &since, &done, &failed, &r.Failure, &asked); err != nil {
		return nil, err
	}
	r.MadeAt, r.since, r.DoneAt, r.FailedAt, r.AskedAt = db.Time(made), db.Time(since), db.Time(done), db.Time(failed), db.Time(asked)
	_ = json.Unmarshal([]byte(r.body), &r.What) // nobody vouches for one that cannot be read
	return &r, nil
}

// Seal is a schedule: what is done, when and how, and under which grant.
func (r *row) Seal() op.Sealed {
	return op.Sealed{Tenant: r.tenant, Subject: "schedule:" + string(r.Kind), Says: []string{string(r.Kind), r.body, r.Grant},
		What: "the schedule of " + string(r.Kind) + ", " + r.What.When}
}

func load(ctx context.Context, d *db.DB) ([]*row, error) {
	rows, err := d.Query(ctx, "SELECT "+columns+" FROM schedule ORDER BY kind")
	return db.Collect(rows, err, func(rows *sql.Rows) (*row, error) { return scan(rows) })
}

// Rows are what the journal vouches for.
func Rows(ctx context.Context, d *db.DB) (out []op.Sealed, err error) {
	all, err := load(ctx, d)
	for _, r := range all {
		out = append(out, r.Seal())
	}
	return out, err
}
