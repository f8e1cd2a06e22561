package secret

import (
	"context"
	"database/sql"
	"errors"

	"tandem/internal/db"
)

// Gone is a master key that the key file had and has no more.
type Gone struct {
	ID    string
	Names []string // of the secrets that are sealed under it
}

// Missing looks for master keys that the key file should have. A keyring that
// does not give its key may only be locked, so that is not looked at here.
func Missing(ctx context.Context, d *db.DB, keepers []Keeper) (gone []Gone, err error) {
	for _, k := range keepers {
		if k.Name() != "file" {
			continue
		}
		rows, err := d.Query(ctx, `SELECT id FROM secret_key WHERE keeper = 'file' AND (state = 'current' OR EXISTS (SELECT 1 FROM secret
			WHERE key_id = secret_key.id)) ORDER BY id`)
		ids, err := db.Collect(rows, err, func(r *sql.Rows) (id string, err error) { return id, r.Scan(&id) })
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if _, err := k.Load(id); !errors.Is(err, errNoKey) {
				continue
			}
			rows, err := d.Query(ctx, "SELECT name FROM secret WHERE key_id = ? ORDER BY tenant, name", id)
			names, err := db.Collect(rows, err, func(r *sql.Rows) (name string, err error) { return name, r.Scan(&name) })
			if err != nil {
				return nil, err
			}
			gone = append(gone, Gone{id, names})
		}
	}
	return gone, nil
}

// GiveUp removes what is sealed under a key that is gone: nothing opens it, and
// what can be made anew is made only where nothing stands.
func GiveUp(tx *db.Tx, gone []Gone) error {
	for _, g := range gone {
		if _, err := tx.Exec("DELETE FROM secret WHERE key_id = ?", g.ID); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM secret_key WHERE id = ?", g.ID); err != nil {
			return err
		}
	}
	return nil
}
