package automation

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
)

const (
	maxQueue = 1000 // ends of runs that one trigger has still to deal with
	atATime  = 50   // of these, in one change
)

// ended tells those who wait for the end of a run, in the change that ends it: the node that began it, and triggers.
func (r *Room) ended(tx *db.Tx, row *runRow) error {
	if row.parent != "" {
		if err := r.wakeParent(tx, row.tenant, row.parent, row.id); err != nil {
			return err
		}
	}
	if _, err := tx.Exec("UPDATE automation_step SET look_at = 1 WHERE tenant = ? AND state = ? AND waits = ?", row.tenant, parked,
		onPlace+row.name); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE automation_trigger SET next_at = ? WHERE tenant = ? AND name = ? AND ended <> '' AND queue <> '[]'", tx.Now(),
		row.tenant, row.name); err != nil {
		return err
	}
	tx.AfterCommit(r.rouse)
	all, err := collectTriggers(tx.Query("SELECT "+triggerColumns+" FROM automation_trigger WHERE tenant = ? AND ended = ?"+tx.ForUpdate(),
		row.tenant, row.name))
	if err != nil || len(all) == 0 {
		return err
	}
	for _, t := range all {
		queue, err := queueOf(tx, t)
		if err != nil {
			return err
		}
		if len(queue) >= maxQueue {
			if err := leaveTick(tx, t, []time.Time{tx.Now()}, 1, "", "too many runs ended that are not dealt with: "+row.id); err != nil {
				return err
			}
			continue
		}
		if err := saveQueue(tx, t, append(queue, row.id), tx.Now()); err != nil {
			return err
		}
	}
	return nil
}

func queueOf(tx *db.Tx, t trigger) (queue []string, err error) {
	var body string
	if err := tx.QueryRow("SELECT queue FROM automation_trigger WHERE tenant = ? AND name = ? AND trigger_id = ?", t.tenant, t.name,
		t.id).Scan(&body); err != nil {
		return nil, err
	}
	return queue, json.Unmarshal([]byte(body), &queue)
}

func saveQueue(tx *db.Tx, t trigger, queue []string, next time.Time) error {
	body, err := json.Marshal(queue)
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE automation_trigger SET queue = ?, next_at = ? WHERE tenant = ? AND name = ? AND trigger_id = ?",
		string(body), next, t.tenant, t.name, t.id)
	return err
}

// follow begins a run for each run of another automation that ended, and leaves a row for each.
func (r *Room) follow(ctx context.Context, tx *db.Tx, t trigger, a *spec.Automation, out *wire.TickOut) error {
	queue, err := queueOf(tx, t)
	if err != nil {
		return err
	}
	done := 0
	next := tx.Now()
	for _, id := range queue[:min(len(queue), atATime)] {
		done++
		before, err := scanRun(tx.QueryRow("SELECT "+runColumns+" FROM automation_run WHERE tenant = ? AND id = ?", t.tenant, id))
		if db.NoRows(err) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return err
		}
		if before.ended.IsZero() { // a repair let it go on: its end comes once more
			continue
		}
		in := wire.BeginIn{Name: t.name, Input: map[string]any{}}
		if a.Inputs["event"] != nil {
			in.Input["event"] = before.status
		}
		if a.Inputs["body"] != nil {
			in.Input["body"] = map[string]any{"automation": before.name, "run": before.id, "status": before.status, "reason": before.reason}
		}
		begun, err := r.beginIn(ctx, tx, in, origin{cause: "the end of " + before.id + " of " + before.name, depth: before.depth + 1})
		if full(err) { // it stays in the queue: the end of an open run makes a place
			done, next = done-1, tx.Now().Add(longest)
			break
		}
		run, why := "", ""
		switch {
		case err == nil:
			run = begun.ID
			out.Runs = append(out.Runs, run)
		case fault.KindOf(err) == fault.Internal:
			return err
		default:
			why = said(err)
			out.Skipped++
		}
		if err := leaveTick(tx, t, []time.Time{before.ended}, 1, run, why); err != nil {
			return err
		}
	}
	if queue = queue[done:]; len(queue) == 0 {
		next = time.Time{}
	}
	if queue == nil {
		queue = []string{}
	}
	return saveQueue(tx, t, queue, next)
}

// waiting are the ends that the triggers of an automation have still to deal with.
type waiting map[followed][]string

// followed is whose ends a trigger waits for.
type followed struct{ trigger, name string }

// takeQueues takes out what triggers have still to deal with, before they are forgotten.
func takeQueues(tx *db.Tx, s *row) (waiting, error) {
	rows, err := tx.Query("SELECT trigger_id, ended, queue FROM automation_trigger WHERE tenant = ? AND name = ? AND ended <> ''", s.tenant,
		s.Name)
	out := waiting{}
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (f followed, err error) {
		var body string
		var queue []string
		if err = rows.Scan(&f.trigger, &f.name, &body); err == nil {
			err = json.Unmarshal([]byte(body), &queue)
		}
		if len(queue) > 0 {
			out[f] = queue
		}
		return f, err
	})
	return out, err
}

// leave says of ends that no trigger waits for any more that they began nothing.
func (w waiting) leave(tx *db.Tx, s *row, why string) error {
	for f, queue := range w {
		if err := leaveTick(tx, trigger{tenant: s.tenant, name: s.Name, id: f.trigger}, []time.Time{tx.Now()}, len(queue), "", why); err != nil {
			return err
		}
	}
	return nil
}
