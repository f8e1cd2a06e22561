package knowledge

import (
	"database/sql"
	"fmt"

	"tandem/internal/db"
)

// Legible reads every knowledge space and entry once, as those who need one do, and says which nobody could read.
func Legible(tx *db.Tx) error {
	rows, err := tx.Query("SELECT " + spaceColumns + " FROM knowledge")
	err = db.EachRow(rows, err, func(rows *sql.Rows) error {
		k, err := scanSpace(rows)
		if err == nil && k.unread {
			err = fmt.Errorf("nobody can read who owns the knowledge space %.64q", k.Name)
		}
		return err
	})
	if err != nil {
		return err
	}
	rows, err = tx.Query("SELECT " + itemColumns + " FROM knowledge_item i")
	return db.EachRow(rows, err, func(rows *sql.Rows) error { _, err := scanItem(rows); return err })
}
