package automation

import (
	"context"
	"maps"
	"slices"
	"time"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/db"
)

// How steps are done.
const (
	lease   = time.Minute      // of a claim; renewed while it lasts
	renews  = 20 * time.Second // how often
	longest = time.Minute      // how long nothing is looked at: the machine's clock may be set
	again   = 5 * time.Second  // after how long what could not be stored is tried again
)

type runKey struct{ tenant, id string }

// job is one attempt in the hands of this server.
type job struct {
	runKey
	name      string
	version   *version
	step      stepRow
	node      *spec.Node
	body      *spec.Body
	inputs    map[string]any
	artifacts map[string]bool // which inputs are artifacts, named and not yet read
	notes     []string
	refused   string // what a check said of the attempt before
	ai        bool   // a model had a hand in what it makes
	heard     [][]string
	ends      time.Time     // of a gate: until when it can be answered
	escalated bool          // nobody answered it in time
	strict    bool          // a person is asked before it acts
	tokens    int64         // that the run could still use when the attempt was begun
	cost      float64       // the same in dollars
	handed    *run.Handover // of a wait: what somebody handed over, to be kept
	again     bool          // somebody had it before, and may have acted
	left      bool          // its work is done, and its place is another step's
}

// stir has a run looked at soon.
func (r *Room) stir(k runKey) {
	r.mu.Lock()
	r.dirty[k] = true
	r.mu.Unlock()
	r.rouse()
}

func (r *Room) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run goes on with all runs until ctx ends, and waits for the steps that it began.
func (r *Room) Run(ctx context.Context) {
	if err := r.stirAll(ctx); err != nil && ctx.Err() == nil {
		r.Log.Error("runs cannot be read", "err", err)
	}
	if err := r.openTurns(ctx); err != nil && ctx.Err() == nil {
		r.Log.Error("turns of runs cannot be read", "err", err)
	}
	defer r.working.Wait()
	r.working.Go(func() { r.watchAll(ctx) })
	renewed := time.Now()
	for ctx.Err() == nil {
		r.awake()
		wait := r.pass(ctx)
		if r.busy() > 0 {
			wait = min(wait, renews)
			if time.Since(renewed) >= renews {
				r.renew(ctx)
				renewed = time.Now()
			}
		}
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-time.After(r.sleep(wait)):
		}
	}
}

func (r *Room) busy() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.inHand)
}

// holds reports whether an attempt is being done here, however late its claim is renewed.
func (r *Room) holds(s *stepRow) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for j := range r.inHand {
		if h := &j.step; h.run == s.run && h.node == s.node && h.item == s.item && h.attempt == s.attempt && h.fence == s.fence {
			return true
		}
	}
	return false
}

// Busy reports whether a step is being done, or something will be due by itself.
func (r *Room) Busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.inHand) > 0 || r.waits || r.watches
}

// renew renews the claims of what is being done here, and no others: a claim of which nobody here knows runs out and is taken over.
func (r *Room) renew(ctx context.Context) {
	r.mu.Lock()
	jobs := slices.Collect(maps.Keys(r.inHand))
	r.mu.Unlock()
	over := map[runKey]bool{}
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		for _, j := range jobs {
			s := &j.step
			wanted, err := stillWanted(tx, j)
			if err != nil {
				return err
			}
			if !wanted {
				over[j.runKey] = true
				continue
			}
			if _, err := tx.Exec("UPDATE automation_step SET lease_until = ? WHERE "+stepKey+" AND fence = ? AND state = ?", tx.Now().Add(lease),
				s.tenant, s.run, s.node, s.item, s.attempt, s.fence, claimed); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.Log.Error("claims of steps cannot be renewed", "err", err)
	}
	r.end(func(j *job) bool { return over[j.runKey] })
}

