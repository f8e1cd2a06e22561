package contextrun

import (
	"database/sql"
	"encoding/json"

	"tandem/internal/contextrun/wire"
	"tandem/internal/db"
)

// Legible reads every run, task, event and item once, as those who need one do, and says which nobody could read. A checkpoint that cannot
// be read is passed over by whoever replays.
func Legible(tx *db.Tx) error {
	for query, read := range map[string]func(*sql.Rows) error{
		"SELECT " + runColumns + " FROM context_run":   func(rows *sql.Rows) error { _, err := scanRun(rows); return err },
		"SELECT " + taskColumns + " FROM context_task": func(rows *sql.Rows) error { _, err := scanTask(rows); return err },
		"SELECT body FROM context_event":               func(rows *sql.Rows) error { _, err := scanEvent(rows); return err },
		"SELECT body FROM context_item": func(rows *sql.Rows) error {
			var body string
			if err := rows.Scan(&body); err != nil {
				return err
			}
			return json.Unmarshal([]byte(body), new(wire.Item))
		},
	} {
		rows, err := tx.Query(query)
		if err := db.EachRow(rows, err, read); err != nil {
			return err
		}
	}
	return nil
}
