package automation

import (
	"errors"

	"tandem/internal/automation/run"
	"tandem/internal/db"
)

// Restored pauses the runs that were open when a copy was made: what they did since then is done, and nobody here knows of it. Whoever
// looks at one goes on with it or cancels it. Moments that passed since the copy make no runs.
func (r *Room) Restored(tx *db.Tx) (int, error) {
	if _, err := tx.Exec("UPDATE automation_trigger SET since_at = ?, next_at = ? WHERE next_at > 0", tx.Now(), tx.Now()); err != nil {
		return 0, err
	}
	open, err := collectRuns(tx.Query("SELECT " + runColumns + " FROM automation_run WHERE ended_at = 0"))
	for _, row := range open {
		pause := run.Event{Kind: run.Pausing, Text: "the server's data was restored from a copy"}
		_, err := r.tell(tx, row.tenant, row.id, func(h *held) error { return h.apply(pause) })
		if errors.Is(err, errUnread) {
			continue // it never goes on, and keeps nothing from coming back
		}
		if err != nil {
			return 0, err
		}
	}
	return len(open), err
}
