package session

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// A turn works on the words, on whose behalf and with the options that its row says, once. So while it is open it goes on only with what
// the newest entry of the journal about it vouches for; the entry of its end takes that back. How far it came confers nothing, and neither
// does what the conversation says.

// words are what a turn's row says, as it stands in the database: another version of the program may write the same in other words.
type words struct{ options, prompt, prompted string }

func (t *Turn) written() words {
	w := t.words
	if w.options == "" {
		w.options = encode(t.Options)
	}
	if w.prompt == "" {
		w.prompt = encode(t.prompt)
	}
	w.prompted = chains(t.prompted)
	return w
}

func turnSubject(id string) string { return "turn:" + id }

func (t *Turn) seal() op.Sealed {
	w := t.written()
	return sealedTurn(t.Tenant, t.ID, t.Session, t.Asker, w)
}

func sealedTurn(tenant, id, session, asker string, w words) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: turnSubject(id), Says: []string{session, asker, w.options, w.prompt, w.prompted},
		What: "the turn " + id + " of " + session + ", asked for by " + asker}
}

// over are the words about a turn that has ended: none.
func (t *Turn) over() op.Sealed { return op.Sealed{Tenant: t.Tenant, Subject: turnSubject(t.ID)} }

// The events that vouch for what a turn was given beside the prompt of an operation, and that take it back where no other tells of its end.
const (
	EventTurnGiven = "session.turn_given"
	EventTurnGone  = "session.turn_gone"
)

// tellTurn has an event of its own vouch for a turn.
func (r *Room) tellTurn(tx *db.Tx, s *Session, typ string, t *Turn, row op.Sealed) error {
	return r.journal.Tell(tx, journal.Event{Tenant: s.Tenant, Type: typ, Phase: journal.Done, Actor: s.ID, For: s.chain,
		Resource: at(s.ID).String()}, map[string]any{"turn": t.ID}, row)
}

// turnCounts refuses a turn whose row somebody wrote past tandem.
func (r *Room) turnCounts(tx *db.Tx, t *Turn) error {
	if !r.Vouch.Asks() {
		return nil
	}
	held, err := r.journal.Kept(tx, t.seal())
	if err == nil && !held {
		err = fault.New(fault.Denied, "session.turn", "the turn %s was changed in the database, and not by tandem: it does not go on", t.ID).
			WithNext("see what was changed: tandem audit verify")
	}
	return err
}

// Weigh refuses a turn whose row somebody wrote past tandem; nil is none.
func (r *Room) Weigh(ctx context.Context, t *Turn) error {
	if t == nil || !r.Vouch.Asks() {
		return nil
	}
	return r.journal.View(ctx, func(tx *db.Tx) error { return r.turnCounts(tx, t) })
}

// Take is the session's turn that is open and oldest, for whoever goes on with it, nil when there is none. One that does not count ends.
func (r *Room) Take(ctx context.Context, tenant, session string) (*Turn, error) {
	for {
		t, err := r.Next(ctx, tenant, session)
		if err != nil || t == nil {
			return nil, err
		}
		err = r.Weigh(ctx, t)
		if !fault.Is(err, fault.Denied) {
			return t, err
		}
		if _, err := r.End(ctx, t, Failed, fault.Public(err).Msg); err != nil {
			return nil, err
		}
	}
}

// same reports whether a turn was given what another reading of it was.
func (t *Turn) same(as *Turn) bool {
	return t.Session == as.Session && t.Asker == as.Asker && t.written() == as.written()
}

// hold leaves a turn that is read again what it had when it was taken, unless the journal vouches for something new: somebody answered it.
func (r *Room) hold(tx *db.Tx, t, as *Turn) error {
	if t.same(as) {
		return nil
	}
	err := r.turnCounts(tx, t)
	if fault.Is(err, fault.Denied) {
		t.Session, t.Asker, t.Options, t.prompt, t.prompted, t.words = as.Session, as.Asker, as.Options, as.prompt, as.prompted, as.words
		err = nil
	}
	return err
}

// Again reads a turn that somebody took.
func (r *Room) Again(ctx context.Context, as *Turn) (*Turn, error) {
	t, err := r.Turn(ctx, as.Tenant, as.ID)
	if err != nil || t.same(as) || !r.Vouch.Asks() {
		return t, err
	}
	err = r.journal.View(ctx, func(tx *db.Tx) error {
		if t, err = loadTurn(inTx{tx}, as.Tenant, as.ID); err != nil {
			return err
		}
		return r.hold(tx, t, as)
	})
	return t, err
}

// openTurns are the rows of turns that have not ended, as the journal vouches for them.
func openTurns(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT tenant, id, session, asker, options, prompt, prompted FROM session_turn WHERE ended_at = 0")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, id, session, asker string
		var w words
		err := rows.Scan(&tenant, &id, &session, &asker, &w.options, &w.prompt, &w.prompted)
		return sealedTurn(tenant, id, session, asker, w), err
	})
}
