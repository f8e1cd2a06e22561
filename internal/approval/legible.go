package approval

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"tandem/internal/db"
)

// Legible reads every ask once, as those who need one do, and says which nobody could read.
func Legible(tx *db.Tx) error {
	rows, err := tx.Query("SELECT " + columns + " FROM approval")
	return db.EachRow(rows, err, func(rows *sql.Rows) error {
		a, err := scan(rows)
		switch {
		case err != nil:
			return err
		case !json.Valid(a.Input):
			return fmt.Errorf("read the ask %.64s: what it asks for is no document", a.ID)
		case !slices.Contains([]State{Pending, Approved, Rework, Cancelled, Spent, Expired}, a.State):
			return fmt.Errorf("read the ask %.64s: it is in no state that there is", a.ID)
		}
		return nil
	})
}
