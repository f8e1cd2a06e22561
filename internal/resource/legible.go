package resource

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"tandem/internal/db"
)

// Legible reads every resource once, as those who need one do, and says which nobody could read.
func Legible(tx *db.Tx) error {
	rows, err := tx.Query("SELECT " + columns + " FROM resource")
	return db.EachRow(rows, err, func(rows *sql.Rows) error {
		r, err := scan(rows)
		if err == nil && !json.Valid(r.Value) {
			err = fmt.Errorf("the value of %.64q is no document", r.Key)
		}
		return err
	})
}
