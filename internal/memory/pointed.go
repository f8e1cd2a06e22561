package memory

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"tandem/internal/db"
)

// How many records a model sees at once: of a provider's in one call.
const (
	seenAtOnce = 8
	sentAtOnce = 64
	sweptOnce  = 1000
	turnOf     = 20 * time.Second // so long records of one tenant are shown, before it is another's turn
)

// stirModels has what a model has not seen looked for, when nobody does that already.
func (r *Room) stirModels() {
	select {
	case r.pointer <- struct{}{}:
	default:
	}
}

// runModels tries models that were chosen and shows them records, tenant by tenant, until ctx ends. It needs half a core at most, and goes
// on where it was after a crash. What fails is tried again a minute later.
func (r *Room) runModels(ctx context.Context) {
	if r.Models.Ask == nil {
		return
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		r.pointAll(ctx)
		r.engines.letGo(r.db.Now())
		select {
		case <-ctx.Done():
			return
		case <-r.pointer:
		case <-tick.C:
		}
	}
}

// pointAll does what there is to do now.
func (r *Room) pointAll(ctx context.Context) {
	all, err := choices(r.outside(ctx), "")
	for _, c := range all {
		if err != nil || ctx.Err() != nil {
			return
		}
		if !r.Models.Vouch.Holds(ctx, c.seal()) {
			continue
		}
		if c.name == "" && c.problem == "" {
			if err = r.try(ctx, c); err != nil || c.name == "" {
				continue
			}
		}
		if c.name != "" {
			trouble := r.again(ctx, c)
			if trouble == nil {
				trouble = r.showAll(ctx, c)
			}
			if ctx.Err() == nil {
				r.engines.note(c.tenant, trouble)
			}
		}
	}
	if err == nil {
		r.tidy(all)
		r.meaning.only(all)
		r.sweep(ctx, all)
	}
}

// sweep deletes vectors of tenants that chose no model any more, some at a time. Whether there are such is only read: it is asked often.
func (r *Room) sweep(ctx context.Context, all []*chosen) {
	for after := ""; ctx.Err() == nil; {
		err := r.db.QueryRow(ctx, "SELECT coalesce(min(tenant), '') FROM memory_pointed WHERE tenant > ?", after).Scan(&after)
		if err != nil || after == "" {
			return
		}
		left := !slices.ContainsFunc(all, func(c *chosen) bool { return c.tenant == after })
		for left && err == nil && ctx.Err() == nil {
			left, err = r.sweepSome(ctx, after)
		}
	}
}

// sweepSome deletes vectors of a tenant that still has no model, and says whether more may be left.
func (r *Room) sweepSome(ctx context.Context, tenant string) (more bool, err error) {
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(`SELECT place, nr FROM memory_pointed WHERE tenant = ? AND NOT EXISTS
			(SELECT 1 FROM memory_model m WHERE m.tenant = ?) LIMIT ?`, tenant, tenant, sweptOnce)
		type key struct{ place, nr int64 }
		keys, err := db.Collect(rows, err, func(rows *sql.Rows) (k key, err error) { return k, rows.Scan(&k.place, &k.nr) })
		for _, k := range keys {
			if err == nil {
				_, err = tx.Exec("DELETE FROM memory_pointed WHERE tenant = ? AND place = ? AND nr = ?", tenant, k.place, k.nr)
			}
		}
		more = len(keys) == sweptOnce
		return err
	})
	return more, err
}

// showAll shows a model all records that it has not seen and may see, and reads into memory what it said.
func (r *Room) showAll(ctx context.Context, c *chosen) error {
	until := time.Now().Add(turnOf)
	rows, err := r.db.Query(ctx, "SELECT nr FROM memory_place WHERE tenant = ? AND texts > 0", c.tenant)
	numbers, err := db.Collect(rows, err, func(rows *sql.Rows) (nr int64, err error) { return nr, rows.Scan(&nr) })
	if err != nil {
		return err
	}
	f := r.meaning.tenant(c.tenant, c.layer())
	places, err := r.readOn(ctx, f, c.tenant, c.layer(), append(numbers, f.places()...))
	made := false
	for _, p := range places {
		if err == nil && f.lacks(p) {
			made = true
			err = r.showPlace(ctx, c, p, until)
		}
	}
	if made {
		if _, failed := r.readOn(ctx, f, c.tenant, c.layer(), numbers); err == nil {
			err = failed
		}
	}
	return err
}

