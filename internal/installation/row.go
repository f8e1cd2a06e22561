package installation

import (
	"context"
	"embed"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of the identity.
var Migrations = db.Migrations{Room: "installation", FS: schema}

// In is the identity that a database has, "" for none. empty says whether the
// database holds nothing at all. One that holds other programs' tables and none of
// tandem's is refused, for theirs may have the names of ours. Nothing is changed.
func In(ctx context.Context, d *db.DB) (id string, empty bool, err error) {
	some, err := d.Has(ctx, "schema_version")
	if err != nil {
		return "", false, err
	}
	if !some {
		return "", true, othersIn(ctx, d)
	}
	there, err := d.Has(ctx, "installation")
	if err != nil || !there {
		return "", false, err
	}
	err = d.QueryRow(ctx, "SELECT id FROM installation WHERE one = 1").Scan(&id)
	if db.NoRows(err) {
		err = nil
	}
	return id, false, err
}

// Bind gives the database the identity when it has none.
func (k *Kept) Bind(tx *db.Tx) error {
	_, err := tx.Exec("INSERT INTO installation (one, id, made_at) VALUES (1, ?, ?) ON CONFLICT (one) DO NOTHING", k.ID, k.Made)
	return err
}

// othersIn refuses a database in which another program keeps its tables.
func othersIn(ctx context.Context, d *db.DB) error {
	const shown = 3
	names, err := d.Tables(ctx, shown+1)
	if err != nil || len(names) == 0 {
		return err
	}
	more := ""
	if len(names) > shown {
		names, more = names[:shown], " and more"
	}
	return fault.New(fault.Conflict, "installation", "another program keeps its tables in this database (%s%s); nothing was changed",
		strings.Join(names, ", "), more).WithNext("make a database for tandem alone, and name that one")
}
