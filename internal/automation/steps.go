package automation

import (
	"database/sql"
	"time"

	"tandem/internal/db"
)

// stepRow is one attempt of a step: who does it, until when, and with which fence.
type stepRow struct {
	tenant, run, node  string
	item, attempt      int
	state              string
	fence              int64
	owner              string
	lease, look, began time.Time
	waits              string
	session, turn      string // of a node that is a turn, once it was begun
	child              string // of a node that is another automation: its run
}

// States of an attempt's row.
const (
	claimed = "running" // somebody does it; the lease says until when that is believed
	parked  = "parked"  // it waits for somebody or something, and nobody holds it
	over    = "over"    // its end is an event of the run
)

const stepColumns = "tenant, run, node, item, attempt, state, fence, owner, lease_until, look_at, began_at, waits, session, turn, child"

func scanStep(rows interface{ Scan(...any) error }) (*stepRow, error) {
	var s stepRow
	var lease, look, began int64
	err := rows.Scan(&s.tenant, &s.run, &s.node, &s.item, &s.attempt, &s.state, &s.fence, &s.owner, &lease, &look, &began, &s.waits,
		&s.session, &s.turn, &s.child)
	s.lease, s.look, s.began = db.Time(lease), db.Time(look), db.Time(began)
	return &s, err
}

func collectSteps(rows *sql.Rows, err error) ([]*stepRow, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (*stepRow, error) { return scanStep(rows) })
}

func stepsOf(q querier, tenant, id string) ([]*stepRow, error) {
	return collectSteps(q.Query("SELECT "+stepColumns+" FROM automation_step WHERE tenant = ? AND run = ? ORDER BY node, item, attempt",
		tenant, id))
}

// alive is the row of the attempt of a step that has not ended, nil when there is none.
func (h *held) alive(node string, item int) *stepRow {
	for _, s := range h.steps {
		if s.node == node && s.item == item && s.state != over {
			return s
		}
	}
	return nil
}

// claim makes the row of a new attempt, or takes one over with a higher fence.
func (h *held) claim(s *stepRow, owner string) error {
	s.tenant, s.run, s.state, s.owner, s.lease = h.tenant, h.id, claimed, owner, h.tx.Now().Add(lease)
	if s.fence++; s.fence == 1 {
		s.began = h.tx.Now()
		_, err := h.tx.Exec("INSERT INTO automation_step ("+stepColumns+", ended_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, '', '', '', '', 0)",
			s.tenant, s.run, s.node, s.item, s.attempt, s.state, s.fence, s.owner, s.lease, s.began)
		return err
	}
	n, err := h.tx.Changed("UPDATE automation_step SET state = ?, fence = ?, owner = ?, lease_until = ?, waits = '' WHERE "+stepKey+
		" AND fence = ?", s.state, s.fence, s.owner, s.lease, s.tenant, s.run, s.node, s.item, s.attempt, s.fence-1)
	if err == nil && n == 0 {
		err = db.ErrAgain
	}
	return err
}

// free reports whether a row can be claimed: what it waits for is to be looked at, or whoever had it is gone.
func (s *stepRow) free(owner string, now time.Time) bool {
	if s.state == parked {
		return !s.look.After(now)
	}
	return s.owner != owner || s.lease.Before(now)
}

const stepKey = "tenant = ? AND run = ? AND node = ? AND item = ? AND attempt = ?"

// leave writes what became of an attempt, if it still belongs to whoever says so.
func (s *stepRow) leave(tx *db.Tx, state, waits string, look time.Time) (ours bool, err error) {
	var ended time.Time
	if state == over {
		ended = tx.Now()
	}
	n, err := tx.Changed("UPDATE automation_step SET state = ?, waits = ?, look_at = ?, ended_at = ?, session = ?, turn = ?, "+
		"child = CASE WHEN ? = '' THEN child ELSE ? END, lease_until = 0 WHERE "+stepKey+" AND fence = ? AND state = ?", state, waits, look,
		ended, s.session, s.turn, s.child, s.child,
		s.tenant, s.run, s.node, s.item, s.attempt, s.fence, claimed)
	return n > 0, err
}
