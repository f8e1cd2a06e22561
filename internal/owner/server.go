package owner

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the table of servers.
var Migrations = db.Migrations{Room: "owner", FS: schema}

// Lease is how long a server counts as living after it last said so.
const Lease = 15 * time.Second

// Server is a daemon that works, or worked, with the database.
type Server struct {
	ID           string
	Fence        int64 // higher for every later start
	Installation string
	Host         string
	Place        string // the machine since it was booted, and whose processes are seen there; "" where nothing tells
	Folder       string // its data folder
	PID          int
	Link         string // the name of its connections in PostgreSQL
	Started      time.Time
	Until        time.Time // the end of its lease; zero when it needs none
	Renewed      int64     // how often it renewed that
	Ended        time.Time
	By           string // the server that ended it; "" when it ended by itself
}

func (s Server) String() string {
	return fmt.Sprintf("%s (PID %d, data in %s, since %s)", s.Host, s.PID, s.Folder, s.Started.UTC().Format(time.RFC3339))
}

const columns = "SELECT id, fence, installation, host, place, folder, pid, link, started_at, lease_until, renewed, ended_at, ended_by " +
	"FROM server "

func scan(rows *sql.Rows) (s Server, err error) {
	var started, until, ended int64
	err = rows.Scan(&s.ID, &s.Fence, &s.Installation, &s.Host, &s.Place, &s.Folder, &s.PID, &s.Link,
		&started, &until, &s.Renewed, &ended, &s.By)
	s.Started, s.Until, s.Ended = db.Time(started), db.Time(until), db.Time(ended)
	return s, err
}

// Living are the servers that have not ended, as far as the database knows. One that an older program made has no such table, and
// is not changed.
func Living(ctx context.Context, d *db.DB) ([]Server, error) {
	if there, err := d.Has(ctx, "server"); err != nil || !there {
		return nil, err
	}
	rows, err := d.Query(ctx, columns+"WHERE ended_at = 0 ORDER BY fence")
	return db.Collect(rows, err, scan)
}

// Forget drops every row: the content of the database came from somewhere else, and so did they.
func Forget(tx *db.Tx) error {
	_, err := tx.Exec("DELETE FROM server")
	return err
}

// refuse is said to a server that finds another one living.
func refuse(s Server) error {
	next := "stop it there (tandem down), then start here; if its machine is gone, start again"
	if !s.Until.IsZero() {
		next += fmt.Sprintf(" after its lease, %s from its last word", Lease)
	}
	return fault.New(fault.Conflict, "server", "another server works with this database: %s; two would undo each other's work", s).
		WithNext("%s", next)
}
