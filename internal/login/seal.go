package login

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/login/wire"
	"tandem/internal/op"
)

// A login's token goes where its row says, to the key that the row names, and its device's key answers to whom the row names. So a row
// counts only while the journal vouches for it. Which login commands take is not sealed: all of them are the person's.

// row is a login with what is kept of its machine's key.
type row struct {
	wire.Login
	serverID string
	sealed   string // the key, under the person's PIN there; "" where there is none
}

const rowColumns = columns + ", server_id, sealed_key"

const selectRow = "SELECT " + rowColumns + " FROM login WHERE tenant = ? AND name = ?"

func scanRow(from interface{ Scan(...any) error }, before ...any) (l row, err error) {
	var taken int
	var made int64
	err = from.Scan(append(before, &l.Name, &l.Server, &l.Key, &l.Person, &l.Terminal, &taken, &made, &l.Device, &l.serverID, &l.sealed)...)
	l.Taken, l.MadeAt = taken == 1, db.Time(made)
	return l, err
}

func subject(name string) string { return "login:" + name }

func (l *row) seal(tenant string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: subject(l.Name), What: "the login " + l.Name + " at " + l.Server,
		Says: []string{l.Name, l.Server, l.Key, l.Person, l.Terminal, l.Device, l.serverID, l.sealed}}
}

// load is a login as far as the journal vouches for it.
func (r *Room) load(ctx context.Context, from *sql.Row, tenant, name string) (row, error) {
	l, err := scanRow(from)
	switch {
	case db.NoRows(err):
		err = missing(name)
	case err == nil && !r.Vouch.Holds(ctx, l.seal(tenant)):
		err = fault.New(fault.Denied, "login", "the login %s was changed in the database, and not by you: nothing is sent to %s", name, l.Server).
			WithNext("see what was changed: tandem audit verify; forget it, and log in anew with another invitation: tandem login forget %s", name)
	}
	return l, err
}

// Rows lists where logins are, for the journal to vouch for.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT tenant, "+rowColumns+" FROM login ORDER BY tenant, name")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant string
		l, err := scanRow(rows, &tenant)
		return l.seal(tenant), err
	})
}
