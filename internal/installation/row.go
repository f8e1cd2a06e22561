package installation

import (
	"context"
	"embed"

	"tandem/internal/db"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of the identity.
var Migrations = db.Migrations{Room: "installation", FS: schema}

// In is the identity that a database has, "" for none. empty says whether the
// database holds nothing of tandem's at all. Nothing is changed: it may be
// somebody else's.
func In(ctx context.Context, d *db.DB) (id string, empty bool, err error) {
	some, err := d.Has(ctx, "schema_version")
	if err != nil || !some {
		return "", !some, err
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
