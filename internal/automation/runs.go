package automation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/db"
	"tandem/internal/fault"
)

// runRow is a run as it is stored: its events are rows of their own.
type runRow struct {
	tenant, id, name, digest  string
	status, reason, cause, by string
	given                     map[string]any
	began, ended, wake        time.Time
	events                    int64
	actsFor                   string     // with whose authority it began
	needs                     string     // what a person has to look at before it goes on
	heard                     [][]string // on whose words it acts, each with whom that one acts for: their denials bind it
	parent                    string     // the run whose node began it
	depth                     int        // how many runs came before it, each of which began the next
	priority                  int        // larger goes first
	waits                     string     // why it waits, as its nodes tell; what steps under way wait for is in their rows
}

const runColumns = "tenant, id, name, digest, status, reason, cause, made_by, given, began_at, ended_at, wake_at, " +
	"events, acts_for, needs, heard, parent, depth, priority, waits"

func scanRun(rows interface{ Scan(...any) error }) (*runRow, error) {
	var r runRow
	var given, heard string
	var began, ended, wake int64
	err := rows.Scan(&r.tenant, &r.id, &r.name, &r.digest, &r.status, &r.reason, &r.cause, &r.by, &given, &began, &ended, &wake, &r.events,
		&r.actsFor, &r.needs, &heard, &r.parent, &r.depth, &r.priority, &r.waits)
	if err == nil {
		err = json.Unmarshal([]byte(heard), &r.heard)
	}
	if err != nil {
		return nil, err
	}
	r.began, r.ended, r.wake = db.Time(began), db.Time(ended), db.Time(wake)
	return &r, spec.Decode([]byte(given), &r.given)
}

func collectRuns(rows *sql.Rows, err error) ([]*runRow, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (*runRow, error) { return scanRun(rows) })
}

// held is a run in hand: its row, its version and the state that its events fold to.
type held struct {
	*runRow
	tx      *db.Tx
	version *version
	run     *run.Run
	bytes   int64 // of its events
	steps   []*stepRow
}

// querier is what reads rows: a transaction, or the database itself.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) *sql.Row
}

// looking reads without changing anything.
type looking struct {
	ctx context.Context
	db  *db.DB
}

func (l looking) Query(q string, args ...any) (*sql.Rows, error) {
	return l.db.Query(l.ctx, q, args...)
}
func (l looking) QueryRow(q string, args ...any) *sql.Row { return l.db.QueryRow(l.ctx, q, args...) }

// errUnread says that the version which a run began with is not there, or not what its digest says: it can never go on.
var errUnread = errors.New("its version cannot be read")

// giveUp ends a run whose version cannot be read, in which nothing else can happen any more.
func (r *Room) giveUp(tx *db.Tx, row *runRow, by string) error {
	row.status, row.reason, row.ended = string(run.Cancelled), errUnread.Error()+"; ended by "+by, tx.Now()
	if _, err := tx.Exec("UPDATE automation_run SET status = ?, reason = ?, needs = '', waits = '', ended_at = ?, wake_at = 0 "+
		"WHERE tenant = ? AND id = ?", row.status, row.reason, row.ended, row.tenant, row.id); err != nil {
		return err
	}
	if err := r.ended(tx, row); err != nil {
		return err
	}
	steps, err := stepsOf(tx, row.tenant, row.id)
	if err != nil {
		return err
	}
	var actor string // who asked
	if a, err := find(tx, row.tenant, row.name); err != nil {
		return err
	} else if a != nil {
		actor = a.Actor
	}
	for _, s := range steps {
		if s.state == over || s.waits == onTurn { // a turn is ended first
			continue
		}
		if err := r.drop(tx, s, actor, "the run "+row.id+" is over"); err != nil {
			return err
		}
	}
	return nil
}

// fold reads a run and all that happened to it.
func (r *Room) fold(q querier, row *runRow) (*held, error) {
	h, a, err := r.unfolded(q, row)
	if err != nil {
		return nil, err
	}
	if h.run, err = run.Begin(a, row.given, row.began); err != nil {
		return nil, fmt.Errorf("begin the run %s again: %w", row.id, err)
	}
	rows, err := q.Query("SELECT body FROM automation_event WHERE tenant = ? AND run = ? ORDER BY seq", row.tenant, row.id)
	events, err := db.Collect(rows, err, func(rows *sql.Rows) (e run.Event, err error) {
		var body string
		if err = rows.Scan(&body); err == nil {
			err = json.Unmarshal([]byte(body), &e)
		}
		h.bytes += int64(len(body))
		return e, err
	})
	if err != nil {
		return nil, err
	}
	for i, e := range events {
		if err := h.run.Apply(e); err != nil {
			return nil, fmt.Errorf("event %d of the run %s: %w", i+1, row.id, err)
		}
	}
	return h, nil
}

