package space

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"tandem/internal/db"
)

// Legible reads every row of the spaces that are hosted once, as those who need one do, and says which nobody could read.
func Legible(tx *db.Tx) error {
	for query, read := range map[string]func(*sql.Rows) error{
		"SELECT " + spaceColumns + " FROM space": func(rows *sql.Rows) error {
			r, err := scanSpace(rows)
			if err == nil && r.ended != "" && !json.Valid([]byte(r.ended)) {
				err = fmt.Errorf("what ended the space %.64q is no document", r.id)
			}
			return err
		},
		"SELECT " + memberColumns + " FROM space_member": func(rows *sql.Rows) error { _, err := scanMember(rows); return err },
		"SELECT " + entryColumns + " FROM space_log": func(rows *sql.Rows) error {
			e, err := scanEntry(rows)
			if err == nil && len(e.Facts) > 0 && !json.Valid(e.Facts) {
				err = fmt.Errorf("entry %d of a space is no document", e.Seq)
			}
			return err
		},
	} {
		rows, err := tx.Query(query)
		if err := db.EachRow(rows, err, read); err != nil {
			return err
		}
	}
	return nil
}
