package terminal

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
)

// Where sessions may skip their permissions counts while the journal vouches for it, as every grant does.

const (
	skipKind    = "skip"
	skipColumns = "id, folder, owner, asker, created_at, expires_at"
)

// Lives are the rows of this room that end by themselves, with how long one of them lasts at most.
var Lives = map[string]time.Duration{skipKind: maxSkip}

func scanSkip(rows *sql.Rows, more ...any) (s Skip, err error) {
	var made, ends int64
	err = rows.Scan(append([]any{&s.ID, &s.Folder, &s.Owner, &s.Asker, &made, &ends}, more...)...)
	s.CreatedAt, s.ExpiresAt = db.Time(made), db.Time(ends)
	return s, err
}

func skipSubject(id string) string { return skipKind + ":" + id }

func (s Skip) seal(tenant string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: skipSubject(s.ID), What: "that sessions in " + s.Folder + " skip their permissions",
		Says: []string{s.ID, s.Folder, s.Owner, s.Asker, strconv.FormatInt(s.CreatedAt.UnixMicro(), 10),
			strconv.FormatInt(s.ExpiresAt.UnixMicro(), 10)}}
}

// Rows lists where sessions may skip their permissions, and the terminals of sessions.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT "+skipColumns+", tenant FROM terminal_skip WHERE revoked_at = 0")
	skips, err := db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant string
		s, err := scanSkip(rows, &tenant)
		return s.seal(tenant), err
	})
	if err != nil {
		return nil, err
	}
	open, err := seats(ctx, d)
	return append(skips, open...), err
}
