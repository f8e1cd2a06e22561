package pack

import (
	"database/sql"

	"tandem/internal/db"
)

// Legible reads every installed pack once, as those who need one do, and says which nobody could read.
func Legible(tx *db.Tx) error {
	rows, err := tx.Query("SELECT " + columns + " FROM pack")
	return db.EachRow(rows, err, func(rows *sql.Rows) error { _, err := scan(rows); return err })
}
