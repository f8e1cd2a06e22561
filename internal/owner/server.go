package owner

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"time"

	"tandem/internal/db"
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
	Cluster      string // servers of one cluster work with one database together; "" for one that works alone
	Home         string // which of the cluster's data folders it has; "" for the first one
}

func (s Server) String() string {
	return fmt.Sprintf("%s (PID %d, data in %s, since %s)", s.Host, s.PID, s.Folder, s.Started.UTC().Format(time.RFC3339))
}

const own = "SELECT s.id, s.fence, s.installation, s.host, s.place, s.folder, s.pid, s.link, s.started_at, s.lease_until, s.renewed, " +
	"s.ended_at, s.ended_by, "

const columns = own + "COALESCE(c.cluster, ''), COALESCE(c.home, '') FROM server s LEFT JOIN server_cluster c ON c.server = s.id "

// before is columns where an older program made the table.
const before = own + "'', '' FROM server s "

func scan(rows *sql.Rows) (s Server, err error) {
	var started, until, ended int64
	err = rows.Scan(&s.ID, &s.Fence, &s.Installation, &s.Host, &s.Place, &s.Folder, &s.PID, &s.Link,
		&started, &until, &s.Renewed, &ended, &s.By, &s.Cluster, &s.Home)
	s.Started, s.Until, s.Ended = db.Time(started), db.Time(until), db.Time(ended)
	return s, err
}

// Living are the servers that have not ended, as far as the database knows. One that an older program made has no such table, and
// is not changed.
func Living(ctx context.Context, d *db.DB) ([]Server, error) {
	if there, err := d.Has(ctx, "server"); err != nil || !there {
		return nil, err
	}
	query := columns
	if there, err := d.Has(ctx, "server_cluster"); err != nil {
		return nil, err
	} else if !there {
		query = before
	}
	rows, err := d.Query(ctx, query+"WHERE s.ended_at = 0 ORDER BY s.fence")
	return db.Collect(rows, err, scan)
}

// Forget drops every row: the content of the database came from somewhere else, and so did they.
func Forget(tx *db.Tx) error {
	if _, err := tx.Exec("DELETE FROM server_cluster"); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM server")
	return err
}
