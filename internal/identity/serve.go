package identity

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Serve makes the service of a name, which acts for the caller, inside the caller's own change. One that is there already acts for the
// caller from now on.
func (r *Room) Serve(ctx context.Context, tx *db.Tx, name string) (*Actor, error) {
	c := op.CallerFrom(ctx)
	a, err := scanActor(tx.QueryRow("SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND name = ?"+tx.ForUpdate(), c.Tenant, name))
	switch {
	case db.NoRows(err):
		return r.add(ctx, tx, AddIn{Name: name, Kind: op.Service})
	case err != nil:
		return nil, err
	case a.Kind != op.Service || a.DisabledAt != nil || !r.counts(ctx, a):
		return nil, fault.New(fault.Conflict, "actor.add", "the actor %s is there, and is no service that works", name).
			WithNext("choose another name; see who there is: tandem actor list")
	}
	a.For = c.Actor
	op.Row(ctx, a.Seal())
	_, err = tx.Exec("UPDATE actor SET acts_for = ? WHERE tenant = ? AND id = ?", a.For, a.Tenant, a.ID)
	return a, err
}
