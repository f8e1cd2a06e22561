package identity

import (
	"context"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Who owns the house is a matter of the policy. This room knows who is here, and who can prove it; it keeps the last owner who can.

// Able says whether somebody is a person of this house now, and whether they could prove to be here. The first person always could: where
// they have no PIN yet, they set one.
func (r *Room) Able(ctx context.Context, tx *db.Tx, tenant, name string) (here, able bool, err error) {
	a, err := scanActor(tx.QueryRow("SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND name = ?", tenant, name))
	if db.NoRows(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	if a = r.asBorn(a); a.Kind != op.Person || a.DisabledAt != nil || !r.counts(ctx, a) {
		return false, false, nil
	}
	if a.ID == WellKnown(Owner) {
		return true, true, nil
	}
	rows, err := tx.Query("SELECT "+deviceColumns+" FROM device WHERE tenant = ? AND actor = ? AND revoked_at = 0", tenant, a.ID)
	devices, err := collectSealed(rows, err, scanDevice)
	if err != nil || slices.ContainsFunc(devices, func(s op.Sealed) bool { return r.Vouch.Holds(ctx, s) }) {
		return true, err == nil, err
	}
	var ways int
	err = tx.QueryRow("SELECT (SELECT count(*) FROM passkey WHERE tenant = ? AND actor = ?) + (SELECT count(*) FROM pin WHERE "+
		"tenant = ? AND actor = ?)",
		tenant, a.ID, tenant, a.ID).Scan(&ways)
	return true, ways > 0, err
}

// owners are those whose house it is, by name.
func (r *Room) owners(ctx context.Context, tx *db.Tx, tenant string) (map[string]bool, error) {
	if r.Owners == nil {
		return map[string]bool{Owner: true}, nil
	}
	list, err := r.Owners(ctx, tx, tenant)
	out := map[string]bool{}
	for _, n := range list {
		out[n] = true
	}
	return out, err
}

// Provable reports whether some owner of a house can prove to be here now: by a PIN, a passkey or a machine of theirs.
func (r *Room) Provable(ctx context.Context, tenant string) (ok bool, err error) {
	err = r.db.Read(ctx, func(tx *db.Tx) error {
		all, err := r.owners(ctx, tx, tenant)
		for name := range all {
			if err != nil || ok {
				break
			}
			if name != Owner {
				_, ok, err = r.Able(ctx, tx, tenant, name)
				continue
			}
			err = tx.QueryRow("SELECT (SELECT count(*) FROM passkey WHERE tenant = ? AND actor = ?) + (SELECT count(*) FROM pin WHERE tenant = ? "+
				"AND actor = ?) > 0", tenant, WellKnown(Owner), tenant, WellKnown(Owner)).Scan(&ok)
		}
		return err
	})
	return ok, err
}

// owned refuses a change after which no owner could prove to be here.
func (r *Room) owned(ctx context.Context, tx *db.Tx, tenant, where string) error {
	all, err := r.owners(ctx, tx, tenant)
	if err != nil {
		return err
	}
	for name := range all {
		if _, able, err := r.Able(ctx, tx, tenant, name); err != nil || able {
			return err
		}
	}
	return fault.New(fault.Conflict, where, "it is the last way in which an owner of this house can prove to be here").
		WithNext("first make somebody else an owner: tandem person owner add NAME; or log in on another machine: tandem invite --person NAME")
}

// notAnOwner refuses to let an owner go: who is one and who is not is said on its own.
func (r *Room) notAnOwner(ctx context.Context, tx *db.Tx, tenant, where, name string) error {
	all, err := r.owners(ctx, tx, tenant)
	if err == nil && all[name] {
		err = fault.New(fault.Conflict, where, "%s is an owner of this house", name).
			WithNext("take that back first: tandem person owner remove %s", name)
	}
	return err
}
