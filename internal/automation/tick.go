package automation

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"tandem/internal/automation/clock"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/session"
)

// trigger is a schedule of a version that is switched on: up to when it was dealt with, and when it is due next.
type trigger struct {
	tenant, name, id  string
	since, next, made time.Time
}

const triggerColumns = "tenant, name, trigger_id, since_at, next_at, made_at"

func collectTriggers(rows *sql.Rows, err error) ([]trigger, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (t trigger, err error) {
		var since, next, made int64
		err = rows.Scan(&t.tenant, &t.name, &t.id, &since, &next, &made)
		t.since, t.next, t.made = db.Time(since), db.Time(next), db.Time(made)
		return t, err
	})
}

// arm writes down when the schedules of a version are due, from now on. Those of another version are forgotten; ends of runs that are not
// dealt with stay with a trigger that waits for the same, and so does how what is watched stood.
func (r *Room) arm(tx *db.Tx, s *row, a *spec.Automation) error {
	ends, err := takeQueues(tx, s)
	if err != nil {
		return err
	}
	seen, err := seenOf(tx, s)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM automation_trigger WHERE tenant = ? AND name = ?", s.tenant, s.Name); err != nil {
		return err
	}
	for i := range a.Triggers {
		t := &a.Triggers[i]
		if t.Event != "" {
			if _, err := tx.Exec("INSERT INTO automation_trigger ("+triggerColumns+", event, seq) VALUES (?, ?, ?, ?, 0, ?, ?, ?)", s.tenant, s.Name,
				t.ID, tx.Now(), tx.Now(), t.Event, r.Head()); err != nil {
				return err
			}
		}
		if t.Ended != "" {
			if _, err := tx.Exec("INSERT INTO automation_trigger ("+triggerColumns+", ended) VALUES (?, ?, ?, ?, 0, ?, ?)", s.tenant, s.Name, t.ID,
				tx.Now(), tx.Now(), t.Ended); err != nil {
				return err
			}
			same := followed{t.ID, t.Ended}
			if queue := ends[same]; queue != nil {
				if err := saveQueue(tx, trigger{tenant: s.tenant, name: s.Name, id: t.ID}, queue, tx.Now()); err != nil {
					return err
				}
				delete(ends, same)
			}
		}
		if what := watched(t); what != "" {
			was := seen[t.ID+" "+what]
			if _, err := tx.Exec("INSERT INTO automation_trigger ("+triggerColumns+", watch, seen, seen_at) VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?)",
				s.tenant, s.Name, t.ID, tx.Now(), tx.Now(), what, was.text, was.at); err != nil {
				return err
			}
		}
		if t.Schedule == "" {
			continue
		}
		when, err := schedule(t, tx.Now())
		if err != nil {
			return err
		}
		next, _ := when.Next(tx.Now())
		if _, err := tx.Exec("INSERT INTO automation_trigger ("+triggerColumns+") VALUES (?, ?, ?, ?, ?, ?)", s.tenant, s.Name, t.ID, tx.Now(),
			next, tx.Now()); err != nil {
			return err
		}
	}
	tx.AfterCommit(r.rearm)
	return ends.leave(tx, s, "another version was switched on before it was dealt with")
}

