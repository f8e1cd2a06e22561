package identity

import (
	"database/sql"
	"slices"
	"strings"

	"tandem/internal/db"
)

// The actors that are there from the start are the program's own word. Somebody who rewrote the row of one would otherwise lock this
// user's terminal out, and with it whoever could mend the row.

// born is the actor that the program knows by an id; nil when it knows none, or when the journal speaks of it, as of one that was disabled.
func (r *Room) born(tenant, id string) *Actor {
	if !r.Vouch.Asks() || tenant != LocalTenant || r.Vouch.Knows(tenant, "actor:"+id) {
		return nil
	}
	for _, b := range builtIn {
		if WellKnown(b.Name) == id {
			return &Actor{Tenant: tenant, ID: id, Kind: b.Kind, Name: b.Name, For: WellKnown(b.For)}
		}
	}
	return nil
}

// bornAs is born for a name. The agent of those who call over MCP may have another name than its own: somebody had that before.
func (r *Room) bornAs(tenant, who string) *Actor {
	if who == MCP {
		return nil
	}
	return r.born(tenant, WellKnown(strings.TrimPrefix(who, actorPrefix)))
}

// asBorn puts the program's word in place of rows that say something else.
func (r *Room) asBorn(a *Actor) *Actor {
	if b := r.born(a.Tenant, a.ID); b != nil && !a.inborn() {
		b.CreatedAt = a.CreatedAt
		return b
	}
	return a
}

// Changed lists the rows of such actors that say something else than the program, as people read it.
func (r *Room) Changed(tx *db.Tx) (out []string, err error) {
	rows, err := tx.Query("SELECT "+actorColumns+" FROM actor WHERE tenant = ?", LocalTenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*Actor, error) { return scanActor(rows) })
	if err != nil {
		return nil, err
	}
	for _, b := range builtIn {
		known := r.born(LocalTenant, WellKnown(b.Name))
		if known == nil {
			continue
		}
		what := "the " + string(b.Kind) + " " + b.Name
		switch i := slices.IndexFunc(all, func(a *Actor) bool { return a.ID == known.ID }); {
		case i < 0:
			out = append(out, what+" is gone from the database")
		case !all[i].inborn():
			out = append(out, what+" is "+all[i].Seal().What+" in the database")
		}
	}
	return out, nil
}

// SetBack writes the rows of such actors as the program knows them, and takes away what somebody put in their place.
func (r *Room) SetBack(tx *db.Tx) error {
	for _, b := range builtIn {
		a := r.born(LocalTenant, WellKnown(b.Name))
		if a == nil {
			continue
		}
		if b.Name == MCP { // it keeps the name that it was given
			if _, err := tx.Exec("UPDATE actor SET kind = ?, acts_for = ?, disabled_at = 0 WHERE tenant = ? AND id = ?", a.Kind, a.For, a.Tenant,
				a.ID); err != nil {
				return err
			}
			continue
		}
		if _, err := tx.Exec("DELETE FROM actor WHERE tenant = ? AND name = ? AND id <> ?", a.Tenant, a.Name, a.ID); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO actor (`+actorColumns+`) VALUES (?, ?, ?, ?, ?, ?, 0)
			ON CONFLICT (tenant, id) DO UPDATE SET kind = excluded.kind, name = excluded.name, acts_for = excluded.acts_for, disabled_at = 0`,
			a.Tenant, a.ID, a.Kind, a.Name, a.For, tx.Now()); err != nil {
			return err
		}
	}
	return nil
}
