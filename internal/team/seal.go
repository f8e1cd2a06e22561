package team

import (
	"context"
	"database/sql"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/team/wire"
)

// A team acts as whoever started it, by a plan that a person approved and within the budget that its row says. So it goes on only while
// the newest entry of the journal about it vouches for all of that.

func subject(id string) string { return "team:" + id }

func (t *Team) seal() op.Sealed {
	return sealed(t.Tenant, t.ID, t.state, t.body)
}

// sealed is a row whose words nobody has read: which team it is, how it is found by its state, and all that it says.
func sealed(tenant, id, state, body string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: subject(id), Says: []string{state, body}, What: "the team " + id + ", " + state,
		Over: state == string(wire.Done) || state == string(wire.Stopped)}
}

// vouchFor tells what became of a team, and vouches for its row as it is from now on.
func (r *Room) vouchFor(tx *db.Tx, t *Team, said map[string]any) error {
	return r.Journal.Tell(tx, journal.Event{Tenant: t.Tenant, Type: EventMoved, Phase: journal.Done, Actor: t.Caller.Name,
		For: t.Caller.For, Resource: at(t.ID).String()}, said, t.seal())
}

// counts refuses a row that somebody wrote past tandem.
func (r *Room) counts(tx *db.Tx, t *Team) error {
	held, err := !t.unread, error(nil)
	if r.Sealed && held {
		held, err = r.Journal.Kept(tx, t.seal())
	}
	if err == nil && !held {
		err = fault.New(fault.Denied, "team", "%s", rewritten(t.ID)).
			WithNext("look, and take it away: tandem audit verify; tandem team stop %s", t.ID)
	}
	return err
}

func rewritten(id string) string {
	return "the team " + id + " was changed in the database, and not by tandem: it does not go on"
}

// weigh reads a team and says whether its row counts, in one look at both.
func (r *Room) weigh(ctx context.Context, tenant, id string) (t *Team, held bool, err error) {
	read := r.DB.Read
	if r.Sealed {
		read = r.Journal.View
	}
	err = read(ctx, func(tx *db.Tx) (err error) {
		if t, err = scan(tx.QueryRow(columns+"tenant = ? AND id = ?", tenant, id)); db.NoRows(err) {
			return op.NoSuch("team", id)
		}
		if err == nil {
			err = r.counts(tx, t)
		}
		if held = err == nil; fault.Is(err, fault.Denied) {
			err = nil
		}
		return err
	})
	return t, held, err
}

// shown is a team for somebody who looks: one that does not count says so.
func (r *Room) shown(ctx context.Context, tenant, id string) (*Team, error) {
	t, held, err := r.weigh(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	if !held {
		t.State, t.Reason = wire.Stopped, rewritten(id)+"; take it away: tandem team stop "+id
	}
	return t, nil
}

// giveUp takes the row of a team away that does not count. Its jobs are themselves, and stay.
func (r *Room) giveUp(ctx context.Context, tx *db.Tx, id string) (*wire.Team, error) {
	if _, err := tx.Exec("DELETE FROM team WHERE tenant = ? AND id = ?", op.CallerFrom(ctx).Tenant, id); err != nil {
		return nil, err
	}
	op.Seal(ctx, subject(id))
	return &wire.Team{ID: id, State: wire.Stopped, Reason: "its row is gone; jobs that it began are stopped one by one: tandem job list"}, nil
}

// Rows are what the journal vouches for: teams.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT tenant, id, state, body FROM team ORDER BY id")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, id, state, body string
		err := rows.Scan(&tenant, &id, &state, &body)
		return sealed(tenant, id, state, body), err
	})
}
