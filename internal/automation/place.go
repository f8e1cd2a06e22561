package automation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"tandem/internal/automation/run"
)

// AtOnce is how many steps of all runs are done at once, where no setting says otherwise.
const AtOnce = 16

// places is how many more steps of a tenant may be begun. Where others have automations, too, one tenant has three quarters of the places
// at most: long steps of one keep nobody else from beginning.
func (r *Room) places(ctx context.Context, tenant string) (int, error) {
	all := r.AtOnce()
	r.mu.Lock()
	busy, own := len(r.inHand), 0
	for j := range r.inHand {
		if j.tenant == tenant {
			own++
		}
	}
	r.mu.Unlock()
	share := max(1, all*3/4)
	if all-busy <= 0 || own < share {
		return min(all-busy, all), nil
	}
	var tenants int
	err := r.DB.QueryRow(ctx, "SELECT count(DISTINCT tenant) FROM automation WHERE live <> ''").Scan(&tenants)
	if err == nil && tenants > 1 {
		return share - own, nil
	}
	return all - busy, err
}

// crowd has a run looked at again when a step ends: it has more to begin than there are places.
func (r *Room) crowd(k runKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.crowded[k] = true
}

// todo are the runs to be looked at now: those of the highest priority first, then those of the tenant that has the fewest steps under way,
// then the oldest. Those that only wait for a place are looked at where there is one.
func (r *Room) todo(ctx context.Context) ([]runKey, error) {
	r.mu.Lock()
	free := r.AtOnce() - len(r.inHand)
	all := len(r.dirty) + len(r.crowded)
	r.mu.Unlock()
	var of map[runKey]int
	if all > 1 && all > free {
		var err error
		if of, err = r.priorities(ctx); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Collect(maps.Keys(r.dirty))
	for k := range r.crowded {
		if free > 0 && !r.dirty[k] {
			out = append(out, k)
		}
		if free > 0 || r.dirty[k] {
			delete(r.crowded, k)
		}
	}
	r.dirty = map[runKey]bool{}
	busy := map[string]int{}
	for j := range r.inHand {
		busy[j.tenant]++
	}
	slices.SortFunc(out, func(a, b runKey) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(busy[a.tenant], busy[b.tenant]), cmp.Compare(a.id, b.id))
	})
	return out, nil
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

// next claims what a run has to do after a step, in the change that ends the step. While runs wait for a place it does not: they are
// looked at in their order.
func (r *Room) next(ctx context.Context, h *held, free int) ([]*job, error) {
	r.mu.Lock()
	waited := len(r.crowded) > 0
	r.mu.Unlock()
	if waited || h.run.Status != run.Running || !r.Ours() {
		h.tx.AfterCommit(func() { r.stir(runKey{h.tenant, h.id}) })
		return nil, nil
	}
	jobs, more, err := r.claimAll(ctx, h, free)
	if more {
		h.tx.AfterCommit(func() { r.crowd(runKey{h.tenant, h.id}); r.rouse() })
	}
	return jobs, err
}
