package board

import (
	"database/sql"

	"tandem/internal/db"
)

// Legible reads every task once, as those who need one do, and says which nobody could read.
func Legible(tx *db.Tx) error {
	rows, err := tx.Query("SELECT " + columns + " FROM board_task")
	return db.EachRow(rows, err, func(rows *sql.Rows) error { _, err := scanTask(rows); return err })
}
