package memory

import (
	"database/sql"

	"tandem/internal/db"
)

// Legible reads every record once, as those who need one do, and says which nobody could read.
func Legible(tx *db.Tx) error {
	rows, err := tx.Query("SELECT " + columns + from)
	return db.EachRow(rows, err, func(rows *sql.Rows) error { _, err := scan(rows); return err })
}
