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
	f := r.meaning.tenant(tenant)
	err := r.readOn(ctx, f, tenant, table.Model)
	var live int
	if err == nil {
		err = r.db.QueryRow(ctx, "SELECT coalesce(sum(texts), 0) FROM memory_place WHERE tenant = ?", tenant).Scan(&live)
	}
	f.mu.Lock()
	missing := f.Len() < live
	f.mu.Unlock()
	for after := int64(0); missing && err == nil; {
		began := time.Now()
		after, missing, err = r.embed(ctx, tenant, table.Model, after)
		rest(ctx, time.Since(began))
	}
	if err == nil {
		_ = r.readOn(ctx, f, tenant, table.Model)
	}
}

// readOn reads vectors until all are in memory.
func (r *Room) readOn(ctx context.Context, f *followed, tenant, model string) (err error) {
	for all := false; !all && err == nil; {
		all, err = f.follow(r.outside(ctx), tenant, model, atOnce)
	}
	return err
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
