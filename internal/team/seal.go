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
	return op.Sealed{Tenant: t.Tenant, Subject: subject(t.ID), Says: []string{t.body}, What: "the team " + t.ID + ", " + string(t.State)}
}

// vouchFor tells what became of a team, and vouches for its row as it is from now on.
func (r *Room) vouchFor(tx *db.Tx, t *Team, said map[string]any) error {
	return r.Journal.Tell(tx, journal.Event{Tenant: t.Tenant, Type: EventMoved, Phase: journal.Done, Actor: t.Caller.Name,
		For: t.Caller.For, Resource: at(t.ID).String()}, said, t.seal())
}

// counts refuses a row that somebody wrote past tandem.
func (r *Room) counts(tx *db.Tx, t *Team) error {
	if !r.Sealed {
		return nil
	}
	held, err := r.Journal.Kept(tx, t.seal())
	if err == nil && !held {
		err = fault.New(fault.Denied, "team", "%s", rewritten(t.ID)).
			WithNext("look, and take it away: tandem audit verify; tandem team stop %s", t.ID)
	}
	return err
}

func rewritten(id string) string {
	return "the team " + id + " was changed in the database, and not by tandem: it does not go on"
}

// counting says whether a team goes on.
func (r *Room) counting(ctx context.Context, t *Team) (bool, error) {
	err := r.DB.Read(ctx, func(tx *db.Tx) error { return r.counts(tx, t) })
	if fault.Is(err, fault.Denied) {
		return false, nil
	}
	return err == nil, err
}

// shown is a team for somebody who looks: one that does not count says so.
func (r *Room) shown(ctx context.Context, tenant, id string) (*Team, error) {
	t, err := r.get(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	held, err := r.counting(ctx, t)
	if err == nil && !held {
		t.State, t.Reason = wire.Stopped, rewritten(id)+"; take it away: tandem team stop "+id
	}
	return t, err
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
	rows, err := d.Query(ctx, "SELECT tenant, home, body FROM team ORDER BY id")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		t, err := scan(rows)
		if t == nil {
			return op.Sealed{}, err
		}
		return t.seal(), err
	})
}
