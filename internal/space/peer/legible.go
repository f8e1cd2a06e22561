package peer

import (
	"database/sql"

	"tandem/internal/db"
)

// Legible reads every entry that seats have heard once, as a start does, and says which nobody could read.
func Legible(tx *db.Tx) error {
	rows, err := tx.Query("SELECT entry FROM peer_log")
	return db.EachRow(rows, err, func(rows *sql.Rows) error { _, err := scanEntry(rows); return err })
}
