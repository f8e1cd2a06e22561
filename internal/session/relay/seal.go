package relay

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// A relay prompts its two sessions as whoever started it, on the words and within the budget that its row says. So it goes on only while
// the newest entry of the journal about it vouches for all of that.

// EventMoved is the event of a relay that moved by itself, where no other tells of it.
const EventMoved = "relay.moved"

func subject(id string) string { return "relay:" + id }

func (x *Relay) seal() op.Sealed { return sealed(x.Tenant, x.ID, x.stored.status, x.stored.body) }

// sealed is a row whose words nobody has read: which relay it is, how it is found by its state, and all that it says.
func sealed(tenant, id, status, body string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: subject(id), Says: []string{status, body}, What: "the relay " + id + ", " + status,
		Over: Status(status).Over()}
}

// vouchFor tells what became of a relay, and vouches for its row as it is from now on.
func (r *Runner) vouchFor(tx *db.Tx, x *Relay, event string, said map[string]any) error {
	return r.journal.Tell(tx, journal.Event{Tenant: x.Tenant, Type: or(event, EventMoved), Phase: journal.Done, Actor: x.Caller.Name,
		For: x.Caller.For, Resource: at(x.ID).String()}, said, x.seal())
}

// asks reports whether there is a journal to ask.
func (r *Runner) asks() bool { return r.room != nil && r.room.Vouch.Asks() }

// counts refuses a row that somebody wrote past tandem.
func (r *Runner) counts(tx *db.Tx, x *Relay) error {
	held, err := !x.unread, error(nil)
	if held && r.asks() {
		held, err = r.journal.Kept(tx, x.seal())
	}
	if err == nil && !held {
		err = fault.New(fault.Denied, "relay", "%s", rewritten(x.ID)).
			WithNext("look, and take it away: tandem audit verify; then stop it with the relay tool: stop %s", x.ID)
	}
	return err
}

func rewritten(id string) string {
	return "the relay " + id + " was changed in the database, and not by tandem: it does not go on"
}

// view is one look at relays and what the journal says of them.
func (r *Runner) view(ctx context.Context, fn func(tx *db.Tx) error) error {
	if r.asks() {
		return r.journal.View(ctx, fn)
	}
	return r.db.Read(ctx, fn)
}

// weigh reads a relay and says whether its row counts, in one look at both.
func (r *Runner) weigh(ctx context.Context, tenant, id string) (x *Relay, held bool, err error) {
	err = r.view(ctx, func(tx *db.Tx) (err error) {
		x, err = scan(tx.QueryRow(columns+"tenant = ? AND id = ?", tenant, id))
		if db.NoRows(err) {
			return missing(id)
		}
		if err == nil {
			err = r.counts(tx, x)
		}
		if held = err == nil; fault.Is(err, fault.Denied) {
			err = nil
		}
		return err
	})
	return x, held, err
}

// refused is a relay that does not count, for somebody who looks: it says so, and confers nothing.
func (x *Relay) refused() *Relay {
	y := *x
	y.Status, y.Reason = Blocked, rewritten(x.ID)+"; take it away: stop it"
	return &y
}

// giveUp takes the row of a relay away that does not count. Of its sides those are closed that were opened for it, whatever it names.
func (r *Runner) giveUp(ctx context.Context, tx *db.Tx, x *Relay) (*Relay, error) {
	for _, from := range []string{"relay WHERE id", "relay_side WHERE relay", "relay_log WHERE relay"} {
		if _, err := tx.Exec("DELETE FROM "+from+" = ? AND tenant = ?", x.ID, x.Tenant); err != nil {
			return nil, err
		}
	}
	op.Seal(ctx, subject(x.ID))
	tx.AfterCommit(func() { r.all.Go(func() { r.closeOwned(context.WithoutCancel(ctx), x.ID) }) })
	return x.refused(), nil
}

func (r *Runner) closeOwned(ctx context.Context, relay string) {
	owned, err := r.sessions.Owned(ctx)
	if err != nil {
		r.log.Error("look for the sides of a relay", "relay", relay, "err", err)
	}
	for session, of := range owned {
		if of != relay {
			continue
		}
		if err := r.sessions.Close(ctx, session); err != nil {
			r.log.Warn("close a relay's session", "relay", relay, "session", session, "err", err)
		}
	}
}

// Rows are what the journal vouches for: relays.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT tenant, id, status, body FROM relay ORDER BY id")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, id, status, body string
		err := rows.Scan(&tenant, &id, &status, &body)
		return sealed(tenant, id, status, body), err
	})
}
