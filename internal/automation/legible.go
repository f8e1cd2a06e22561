package automation

import (
	"database/sql"
	"encoding/json"

	"tandem/internal/automation/run"
	"tandem/internal/db"
)

// Legible reads every row of every automation once, as those who need one do, and says which nobody could read.
func Legible(tx *db.Tx) error {
	for query, read := range map[string]func(*sql.Rows) error{
		"SELECT " + columns + " FROM automation":        func(rows *sql.Rows) error { _, err := scan(rows); return err },
		"SELECT " + runColumns + " FROM automation_run": func(rows *sql.Rows) error { _, err := scanRun(rows); return err },
		"SELECT " + stepColumns + " FROM automation_step": func(rows *sql.Rows) error {
			_, err := scanStep(rows)
			return err
		},
		"SELECT " + versionColumns + " FROM automation_version": func(rows *sql.Rows) error {
			_, err := scanVersion(rows) // a definition that a later program cannot read stays, and is not switched on
			return err
		},
		"SELECT body FROM automation_event": func(rows *sql.Rows) error {
			var body string
			if err := rows.Scan(&body); err != nil {
				return err
			}
			return json.Unmarshal([]byte(body), new(run.Event))
		},
	} {
		rows, err := tx.Query(query)
		if err := db.EachRow(rows, err, read); err != nil {
			return err
		}
	}
	return nil
}
