package relay

import (
	"context"
	"embed"
	"log/slog"
	"slices"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/session"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "relay", FS: schema}

// Sessions open and close the two sides. Owned are the sessions with a program that belong to a relay, by session.
type Sessions struct {
	Open  func(ctx context.Context, relay, name string, side Side, folder string) (id string, real string, err error)
	Close func(ctx context.Context, id string) error
	Owned func(ctx context.Context) (map[string]string, error)
	Lives string // the home of this server in its cluster: relays of another one are left to it
}

// Runner keeps relays and runs them.
type Runner struct {
	db       *db.DB
	room     *session.Room
	journal  *journal.Journal
	gate     op.Invoker
	log      *slog.Logger
	folder   string // the view for people
	sessions Sessions
	// Told hears of every end and every question, in the transaction in which it came about.
	Told func(tx *db.Tx, r Relay, event string) error

	mu   sync.Mutex
	born time.Time // of this run: what was prompted before was under way when the server ended
	base context.Context
	live map[string]chan struct{}
	all  sync.WaitGroup
}

// New makes the room. It does nothing until Run.
func New(d *db.DB, j *journal.Journal, room *session.Room, gate op.Invoker, log *slog.Logger, folder string, s Sessions) *Runner {
	return &Runner{db: d, journal: j, room: room, gate: gate, log: log, folder: folder, sessions: s, live: map[string]chan struct{}{},
		Told: func(*db.Tx, Relay, string) error { return nil }}
}

// Run goes on with every relay that is not over, until ctx ends.
func (r *Runner) Run(ctx context.Context) error {
	r.mu.Lock()
	r.base, r.born = ctx, r.db.Now()
	r.mu.Unlock()
	defer r.all.Wait()
	var open []*Relay
	if err := r.db.Begin(ctx, r.away, func() (err error) {
		open, err = r.rows(ctx, "status IN (?, ?, ?)", string(Running), string(Parked), string(NeedsInput))
		return err
	}); err != nil {
		if ctx.Err() != nil { // the server ends already
			return nil
		}
		return err
	}
	open = slices.DeleteFunc(open, func(x *Relay) bool { return x.Lives != r.sessions.Lives })
	r.orphans(ctx, open)
	for _, x := range open {
		r.wake(x.Tenant, x.ID)
	}
	<-ctx.Done()
	return nil
}

func (r *Runner) away(err error) { r.log.Warn("relays wait for the database", "err", err) }

// orphans closes the programs of relays that are over, or that a crash kept from coming about.
func (r *Runner) orphans(ctx context.Context, open []*Relay) {
	owned, err := r.sessions.Owned(ctx)
	if err != nil {
		r.log.Error("look for orphans of relays", "err", err)
	}
	living := map[string]bool{}
	for _, x := range open {
		living[x.ID] = true
	}
	for session, relay := range owned {
		if living[relay] {
			continue
		}
		r.log.Warn("close what a relay left behind", "relay", relay, "session", session)
		if err := r.sessions.Close(ctx, session); err != nil {
			r.log.Error("close what a relay left behind", "session", session, "err", err)
		}
	}
}

// Busy says whether a relay runs or waits with a deadline.
func (r *Runner) Busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.live) > 0
}

// wake makes somebody look at a relay.
func (r *Runner) wake(tenant, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.base == nil || r.base.Err() != nil {
		return
	}
	if c := r.live[id]; c != nil {
		select {
		case c <- struct{}{}:
		default:
		}
		return
	}
	c := make(chan struct{}, 1)
	r.live[id] = c
	r.all.Go(func() {
		r.work(r.base, tenant, id, c)
		r.mu.Lock()
		delete(r.live, id)
		r.mu.Unlock()
	})
}

// work takes one step after the other until the relay is over. A database that does
// not answer for a while does not end it: nobody else would look at the relay before
// the next start.
func (r *Runner) work(ctx context.Context, tenant, id string, woken chan struct{}) {
	for ctx.Err() == nil {
		x, held, err := r.weigh(ctx, tenant, id)
		if fault.Is(err, fault.NotFound) {
			return
		}
		if err != nil {
			if ctx.Err() == nil {
				r.log.Error("read a relay", "relay", id, "err", err)
				pause(ctx, woken, time.Second)
			}
			continue
		}
		switch {
		case !held:
			r.log.Error("a relay was changed in the database, and not by tandem: it does not go on", "relay", id)
			return
		case x.Status.Over():
			r.closeSides(x)
			return
		case x.Status == Running:
			if err := r.step(ctx, x, woken); err != nil && ctx.Err() == nil {
				r.log.Error("a relay's step", "relay", id, "err", err)
				pause(ctx, woken, time.Second)
			}
			continue
		}
		wait := time.Until(x.Deadline)
		if wait <= 0 {
			if err := r.change(ctx, tenant, id, "relay.end", func(x *Relay, now time.Time) error {
				if x.Status != Parked && x.Status != NeedsInput || now.Before(x.Deadline) {
					return nil
				}
				x.Reason = "nothing to do for " + x.Park.String()
				if x.Status == NeedsInput {
					x.Reason = "nobody answered for " + x.Answer.String()
				}
				x.Status = Done
				return nil
			}); err != nil {
				r.log.Error("end a relay", "relay", id, "err", err)
				pause(ctx, woken, time.Second)
			}
			continue
		}
		pause(ctx, woken, wait)
	}
}

func pause(ctx context.Context, woken chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-woken:
	case <-t.C:
	}
}
