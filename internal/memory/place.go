package memory

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// Limits of places. Every reader looks at all of them but those of sessions, of which a reader looks at one. Those who propose fill half
// of the room at most: the rest is left for people.
const (
	maxPlaces   = 4000
	maxProposed = maxPlaces / 2
	maxOwn      = 100 // in which proposals of one author wait
)

// placed is the number of a place, which is made when it is new. It stays until the change is done: who empties it waits.
func placed(ctx context.Context, tx *db.Tx, t wire.Tier, of string, state wire.State) (nr int64, err error) {
	c := op.CallerFrom(ctx)
	const look = "SELECT nr FROM memory_place WHERE tenant = ? AND tier = ? AND of_name = ?"
	if err = tx.QueryRow(look+tx.ForUpdate(), c.Tenant, string(t), of).Scan(&nr); !db.NoRows(err) {
		return nr, err
	}
	if nr, err = number(tx, c.Tenant); err != nil {
		return 0, err
	}
	if err := hasRoom(tx, c, t, state); err != nil {
		return 0, err
	}
	n, err := tx.Changed("INSERT INTO memory_place (tenant, nr, tier, of_name, texts, length) VALUES (?, ?, ?, ?, 0, 0) "+
		"ON CONFLICT (tenant, tier, of_name) DO NOTHING", c.Tenant, nr, string(t), of)
	if err == nil && n == 0 {
		err = db.ErrAgain
	}
	return nr, err
}

// hasRoom refuses a place more than there may be.
func hasRoom(tx *db.Tx, c op.Caller, t wire.Tier, state wire.State) error {
	most := maxPlaces
	if state == wire.Proposed {
		most = maxProposed
		var own int
		if err := tx.QueryRow("SELECT count(DISTINCT place) FROM memory_record WHERE tenant = ? AND actor = ? AND state = 'proposed'", c.Tenant,
			c.Actor).Scan(&own); err != nil {
			return err
		}
		if own >= maxOwn {
			return fault.New(fault.Exhausted, "memory.propose", "proposals of yours wait in %d places already", own).
				WithNext("propose it where others lie, or ask a person to look at them: tandem memory list --state proposed")
		}
	}
	if t == wire.OfSession {
		return nil
	}
	var all int
	if err := tx.QueryRow("SELECT count(*) FROM memory_place WHERE tenant = ? AND tier <> 'session'", c.Tenant).Scan(&all); err != nil {
		return err
	}
	if all >= most {
		return fault.New(fault.Exhausted, "memory", "there are %d projects and collections with memory already", all).
			WithNext("choose one that is there, or have a person move what lies in one to another")
	}
	return nil
}

// vacate deletes a place that holds no record any more. The row is locked first, so that a record that comes there meanwhile is seen.
func vacate(tx *db.Tx, tenant string, nr int64) error {
	var held int64
	err := tx.QueryRow("SELECT nr FROM memory_place WHERE tenant = ? AND nr = ?"+tx.ForUpdate(), tenant, nr).Scan(&held)
	if db.NoRows(err) {
		return nil
	}
	var left int64
	if err == nil {
		left, err = tx.Changed(`DELETE FROM memory_place WHERE tenant = ? AND nr = ?
			AND NOT EXISTS (SELECT 1 FROM memory_record WHERE tenant = ? AND place = ?)`, tenant, nr, tenant, nr)
	}
	if err == nil && left > 0 {
		_, err = tx.Exec("DELETE FROM memory_vector WHERE tenant = ? AND place = ?", tenant, nr)
	}
	if err == nil && left > 0 {
		_, err = tx.Exec("DELETE FROM memory_pointed WHERE tenant = ? AND place = ?", tenant, nr)
	}
	return err
}
