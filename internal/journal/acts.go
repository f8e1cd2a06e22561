package journal

import (
	"context"
	"database/sql"
	"time"

	"tandem/internal/db"
)

// Act is what somebody did to a resource, and when.
type Act struct {
	Op       string
	Resource string
	At       time.Time
}

// Acts are the newest things that an actor did, the newest first. What was refused or only asked for is none.
func (j *Journal) Acts(ctx context.Context, tenant, actor string, most int) ([]Act, error) {
	rows, err := j.db.Query(ctx, "SELECT type, resource, at FROM journal_event WHERE actor = ? AND tenant = ? AND phase IN (?, ?) "+
		"ORDER BY seq DESC LIMIT ?", actor, tenant, Done, Intent, most)
	return db.Collect(rows, err, func(rows *sql.Rows) (a Act, err error) {
		var at int64
		err = rows.Scan(&a.Op, &a.Resource, &at)
		a.At = db.Time(at)
		return a, err
	})
}

// Settled reports whether an entry tells what became of an intent.
func (j *Journal) Settled(ctx context.Context, intent int64) (settled bool, err error) {
	err = j.db.QueryRow(ctx, "SELECT count(*) > 0 FROM journal_event WHERE seq > ? AND cause = ? AND phase IN (?, ?)", intent, intent,
		Outcome, Unknown).Scan(&settled)
	return settled, err
}
