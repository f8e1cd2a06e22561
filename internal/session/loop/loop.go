package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/approval"
	"tandem/internal/connector"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/session"
)

// Runner is the driver of sessions with models.
type Runner struct {
	room    *session.Room
	gate    *gate.Gate
	journal *journal.Journal
	log     *slog.Logger

	// Connectors are outside servers whose tools sessions can be given; nil for none.
	Connectors *connector.Room
	// Patience bounds how long a failed model call is waited for in place; Tries how often it is made.
	Patience time.Duration
	Tries    int

	mu       sync.Mutex
	base     context.Context
	working  map[string]*worker
	all      sync.WaitGroup
	inflight map[string]func(ctx context.Context) (ModelOut, error)
	shut     atomic.Bool // turns wait for a tenant to be resumed
}

// worker is a session whose turns are being run.
type worker struct {
	again  bool
	cancel context.CancelCauseFunc
}

var _ session.Driver = (*Runner)(nil)

var (
	errCancelled = errors.New("the turn was cancelled")
	errStopping  = errors.New("the server is stopping")
)

// New makes the driver. It does nothing until Run.
func New(room *session.Room, log *slog.Logger) *Runner {
	return &Runner{room: room, log: log, Patience: time.Minute, Tries: 4, working: map[string]*worker{},
		inflight: map[string]func(context.Context) (ModelOut, error){}}
}

// Through gives the driver its gate, which is made after the operations it runs.
func (r *Runner) Through(g *gate.Gate, j *journal.Journal) {
	r.gate, r.journal = g, j
	r.room.Through(session.House{Invoker: g, May: g.May, All: g.Table().All, Sight: g.Sight, Tool: g.Tool, Still: g.Still})
}

// Run continues every open turn, then serves until ctx ends, and returns when the last worker has put its turn down.
func (r *Runner) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer r.all.Wait()
	defer stop(errStopping)
	var head int64
	err := r.room.Begin(ctx, r.away, func() (err error) { head, err = r.begin(ctx); return err })
	switch {
	case ctx.Err() != nil: // stopped before it had begun
		return nil
	case err != nil:
		return err
	}
	return r.watch(ctx, head)
}

func (r *Runner) away(err error) { r.log.Warn("sessions wait for the database", "err", err) }

// begin closes what a crash left open and wakes the turns that were at work. It says from where in the journal to watch.
func (r *Runner) begin(ctx context.Context) (head int64, err error) {
	if head, err = r.journal.Head(ctx); err != nil {
		return 0, err
	}
	if err := r.room.CutParts(ctx, r.uncut); err != nil {
		return 0, fmt.Errorf("close what a crash left open: %w", err)
	}
	if err := r.room.Aside.SettleLeft(ctx); err != nil {
		r.log.Error("look for what a command that was cut off left behind", "err", err)
	}
	r.mu.Lock()
	r.base = ctx
	r.mu.Unlock()
	return head, r.wakeOpen(ctx)
}

func (r *Runner) wakeOpen(ctx context.Context) error {
	open, err := r.room.Open(ctx, session.DriverModel)
	for _, s := range open {
		r.Wake(s.Tenant, s.ID)
	}
	return err
}

// watch wakes turns whose asks were answered, and, once a minute, those whose asks may have expired and those of tenants that were
// suspended.
func (r *Runner) watch(ctx context.Context, head int64) error {
	for {
		wait, cancel := context.WithTimeout(ctx, time.Minute)
		err := r.journal.WaitAbout(wait, head, "approval")
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && r.shut.Swap(false) {
			if err := r.wakeOpen(ctx); err != nil {
				r.shut.Store(true)
			}
		}
		now := max(head, r.journal.Latest()) // before the turns: what is answered from here on is heard the next time
		turns, errTurns := r.room.Waiting(ctx)
		if ctx.Err() != nil { // it stopped while it looked, which is no failure
			return nil
		}
		if errTurns != nil {
			r.log.Error("look for waiting turns", "err", errTurns)
			pause(ctx)
			continue
		}
		decided := map[string]bool{}
		for _, tenant := range tenants(turns) {
			es, err := r.journal.Read(ctx, tenant, head, 1000, journal.Filter{Resource: "approval:/"}) // answers, also those that stand
			if err != nil {
				r.log.Error("read decisions", "err", err)
			}
			for _, e := range es {
				decided[strings.TrimPrefix(e.Resource, "approval:/")] = true
			}
		}
		for _, t := range turns {
			if err != nil || decided[t.Ask] {
				r.Wake(t.Tenant, t.Session)
			}
		}
		head = now
	}
}

// pause lets a database that is away come back.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}

