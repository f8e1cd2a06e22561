package memory

import (
	"context"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory/vector"
)

// embedAtOnce is how many records get their vectors in one change.
const embedAtOnce = 200

// catchUp reads what is not in memory yet of a tenant's vectors, and makes those that are missing or of another model. It needs half a
// core at most, and goes on where it was when it is cut off. What fails is tried again after the next search.
func (r *Room) catchUp(ctx context.Context, tenant string) {
	table := vector.Builtin()
	if table == nil {
		return
	}
	var err error
	for after, more := int64(0), true; more && err == nil; {
		began := time.Now()
		after, more, err = r.embed(ctx, tenant, table.Model, after)
		rest(ctx, time.Since(began))
	}
	f := r.meaning.tenant(tenant)
	for all := false; !all && err == nil; {
		f.mu.Lock()
		all, err = f.follow(r.outside(ctx), tenant, table.Model, atOnce)
		f.mu.Unlock()
	}
}

// embed makes the next vectors behind a number, and says up to which they are there.
func (r *Room) embed(ctx context.Context, tenant, model string, after int64) (last int64, more bool, err error) {
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		last, more = after, false
		lock := tx.ForUpdate()
		if lock != "" {
			lock += " OF r"
		}
		rows, err := tx.Query("SELECT "+columns+from+`WHERE r.tenant = ? AND r.nr > ? AND r.state = 'live' AND NOT EXISTS
			(SELECT 1 FROM memory_vector v WHERE v.tenant = r.tenant AND v.place = r.place AND v.nr = r.nr AND v.model = ?)
			ORDER BY r.nr LIMIT ?`+lock, tenant, after, model, embedAtOnce)
		page, err := db.Collect(rows, err, scanRow)
		for _, rec := range page {
			if err == nil {
				err = putVector(tx, tenant, rec)
			}
			last = rec.nr
		}
		more = len(page) == embedAtOnce
		return err
	})
	return last, more, err
}

func rest(ctx context.Context, long time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
}
