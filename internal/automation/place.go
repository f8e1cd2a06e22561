package automation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"tandem/internal/automation/run"
	"tandem/internal/fault"
)

// AtOnce is how many steps of all runs are done at once, where no setting says otherwise.
const AtOnce = 16

// crowd says that a run has more to begin than there are places: then it is looked at again when a step ends.
func (r *Room) crowd(k runKey) {
	now := r.DB.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.crowded[k] = now
}

// settled says that a run had no more to begin when it was looked at: who said otherwise since is heard.
func (r *Room) settled(k runKey, looked time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.crowded[k].After(looked) {
		delete(r.crowded, k)
	}
}

// waiting says whether a run waits for a place.
func (r *Room) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.crowded) > 0
}

// inOrder are the runs to be looked at now, and those that wait for a place: those of the highest priority first, then those of the tenant
// that has the fewest steps under way, then the oldest. Each counts as waiting until it was looked at.
func (r *Room) inOrder(ctx context.Context) (out []runKey, of map[runKey]int, err error) {
	r.mu.Lock()
	out = slices.Collect(maps.Keys(r.dirty))
	for k := range r.crowded {
		if !r.dirty[k] {
			out = append(out, k)
		}
	}
	busy := map[string]int{}
	for j := range r.inHand {
		busy[j.tenant]++
	}
	r.mu.Unlock()
	if len(out) > 1 {
		if of, err = r.priorities(ctx); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(out, func(a, b runKey) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(busy[a.tenant], busy[b.tenant]), cmp.Compare(a.id, b.id))
	})
	return out, of, nil
}

// goOnAll goes on with runs in their order, until one comes between that has a higher priority than those that are left. A run that only
// waits for a place costs nothing while its tenant has none. It says whether one could not go on.
func (r *Room) goOnAll(ctx context.Context, runs []runKey, priority map[runKey]int) (stuck bool, err error) {
	places, failed := map[string]*claims{}, map[runKey]bool{}
	for i, k := range runs {
		if places[k.tenant] == nil {
			places[k.tenant] = r.claims(k.tenant)
			if err := places[k.tenant].look(ctx); err != nil {
				return stuck, err
			}
		}
		told, passed := r.turnOfRun(k, priority, func(other runKey) bool { return failed[other] || slices.Contains(runs[i:], other) })
		if passed {
			r.rouse()
			return stuck, nil
		}
		if !told && !places[k.tenant].room() {
			continue
		}
		switch err := r.goOn(ctx, k); {
		case fault.Is(err, fault.NotFound):
			r.settled(k, r.DB.Now())
		case err != nil && ctx.Err() == nil:
			r.Log.Error("a run cannot go on", "run", k.id, "err", err)
			r.mu.Lock()
			r.dirty[k] = true
			r.mu.Unlock()
			stuck, failed[k] = true, true
		}
	}
	return stuck, nil
}

// turnOfRun begins to look at a run: told says that something happened in it. It is passed where something happened meanwhile in one of a
// higher priority, other than those whose turn still comes.
func (r *Room) turnOfRun(k runKey, priority map[runKey]int, comes func(runKey) bool) (told, passed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.dirty {
		if priority[other] > priority[k] && !comes(other) {
			return false, true
		}
	}
	told = r.dirty[k]
	delete(r.dirty, k) // what is told from now on is told again
	return told, false
}

// dueNow has the runs looked at in which a moment has come. One that waits for a place is not looked at again for every moment: later says
// that such a run is looked at when a place is free, or a second has passed.
func (r *Room) dueNow(due []*runRow, now time.Time) (later bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range due {
		k := runKey{row.tenant, row.id}
		if at, waits := r.crowded[k]; waits && now.Before(at.Add(elsewhere)) && (row.wake.IsZero() || row.wake.After(now)) {
			later = true
			continue
		}
		r.dirty[k] = true
	}
	return later
}

// priorities are those of the open runs that have one.
func (r *Room) priorities(ctx context.Context) (map[runKey]int, error) {
	out := map[runKey]int{}
	rows, err := r.DB.Query(ctx, "SELECT tenant, id, priority FROM automation_run WHERE ended_at = 0 AND priority <> 0")
	if err != nil {
		return out, err
	}
	defer rows.Close()
	for rows.Next() {
		var k runKey
		var n int
		if err := rows.Scan(&k.tenant, &k.id, &n); err != nil {
			return out, err
		}
		out[k] = n
	}
	return out, rows.Err()
}

// dueAt has the loop awake at a moment that became known while it may sleep.
func (r *Room) dueAt(t time.Time) {
	if t.IsZero() {
		return
	}
	r.mu.Lock()
	r.soonest = earliest(r.soonest, t)
	late := t.Before(r.sleeps)
	r.mu.Unlock()
	if late {
		r.rouse()
	}
}

// sleep is how long the loop sleeps that would sleep for so long: no longer than until what became known meanwhile is due.
func (r *Room) sleep(wait time.Duration) time.Duration {
	now := r.DB.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.soonest.IsZero() {
		wait = min(wait, max(10*time.Millisecond, r.soonest.Sub(now)))
	}
	r.sleeps = now.Add(wait)
	return wait
}

// awake forgets when something is due: whoever calls it reads all of that from the database.
func (r *Room) awake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.soonest, r.sleeps = time.Time{}, time.Time{}
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// next claims what a run has to do after a step, in the change that ends the step. Where other runs wait for its place it does not: all are
// looked at in their order.
func (r *Room) next(ctx context.Context, h *held, c *claims) error {
	k := runKey{h.tenant, h.id}
	r.mu.Lock()
	busy, _ := r.taken("")
	waited := len(r.crowded) > 0 || len(r.dirty) > 0 && busy+1 >= c.all
	r.mu.Unlock()
	if waited || h.run.Status != run.Running || !r.Ours() {
		h.tx.AfterCommit(func() { r.stir(k) })
		return nil
	}
	err := r.claimAll(ctx, h, c)
	if c.more {
		h.tx.AfterCommit(func() { r.crowd(k); r.rouse() })
	}
	return err
}
