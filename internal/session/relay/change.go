package relay

import (
	"context"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// change moves a relay in one transaction with its log entry and its event, and then shows it to people.
func (r *Runner) change(ctx context.Context, tenant, id, event string, fn func(x *Relay, now time.Time) error, entries ...Entry) error {
	var before, after Relay
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		x, err := load(tx, tenant, id)
		if err != nil {
			return err
		}
		if err := r.counts(tx, x); err != nil {
			return err
		}
		before = *x
		if err := fn(x, tx.Now()); err != nil {
			return err
		}
		for _, e := range entries {
			x.Step++
			if _, err := tx.Exec("INSERT INTO relay_log (tenant, relay, step, task, role, turn, text, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				tenant, id, x.Step, before.TaskNo, e.Role, e.Turn, e.Text, tx.Now()); err != nil {
				return err
			}
		}
		x.UpdatedAt = tx.Now()
		if err := save(tx, x); err != nil {
			return err
		}
		after = *x
		if err := r.tell(tx, before, after); err != nil {
			return err
		}
		return r.vouchFor(tx, x, event, map[string]any{"status": x.Status, "step": x.Step, "task": before.TaskNo, "turn": before.Flight,
			"reason": x.Reason})
	})
	if err != nil {
		if fault.Is(err, fault.Conflict) && err == error(errStale) {
			return nil
		}
		return err
	}
	r.show(&after)
	return nil
}

// tell says what somebody outside wants to know.
func (r *Runner) tell(tx *db.Tx, before, after Relay) error {
	switch {
	case after.Status == before.Status && after.TaskNo == before.TaskNo:
		return nil
	case after.Status.Over():
		return r.Told(tx, after, string(after.Status))
	case after.Status == NeedsInput:
		return r.Told(tx, after, "needs input")
	case before.Status == Running && (after.Status == Parked || after.TaskNo > before.TaskNo && before.TaskNo > 0):
		return r.Told(tx, after, "task done")
	}
	return nil
}
