package journal

import (
	"context"

	"tandem/internal/db"
)

// floors are the entries that were written before a view began: what it sees of these rows is not older.
type floors struct {
	least map[place]int64
	again bool // an entry was met that may be younger than the view
}

type floorsKey struct{}

// View is one consistent look at the database for whoever holds rows against their seals. Memory runs ahead of a view that began before:
// where an entry that this process wrote is not in it, fn is called again with a view that began after that entry. Only what is not there
// then was taken out.
func (j *Journal) View(ctx context.Context, fn func(tx *db.Tx) error) error {
	f := &floors{least: map[place]int64{}}
	for {
		f.again = false
		if err := j.db.Read(context.WithValue(ctx, floorsKey{}, f), fn); !f.again || ctx.Err() != nil {
			return err
		}
	}
}

// reaches reports whether the newest entry about a row that a transaction sees is the newest that this process wrote about it.
func (j *Journal) reaches(tx *db.Tx, at place, seq int64) bool {
	seen := j.standing.seen(at.tenant, at.subject)
	f, _ := tx.Context().Value(floorsKey{}).(*floors)
	if seq >= seen || f == nil {
		return seq >= seen
	}
	if least, known := f.least[at]; known {
		return seq >= least
	}
	f.least[at], f.again = seen, true
	return false
}
