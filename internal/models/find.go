package models

import (
	"context"
	"database/sql"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/provider/catalog"
)

// customs are the providers that were added, as far as the journal vouches for them: a key goes where its row says.
func (r *Room) customs(ctx context.Context, tenant string) ([]catalog.Entry, error) {
	rows, err := r.db.Query(ctx, "SELECT "+providerColumns+" FROM session_provider WHERE tenant = ? ORDER BY id", tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (catalog.Entry, error) { return scanProvider(rows) })
	return slices.DeleteFunc(all, func(e catalog.Entry) bool { return !r.vouch.Holds(ctx, sealProvider(e, tenant)) }), err
}

// entry finds a provider: one that was added, else a preset. One that was added and is not there as it was added is never taken for the
// preset of its name: what is meant for a gateway would go to the public address, with the gateway's key.
func (r *Room) entry(ctx context.Context, tenant, id string) (catalog.Entry, bool, error) {
	e, err := scanProvider(r.db.QueryRow(ctx, "SELECT "+providerColumns+" FROM session_provider WHERE tenant = ? AND id = ?", tenant, id))
	switch {
	case err == nil && r.vouch.Holds(ctx, sealProvider(e, tenant)):
		return e, true, nil
	case err == nil || db.NoRows(err) && r.vouch.Knows(tenant, providerSubject(id)):
		return catalog.Entry{}, false, fault.New(fault.Denied, "provider", "the provider %.60s is in the database not as it was added", id).
			WithNext("see what was changed: tandem audit verify; then add it anew: tandem provider remove %.60s", id)
	case !db.NoRows(err):
		return catalog.Entry{}, false, err
	}
	if e, ok := catalog.Find(id); ok {
		return e, false, nil
	}
	return catalog.Entry{}, false, noProvider(id)
}

func noProvider(id string) error {
	return fault.New(fault.NotFound, "provider", "there is no provider %.60s", id).WithNext("list what there is: tandem provider list")
}

// Known refuses models that nobody offers: every turn with one would fail.
func Known(tx *db.Tx, tenant string, models ...string) error {
	for _, m := range models {
		id, _, _ := catalog.Split(m)
		if _, err := baseOf(tx, tenant, id); err != nil {
			return err
		}
	}
	return nil
}

// baseOf is a provider's address, for a change that depends on it.
func baseOf(tx *db.Tx, tenant, id string) (base string, err error) {
	err = tx.QueryRow("SELECT base FROM session_provider WHERE tenant = ? AND id = ?"+tx.ForUpdate(), tenant, id).Scan(&base)
	if !db.NoRows(err) {
		return base, err
	}
	e, ok := catalog.Find(id)
	if !ok {
		return "", noProvider(id)
	}
	return e.Base, nil
}
