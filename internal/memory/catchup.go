package memory

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"tandem/internal/db"
)

const (
	embedAtOnce = 200         // records that get their vectors in one change
	followEvery = time.Minute // how long a signature may be held after its record was forgotten on another server
)

// Run reads and makes vectors behind searches, until ctx ends.
func (r *Room) Run(ctx context.Context) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	pointed := make(chan struct{})
	go func() { // a model is slow, and the table waits for none
		defer close(pointed)
		r.runModels(ctx)
	}()
	defer func() { <-pointed }()
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-r.meaning.wake:
			r.catchUp(ctx, w.tenant, w.places)
			r.stirModels()
		case <-tick.C:
			r.followAll(ctx)
		}
	}
}

// followAll reads what changed in all places of which signatures are held.
func (r *Room) followAll(ctx context.Context) {
	for of, f := range r.meaning.held() {
		if l, ok := builtin(); ok && of.table == l.table {
			r.catchUp(ctx, of.tenant, f.places())
		}
	}
}

// catchUp reads what is not in memory yet of the vectors of some places, and makes those that are missing or of another model. It needs
// half a core at most, and goes on where it was when it is cut off. What fails is tried again after the next search.
func (r *Room) catchUp(ctx context.Context, tenant string, numbers []int64) {
	l, ok := builtin()
	if !ok {
		return
	}
	f := r.meaning.tenant(tenant, l)
	places, err := r.readOn(ctx, f, tenant, l, numbers)
	made := false
	for _, p := range places {
		missing := err == nil && f.lacks(p)
		made = made || missing
		for after := int64(0); missing && err == nil; {
			began := time.Now()
			after, missing, err = r.embed(ctx, tenant, l.model, p.nr, after)
			rest(ctx, time.Since(began))
		}
	}
	if made && err == nil {
		_, _ = r.readOn(ctx, f, tenant, l, numbers)
	}
}

// readOn reads the vectors of some places until all are in memory, and lets go of places that are there no more.
func (r *Room) readOn(ctx context.Context, f *followed, tenant string, l layer, numbers []int64) (places []place, err error) {
	err = r.db.Read(ctx, func(tx *db.Tx) error {
		among, arg := tx.Among("nr", numbers)
		rows, err := tx.Query("SELECT nr, seq, texts, tier, of_name FROM memory_place WHERE tenant = ? AND "+among, tenant, arg)
		places, err = db.Collect(rows, err, func(rows *sql.Rows) (p place, err error) {
			return p, rows.Scan(&p.nr, &p.seq, &p.texts, &p.tier, &p.of)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	there := map[int64]bool{}
	for _, p := range places {
		there[p.nr] = true
	}
	f.leave(slices.DeleteFunc(slices.Clone(numbers), func(nr int64) bool { return there[nr] }))
	for all := false; !all && err == nil; {
		all, err = f.follow(r.outside(ctx), tenant, l, places, atOnce)
	}
	return places, err
}

// embed makes the next vectors of a place behind a number, and says up to which they are there.
func (r *Room) embed(ctx context.Context, tenant, model string, place, after int64) (last int64, more bool, err error) {
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		last, more = after, false
		lock := tx.ForUpdate()
		if lock != "" {
			lock += " OF r"
		}
		rows, err := tx.Query("SELECT "+columns+from+`WHERE r.tenant = ? AND r.place = ? AND r.nr > ? AND r.state = 'live' AND NOT EXISTS
			(SELECT 1 FROM memory_vector v WHERE v.tenant = r.tenant AND v.place = r.place AND v.nr = r.nr AND v.model = ?)
			ORDER BY r.nr LIMIT ?`+lock, tenant, place, after, model, embedAtOnce)
		page, err := db.Collect(rows, err, scanRow)
		if err == nil && len(page) > 0 {
			_, err = tx.Exec("UPDATE memory_place SET seq = seq WHERE tenant = ? AND nr = ?", tenant, place) // see sequence
		}
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
