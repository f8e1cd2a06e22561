package login

import (
	"database/sql"
	"embed"

	"tandem/internal/db"
	"tandem/internal/login/wire"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "login", FS: schema}

const columns = "name, server, server_key, person, terminal, taken, made_at, device"

func scan(row interface{ Scan(...any) error }) (wire.Login, error) {
	var l wire.Login
	var taken int
	var made int64
	err := row.Scan(&l.Name, &l.Server, &l.Key, &l.Person, &l.Terminal, &taken, &made, &l.Device)
	l.Taken, l.MadeAt = taken == 1, db.Time(made)
	return l, err
}

func collect(rows *sql.Rows, err error) ([]wire.Login, error) {
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (wire.Login, error) { return scan(rows) })
	if all == nil {
		all = []wire.Login{}
	}
	return all, err
}
