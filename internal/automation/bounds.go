package automation

import (
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// How many runs there are. What ended long ago goes when new ones begin: what it did stays in the journal.
const (
	maxOpen = 5000 // of a tenant, that have not ended
	maxFrom = 2000 // of those, begun by one
	kept    = 2000 // of one automation, that have ended
)

// roomFor refuses a run more than there may be, and lets the oldest go that ended.
func roomFor(tx *db.Tx, c op.Caller, name string) error {
	var all, own int
	if err := tx.QueryRow("SELECT count(*), COALESCE(SUM(CASE WHEN made_by = ? THEN 1 ELSE 0 END), 0) FROM automation_run "+
		"WHERE tenant = ? AND ended_at = 0", c.Name, c.Tenant).Scan(&all, &own); err != nil {
		return err
	}
	if all >= maxOpen || own >= maxFrom {
		return fault.New(fault.Exhausted, string(wire.Begin), "%d runs are open, %d of them begun by %s: there may be %d and %d", all, own,
			c.Name, maxOpen, maxFrom).With(noPlace, name).
			WithNext("wait until some have ended, or cancel them: tandem automation runs list")
	}
	var last string
	err := tx.QueryRow("SELECT id FROM automation_run WHERE tenant = ? AND name = ? AND ended_at > 0 ORDER BY id DESC LIMIT 1 OFFSET ?",
		c.Tenant, name, kept).Scan(&last)
	if db.NoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	const those = "tenant = ? AND name = ? AND ended_at > 0 AND id <= ?"
	for _, table := range []string{"automation_event", "automation_step"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND run IN (SELECT id FROM automation_run WHERE "+those+")", c.Tenant,
			c.Tenant,
			name, last); err != nil {
			return err
		}
	}
	_, err = tx.Exec("DELETE FROM automation_run WHERE "+those, c.Tenant, name, last)
	return err
}