func tenants(ts []*session.Turn) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range ts {
		if !seen[t.Tenant] {
			seen[t.Tenant] = true
			out = append(out, t.Tenant)
		}
	}
	return out
}

// Wake makes sure that somebody looks at the session's turns.
func (r *Runner) Wake(tenant, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.base == nil || r.base.Err() != nil {
		return // Run finds it
	}
	k := tenant + "\x00" + id
	if w := r.working[k]; w != nil {
		w.again = true
		r.all.Go(func() { r.stopCancelled(tenant, id, w) })
		return
	}
	ctx, cancel := context.WithCancelCause(r.base)
	w := &worker{cancel: cancel}
	r.working[k] = w
	r.all.Go(func() {
		defer cancel(nil)
		r.work(ctx, tenant, id, w)
	})
}

// stopCancelled interrupts the worker when the turn it runs was cancelled.
func (r *Runner) stopCancelled(tenant, id string, w *worker) {
	t, err := r.room.Next(r.base, tenant, id)
	if err == nil && t != nil && t.Cancel {
		r.mu.Lock()
		cancel := w.cancel
		r.mu.Unlock()
		cancel(errCancelled)
	}
}

// work runs turns until none can go on.
func (r *Runner) work(ctx context.Context, tenant, id string, w *worker) {
	k := tenant + "\x00" + id
	for {
		went, err := r.once(ctx, tenant, id)
		if errors.Is(context.Cause(ctx), errCancelled) && r.base.Err() == nil {
			// The next turn must not be born cancelled, and this one has yet to end where the interrupt met it while it read or wrote.
			r.mu.Lock()
			ctx, w.cancel = context.WithCancelCause(r.base)
			r.mu.Unlock()
			continue
		}
		if err != nil && r.base.Err() == nil {
			r.log.Error("turn stopped", "session", id, "err", err)
		}
		r.mu.Lock()
		if (!w.again && !went) || err != nil || r.base.Err() != nil {
			delete(r.working, k)
			r.mu.Unlock()
			return
		}
		w.again = false
		r.mu.Unlock()
	}
}

// once runs the session's next turn as far as it goes, and says whether there may be more to do.
func (r *Runner) once(ctx context.Context, tenant, id string) (bool, error) {
	t, err := r.room.Take(ctx, tenant, id)
	if err != nil || t == nil {
		return false, err
	}
	s, err := r.room.Get(ctx, tenant, id)
	if fault.Is(err, fault.Denied) { // its row does not count: nothing of it goes on
		_, err := r.room.End(ctx, t, session.Failed, fault.Public(err).Msg)
		return err == nil, err
	}
	if err != nil || s.Driver != session.DriverModel {
		return false, err // others' turns wait for their own drivers
	}
	if t.State == session.Waiting && !t.Cancel {
		settled, err := r.settled(ctx, s, t)
		if err != nil || !settled {
			return false, err
		}
	}
	err = r.turn(ctx, s, t)
	if session.Theirs(err) {
		return false, nil
	}
	return true, err
}

func (r *Runner) uncut(err error) {
	r.log.Error("a part that a crash left open cannot be closed", "err", err)
}

// TakeOver goes on with the turns of servers that ended.
func (r *Runner) TakeOver(ctx context.Context) error {
	if err := r.room.CutParts(ctx, r.uncut); err != nil {
		return err
	}
	return r.wakeOpen(ctx)
}

// Stir looks whether turns that run here were cancelled elsewhere.
func (r *Runner) Stir() {
	r.mu.Lock()
	working := maps.Clone(r.working)
	r.mu.Unlock()
	for k, w := range working {
		tenant, id, _ := strings.Cut(k, "\x00")
		r.stopCancelled(tenant, id, w)
	}
}

// settled says whether what a turn waits for was answered.
func (r *Runner) settled(ctx context.Context, s *session.Session, t *session.Turn) (bool, error) {
	switch t.Awaits {
	case session.AwaitsAnswer:
		q, err := r.room.Question(ctx, t.Tenant, t.Ask)
		return err == nil && q.State != session.QuestionPending, err
	case session.AwaitsTask:
		_, ended, err := r.room.Report(ctx, t.Tenant, t.Ask)
		return ended, err
	}
	a, err := op.Do(op.WithCaller(ctx, s.Caller()), r.gate, approval.AskGet, approval.IDIn{ID: t.Ask})
	if fault.Is(err, fault.NotFound) {
		return true, nil // the call asks again
	}
	if err != nil {
		return false, err
	}
	return a.State != approval.Pending, nil
}

// Busy says whether a turn is being run: a server that is needed only on demand stays up for it.
func (r *Runner) Busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.working) > 0
}