// showPlace shows a model the records of a place, unless they may not leave the house. When its time is over it goes on after others.
func (r *Room) showPlace(ctx context.Context, c *chosen, p place, until time.Time) error {
	out, err := r.leaves(ctx, c)
	if err != nil {
		return err
	}
	most := sentAtOnce
	if c.kind == ofFiles {
		most = seenAtOnce
	}
	for after, more := int64(0), true; more; {
		if goes, err := r.goes(ctx, c, out, p); err != nil || !goes { // asked each time: a label holds from now on
			return err
		}
		began := time.Now()
		if began.After(until) {
			r.stirModels()
			return nil
		}
		page, err := r.unseen(ctx, c, p.nr, after, most)
		if err != nil || len(page) == 0 {
			return err
		}
		after, more = page[len(page)-1].nr, len(page) == most
		if more, err = r.showPage(ctx, c, page, more); err != nil {
			return err
		}
		rest(ctx, time.Since(began))
	}
	return ctx.Err()
}

func (r *Room) goes(ctx context.Context, c *chosen, out bool, p place) (bool, error) {
	if !out {
		return true, nil
	}
	return r.Models.Goes(ctx, c.tenant, at(p.tier, p.of))
}

// unseen are the next records of a place that a model has not seen.
func (r *Room) unseen(ctx context.Context, c *chosen, place, after int64, most int) ([]*row, error) {
	rows, err := r.db.Query(ctx, "SELECT "+columns+from+`WHERE r.tenant = ? AND r.place = ? AND r.nr > ? AND r.state = 'live' AND NOT EXISTS
		(SELECT 1 FROM memory_pointed v WHERE v.tenant = r.tenant AND v.place = r.place AND v.nr = r.nr AND v.model = ?)
		ORDER BY r.nr LIMIT ?`, c.tenant, place, after, c.name, most)
	return db.Collect(rows, err, scanRow)
}

// showPage shows a model some records of one place, and stores what it said of those that are still what they were. It goes on no more when
// another model was chosen meanwhile.
func (r *Room) showPage(ctx context.Context, c *chosen, page []*row, more bool) (bool, error) {
	texts := make([]string, len(page))
	for i, rec := range page {
		texts[i] = rec.Text
	}
	all, err := r.point(ctx, c, c.tells, texts)
	if err != nil {
		return false, err
	}
	return more, r.db.Write(ctx, func(tx *db.Tx) error {
		now, err := choice(tx, c.tenant)
		if err != nil || now == nil || now.name != c.name {
			more = false
			return err
		}
		var still []int64
		among, arg := tx.Among("nr", numbersOf(page))
		rows, err := tx.Query("SELECT nr, digest FROM memory_record WHERE tenant = ? AND place = ? AND state = 'live' AND "+among+
			" ORDER BY nr"+tx.ForUpdate(),
			c.tenant, page[0].place, arg)
		_, err = db.Collect(rows, err, func(rows *sql.Rows) (_ struct{}, err error) {
			var nr int64
			var digest string
			err = rows.Scan(&nr, &digest)
			if slices.ContainsFunc(page, func(r *row) bool { return r.nr == nr && r.digest == digest }) {
				still = append(still, nr)
			}
			return struct{}{}, err
		})
		if err == nil {
			_, err = tx.Exec("UPDATE memory_place SET seq = seq WHERE tenant = ? AND nr = ?", c.tenant, page[0].place) // see sequence
		}
		for i, rec := range page {
			if err == nil && slices.Contains(still, rec.nr) {
				err = storeNext(tx, c.tenant, rec, c.layer(), c.direction(all[i]))
			}
		}
		return err
	})
}

func numbersOf(page []*row) []int64 {
	out := make([]int64, len(page))
	for i, r := range page {
		out[i] = r.nr
	}
	return out
}
