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

// came is why runs of a tenant that came from another server are over.
const came = "the tenant came from another server"

// Arrived is about the rows of a tenant that comes from another server: nothing is switched on in them, and no run goes on. A person of
// the tenant switches on what is to work here, so that it does not work on both servers, and nothing is past a gate that nobody here was
// asked at.
func (r *Room) Arrived(tx *db.Tx) (ended map[string]int, err error) {
	off, err := tx.Changed("UPDATE automation SET live = '' WHERE live <> ''")
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec("DELETE FROM automation_trigger"); err != nil {
		return nil, err
	}
	open, err := collectRuns(tx.Query("SELECT " + runColumns + " FROM automation_run WHERE ended_at = 0"))
	if err != nil {
		return nil, err
	}
	for _, row := range open {
		// its trace says so too, where it can be read
		_, _ = r.change(tx, row.tenant, row.id, func(h *held) error { return h.apply(run.Event{Kind: run.Stopped, Text: came}) })
	}
	for _, query := range []string{
		"UPDATE automation_run SET status = '" + string(run.Cancelled) + "', reason = '" + came + "', ended_at = ?, wake_at = 0, needs = '' " +
			"WHERE ended_at = 0",
		"UPDATE automation_step SET state = '" + over + "', waits = '', ended_at = ? WHERE state <> '" + over + "'",
	} {
		if _, err := tx.Exec(query, tx.Now()); err != nil {
			return nil, err
		}
	}
	return map[string]int{"automations": int(off), "runs": len(open)}, nil
}
