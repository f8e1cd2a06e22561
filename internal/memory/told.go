package memory

import (
	"context"
	"database/sql"
	"slices"

	"tandem/internal/db"
	"tandem/internal/op"
)

// Tell notes that a conversation was told records, and counts it as a use of each that it was not told before.
func Tell(tx *db.Tx, tenant, session string, ids []string) error {
	ids = slices.Clone(ids)
	slices.Sort(ids) // rows are always locked in one order
	for _, id := range slices.Compact(ids) {
		n, err := tx.Changed("INSERT INTO memory_told (tenant, session, id, told_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", tenant, session,
			id, tx.Now())
		if err == nil && n > 0 {
			_, err = tx.Exec("UPDATE memory_record SET uses = uses + 1 WHERE tenant = ? AND id = ?", tenant, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tell notes what a session reads. People are told as often as they ask, and it is no use of a record that they look at it.
func (r *Room) tell(ctx context.Context, ids ...string) error {
	c := op.CallerFrom(ctx)
	if c.Session == "" || people(c) || len(ids) == 0 {
		return nil
	}
	known, err := toldOf(r.outside(ctx), c.Tenant, c.Session)
	if err != nil || !slices.ContainsFunc(ids, func(id string) bool { return !known[id] }) {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error { return Tell(tx, c.Tenant, c.Session, ids) })
}

// toldOf are the records that a conversation was told already.
func toldOf(q asker, tenant, session string) (map[string]bool, error) {
	out := map[string]bool{}
	if session == "" {
		return out, nil
	}
	rows, err := q.Query("SELECT id FROM memory_told WHERE tenant = ? AND session = ?", tenant, session)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		out[id] = true
		return id, err
	})
	return out, err
}

// toldTo are the sessions that were told a record.
func toldTo(q asker, tenant, id string) ([]string, error) {
	rows, err := q.Query("SELECT session FROM memory_told WHERE tenant = ? AND id = ? ORDER BY session LIMIT 100", tenant, id)
	return db.Collect(rows, err, func(rows *sql.Rows) (s string, err error) { return s, rows.Scan(&s) })
}