func disarm(tx *db.Tx, s *row) error {
	ends, err := takeQueues(tx, s)
	if err == nil {
		err = ends.leave(tx, s, "it was switched off before it was dealt with")
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec("DELETE FROM automation_trigger WHERE tenant = ? AND name = ?", s.tenant, s.Name)
	return err
}

func schedule(t *spec.Trigger, anchor time.Time) (clock.Schedule, error) {
	zone, err := time.LoadLocation(t.Zone)
	if err != nil {
		return clock.Schedule{}, err
	}
	return clock.Parse(t.Schedule, zone, anchor)
}

// fire has every schedule that is due dealt with, each through the gate as its automation.
func (r *Room) fire(ctx context.Context) error {
	due, err := collectTriggers(r.DB.Query(ctx, "SELECT "+triggerColumns+" FROM automation_trigger WHERE next_at > 0 AND next_at <= ?",
		r.DB.Now()))
	for _, t := range due {
		var actor string
		err := r.DB.QueryRow(ctx, "SELECT actor FROM automation WHERE tenant = ? AND name = ?", t.tenant, t.name).Scan(&actor)
		var c op.Caller
		if err == nil {
			c, err = r.As(ctx, t.tenant, actor)
		}
		if err == nil {
			c.Scope = []string{"automation.run"}
			_, err = op.Do(op.WithCaller(ctx, c), r.Rooms, wire.Tick, wire.TickIn{Name: t.name, Trigger: t.id})
		}
		if err != nil && ctx.Err() == nil {
			if !session.Suspended(err) && !session.Erased(err) {
				r.Log.Error("a schedule was not dealt with", "automation", t.name, "trigger", t.id, "err", err)
			}
			err = r.later(ctx, t, err)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// rarely is how often a trigger is looked at whose automation may do nothing: whoever switched it on may be let in again.
const rarely = time.Hour

// patience is in how long a trigger that failed is looked at again, and why it failed, for people.
func patience(name string, failure error) (wait time.Duration, why string) {
	wait, why = longest, said(failure)
	if session.Suspended(failure) {
		return wait, why
	}
	switch fault.KindOf(failure) {
	case fault.Unauthenticated, fault.Denied, fault.NotFound:
		wait = rarely
		why += "; switch it on again, or off: tandem automation on " + name
	}
	return wait, why
}

// later says why a schedule could not be dealt with, and looks again in a while.
func (r *Room) later(ctx context.Context, t trigger, failure error) error {
	wait, why := patience(t.name, failure)
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		if err := leaveFailure(tx, t, why); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE automation_trigger SET next_at = ? WHERE tenant = ? AND name = ? AND trigger_id = ?",
			tx.Now().Add(wait), t.tenant, t.name, t.id)
		return err
	})
}

// leaveFailure leaves one row about a trigger that could not be dealt with, for as long as that is the reason.
func leaveFailure(tx *db.Tx, t trigger, why string) error {
	n, err := tx.Changed(`UPDATE automation_tick SET last_at = ?, at = ? WHERE tenant = ? AND run = '' AND why = ? AND id =
		(SELECT MAX(id) FROM automation_tick WHERE tenant = ? AND name = ? AND trigger_id = ?)`, t.next, tx.Now(), t.tenant, why, t.tenant,
		t.name, t.id)
	if err == nil && n == 0 {
		err = leaveTick(tx, t, []time.Time{t.next}, 1, "", why)
	}
	return err
}

func (r *Room) tick(ctx context.Context, tx *db.Tx, in wire.TickIn) (wire.TickOut, error) {
	out := wire.TickOut{}
	c := op.CallerFrom(ctx)
	if c.Door != op.DoorInside || c.Name != actorName(in.Name) {
		return out, fault.New(fault.Denied, string(wire.Tick), "the server does this by itself, and nobody else").
			WithNext("to begin a run now: tandem automation run %s", in.Name)
	}
	all, err := collectTriggers(tx.Query("SELECT "+triggerColumns+" FROM automation_trigger WHERE tenant = ? AND name = ? AND trigger_id = ?"+
		tx.ForUpdate(), c.Tenant, in.Name, in.Trigger))
	if err != nil || len(all) == 0 || all[0].next.After(tx.Now()) { // another server dealt with it
		return out, err
	}
	t := all[0]
	s, err := find(tx, c.Tenant, in.Name)
	if err != nil || s == nil {
		return out, orNone(err, in.Name)
	}
	v, err := versionIn(tx, c.Tenant, s.Name, s.Live)
	if err != nil || v == nil {
		return out, orNone(err, in.Name)
	}
	a, err := r.read(v)
	if err != nil {
		return out, err
	}
	for i := range a.Triggers {
		switch what := &a.Triggers[i]; {
		case what.ID != t.id:
		case what.Ended != "":
			return out, r.follow(ctx, tx, t, a, &out)
		default:
			return out, r.deal(ctx, tx, t, what, &out)
		}
	}
	return out, disarm(tx, s)
}

// deal makes a run for each moment that gets one, and leaves a row for every other.
func (r *Room) deal(ctx context.Context, tx *db.Tx, t trigger, what *spec.Trigger, out *wire.TickOut) error {
	when, err := schedule(what, t.made)
	if err != nil {
		return err
	}
	plan := clock.Plan(when, t.since, tx.Now(), what.Policy())
	if plan.Missed > 0 {
		why := fmt.Sprintf("missed: the server was away, and misfire is %s", what.Misfire)
		if plan.AtLeast {
			why += "; there were more than were counted"
		}
		if err := leaveTick(tx, t, []time.Time{plan.First, plan.Last}, plan.Missed, "", why); err != nil {
			return err
		}
		out.Skipped += plan.Missed
	}
	for _, due := range plan.Run {
		begun, err := r.beginIn(ctx, tx, wire.BeginIn{Name: t.name},
			origin{cause: fmt.Sprintf("schedule %s, due %s", t.id, due.UTC().Format(time.RFC3339))})
		id, why := "", ""
		switch {
		case err == nil:
			id = begun.ID
			out.Runs = append(out.Runs, id)
		case fault.KindOf(err) == fault.Internal:
			return err
		default:
			why = said(err)
			out.Skipped++
		}
		if err := leaveTick(tx, t, []time.Time{due}, 1, id, why); err != nil {
			return err
		}
	}
	next := plan.Next
	if !plan.HasNext {
		next = time.Time{}
	}
	_, err = tx.Exec("UPDATE automation_trigger SET since_at = ?, next_at = ? WHERE tenant = ? AND name = ? AND trigger_id = ?", tx.Now(),
		next,
		t.tenant, t.name, t.id)
	return err
}

// keptTicks is how many rows about ticks stay for one automation.
const keptTicks = 1000

func leaveTick(tx *db.Tx, t trigger, due []time.Time, count int, run, why string) error {
	_, err := tx.Exec("INSERT INTO automation_tick (tenant, id, name, trigger_id, due_at, last_at, count, run, why, at) VALUES (?, "+
		"?, ?, ?, ?, ?, ?, ?, ?, ?)",
		t.tenant, id.New("tick"), t.name, t.id, due[0], due[len(due)-1], count, run, why, tx.Now())
	if err == nil {
		_, err = tx.Exec(`DELETE FROM automation_tick WHERE tenant = ? AND name = ? AND id <= (SELECT id FROM automation_tick
			WHERE tenant = ? AND name = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`, t.tenant, t.name, t.tenant, t.name, keptTicks)
	}
	return err
}

func (r *Room) ticks(ctx context.Context, in wire.NameIn) (wire.TicksOut, error) {
	out := wire.TicksOut{Ticks: []wire.TickRow{}}
	rows, err := r.DB.Query(ctx, `SELECT trigger_id, due_at, last_at, count, run, why, at FROM automation_tick WHERE tenant = ? AND name = ?
		ORDER BY id DESC LIMIT 100`, op.CallerFrom(ctx).Tenant, in.Name)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (t wire.TickRow, err error) {
		var due, last, at int64
		err = rows.Scan(&t.Trigger, &due, &last, &t.Count, &t.Run, &t.Why, &at)
		t.Due, t.Last, t.At = db.Time(due), db.Time(last), db.Time(at)
		return t, err
	})
	out.Ticks = append(out.Ticks, all...)
	return out, err
}