// stirAll has every run looked at by the next pass that is not over.
func (r *Room) stirAll(ctx context.Context) error {
	open, err := collectRuns(r.DB.Query(ctx, "SELECT "+runColumns+" FROM automation_run WHERE ended_at = 0"))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range open {
		r.dirty[runKey{row.tenant, row.id}] = true
	}
	return err
}

// elsewhere is how often a server that shares the database looks for what another one began.
const elsewhere = time.Second

// pass goes on with whatever can go on now, and says how long nothing else will.
func (r *Room) pass(ctx context.Context) time.Duration {
	for _, do := range []func(context.Context) error{r.hearTurns, r.count} {
		if err := do(ctx); err != nil {
			return r.stumble(ctx, err)
		}
	}
	if !r.Ours() {
		return elsewhere
	}
	for _, do := range []func(context.Context) error{r.hush, r.closeVacant, r.orphans, r.abreast} {
		if err := do(ctx); err != nil {
			return r.stumble(ctx, err)
		}
	}
	if r.Shared {
		if err := r.stirAll(ctx); err != nil {
			return r.stumble(ctx, err)
		}
	}
	for _, do := range []func(context.Context) error{r.fire, r.listen} {
		if err := do(ctx); err != nil {
			return r.stumble(ctx, err)
		}
	}
	now := r.DB.Now()
	due, err := collectRuns(r.DB.Query(ctx, "SELECT "+runColumns+` FROM automation_run WHERE ended_at = 0 AND (wake_at > 0 AND wake_at <= ?
		OR status = ? AND EXISTS (SELECT 1 FROM automation_step s WHERE (s.state = ? AND s.look_at <= ? OR s.state = ? AND s.lease_until < ?)
			AND s.tenant = automation_run.tenant AND s.run = automation_run.id))`, now, run.Running, parked, now, claimed, now))
	if err != nil {
		return r.stumble(ctx, err)
	}
	later := r.dueNow(due, now)
	runs, priority, err := r.inOrder(ctx)
	if err != nil {
		return r.stumble(ctx, err)
	}
	stuck, err := r.goOnAll(ctx, runs, priority)
	if err != nil {
		return r.stumble(ctx, err)
	}
	var wake, look, tick int64
	err = r.DB.QueryRow(ctx, "SELECT COALESCE(MIN(wake_at), 0) FROM automation_run WHERE ended_at = 0 AND wake_at > 0").Scan(&wake)
	if err == nil {
		err = r.DB.QueryRow(ctx, `SELECT COALESCE(MIN(s.look_at), 0) FROM automation_step s JOIN automation_run r ON r.tenant = s.tenant
			AND r.id = s.run WHERE s.state = ? AND r.status = ?`, parked, run.Running).Scan(&look)
	}
	if err == nil {
		err = r.DB.QueryRow(ctx, "SELECT COALESCE(MIN(next_at), 0) FROM automation_trigger WHERE next_at > 0").Scan(&tick)
	}
	if err != nil {
		return r.stumble(ctx, err)
	}
	r.mu.Lock()
	r.waits = wake > 0 || look > 0 || tick > 0
	r.mu.Unlock()
	wait := longest
	if r.Shared {
		wait = min(wait, elsewhere)
	}
	if later || r.waiting() {
		wait = min(wait, elsewhere)
		if look > 0 && !db.Time(look).After(now) { // a step that waits for a place
			look = 0
		}
	}
	for _, t := range []int64{wake, look, tick} {
		if t > 0 {
			wait = min(wait, max(10*time.Millisecond, db.Time(t).Sub(r.DB.Now())))
		}
	}
	if t := r.restsUntil(); !t.IsZero() {
		wait = min(wait, max(10*time.Millisecond, t.Sub(r.DB.Now())))
	}
	if stuck { // whatever is due in what cannot go on
		return again
	}
	return wait
}

func (r *Room) stumble(ctx context.Context, err error) time.Duration {
	if ctx.Err() == nil {
		r.Log.Error("runs cannot be looked at", "err", err)
	}
	return time.Second
}