// unfolded is a run with its version and its steps, before its events are read.
func (r *Room) unfolded(q querier, row *runRow) (h *held, a *spec.Automation, err error) {
	h = &held{runRow: row}
	h.version, err = scanVersion(q.QueryRow("SELECT "+versionColumns+
		" FROM automation_version WHERE tenant = ? AND name = ? AND digest = ?", row.tenant, row.name, row.digest))
	switch {
	case db.NoRows(err):
		err = errUnread
	case err == nil:
		if a, err = r.read(h.version); err != nil {
			err = errors.Join(errUnread, err)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("find the version of the run %s: %w", row.id, err)
	}
	h.steps, err = stepsOf(q, row.tenant, row.id)
	return h, a, err
}

// refold is fold for a change: where the last one left the run, if nothing happened to it since. Until this change is on disk nobody else
// is given that.
func (r *Room) refold(tx *db.Tx, row *runRow) (*held, error) {
	was, known := r.folds.take(runKey{row.tenant, row.id})
	if !known || was.events != row.events {
		return r.fold(tx, row)
	}
	h, _, err := r.unfolded(tx, row)
	if err != nil {
		return nil, err
	}
	h.run, h.bytes = was.Run, was.bytes
	return h, nil
}

// keep has the next change of a run begin where this one left it.
func (r *Room) keep(h *held) {
	if h.run.Status.Over() || h.bytes > largestFold {
		return
	}
	f := folded{h.run, h.events, h.bytes}
	h.tx.AfterCommit(func() { r.folds.put(runKey{h.tenant, h.id}, f) })
}

// change takes a run in hand, lets fn apply what happened, and writes down where it stands.
func (r *Room) change(tx *db.Tx, tenant, id string, fn func(*held) error) (*held, error) {
	row, err := scanRun(tx.QueryRow("SELECT "+runColumns+" FROM automation_run WHERE tenant = ? AND id = ?"+tx.ForUpdate(), tenant, id))
	if db.NoRows(err) {
		return nil, noRun(id)
	}
	if err != nil {
		return nil, err
	}
	h, err := r.refold(tx, row)
	if errors.Is(err, errUnread) && !row.ended.IsZero() { // it was given up, or ended before
		return nil, fault.New(fault.NotFound, "automation", "the run %.64q is %s, and %v", id, row.status, errUnread).
			WithNext("see the others: tandem automation runs list")
	}
	if err != nil {
		return nil, err
	}
	h.tx = tx
	was := *row
	if err := fn(h); err != nil {
		return h, err
	}
	if r.keep(h); h.events == was.events && string(h.run.Status) == was.status { // one may be over before anything happened in it
		return h, nil
	}
	if err := h.save(); err != nil {
		return h, err
	}
	if was.ended.IsZero() && !h.ended.IsZero() {
		if err := r.ended(tx, h.runRow); err != nil {
			return h, err
		}
	}
	failed := h.status == string(run.Failed) && was.status != h.status
	if r.Told != nil && (failed || h.needs != "" && h.needs != was.needs) {
		err = r.Told(tx, tenant, h.seen())
	}
	return h, err
}

func noRun(id string) error {
	return fault.New(fault.NotFound, "automation", "there is no run %.64q", id).WithNext("see what there is: tandem automation runs list")
}

// apply takes an event in and keeps it. One that does not fit is refused, as a fault of whoever wants it.
func (h *held) apply(e run.Event) error {
	e.At = h.tx.Now().UTC()
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var kept run.Event // as it will be read again
	if err := json.Unmarshal(body, &kept); err != nil {
		return err
	}
	if err := h.run.Apply(kept); err != nil {
		return fault.New(fault.Conflict, "automation", "%v", err).WithNext("see where it stands: tandem automation runs show %s", h.id)
	}
	h.events++
	h.bytes += int64(len(body))
	_, err = h.tx.Exec("INSERT INTO automation_event (tenant, run, seq, body) VALUES (?, ?, ?, ?)", h.tenant, h.id, h.events, string(body))
	return err
}

// save writes down where a run stands, and when to look at it again.
func (h *held) save() error {
	now := h.tx.Now()
	h.status, h.reason, h.wake = string(h.run.Status), h.run.Reason, h.run.Next(now).Wake
	h.needs, h.waits = strings.Join(h.run.Stuck(), "; "), h.waiting()
	switch over := h.run.Status.Over(); {
	case over && h.ended.IsZero():
		h.ended = now
	case !over: // a repair lets one go on that failed
		h.ended = time.Time{}
	}
	heard, err := json.Marshal(h.heard)
	if err != nil {
		return err
	}
	_, err = h.tx.Exec(`UPDATE automation_run SET status = ?, reason = ?, ended_at = ?, wake_at = ?, events = ?, needs = ?, heard = ?,
		waits = ? WHERE tenant = ? AND id = ?`, h.status, h.reason, h.ended, h.wake, h.events, h.needs, string(heard), h.waits, h.tenant, h.id)
	return err
}

// Open says whether there is a run of that id that is not over.
func Open(tx *db.Tx, tenant, id string) (open bool, err error) {
	var n int
	err = tx.QueryRow("SELECT count(*) FROM automation_run WHERE tenant = ? AND id = ? AND ended_at = 0", tenant, id).Scan(&n)
	return n > 0, err
}

// SwitchedBy is who switched an automation on, "" when it is not on.
func SwitchedBy(tx *db.Tx, tenant, name string) (string, error) {
	s, err := find(tx, tenant, name)
	if err != nil || s == nil || !s.On {
		return "", err
	}
	return s.SwitchedBy, nil
}
