package team

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/owner"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
	"tandem/internal/team/wire"
)

// Room keeps teams and has them go on.
type Room struct {
	DB      *db.DB
	Journal *journal.Journal
	Log     *slog.Logger
	Rooms   op.Invoker // through which a team drives its lead and its jobs, as whoever started it
	Tools   checkout.Tools
	Owner   owner.Server
	// Model is what a model's name stands for now, for an approval to be bound to.
	Model func(ctx context.Context, name string) ([]op.Bound, error)
	// Used is what a session used up.
	Used func(ctx context.Context, session string) (session.Used, error)
	// Halt stops a job that goes on by itself, and says whether it is stopped by this team's word; End ends the turns of a session, and its
	// program where that is to go. Both do so also when who started the team may not do that any more.
	Halt func(ctx context.Context, tenant, job, team, why string) (bool, error)
	End  func(ctx context.Context, tenant, session string, program bool) error
	// Told hears of every move that a team makes by itself, in the transaction in which it comes about.
	Told func(tx *db.Tx, tenant string, t wire.Team, from wire.State) error
	// Needs is what keeps a session from going on until a person answers, as far as the caller may see it.
	Needs func(ctx context.Context, session string) []job.Need
	// Fell ends the program of a session that hangs: it can be started again.
	Fell func(ctx context.Context, session string) error
	// Limit is how long a lead rests whose provider refused it for its rate, doubled each time.
	Limit time.Duration
	// Step is called before each step, for tests that let the server die there.
	Step func(t *Team)

	// Sealed says that rows count only while the journal vouches for them; a test of this room alone has nobody who asks.
	Sealed bool

	still func(context.Context, op.Caller) error
	woken chan struct{}
	busy  atomic.Bool
	moved bool // of Run alone: a step changed a row
	// unheld are teams of which was said that their rows do not count; of Run alone.
	unheld map[string]bool
}

// New makes the room. It does nothing until Run. Still says why who started a team would not be let in again.
func New(d *db.DB, j *journal.Journal, log *slog.Logger, still func(context.Context, op.Caller) error) *Room {
	return &Room{DB: d, Journal: j, Log: log, still: still, woken: make(chan struct{}, 1), unheld: map[string]bool{}, Step: func(*Team) {},
		Halt:  func(context.Context, string, string, string, string) (bool, error) { return false, nil },
		End:   func(context.Context, string, string, bool) error { return nil },
		Model: func(context.Context, string) ([]op.Bound, error) { return nil, nil },
		Told:  func(*db.Tx, string, wire.Team, wire.State) error { return nil },
		Needs: func(context.Context, string) []job.Need { return nil }, Limit: time.Minute,
		Fell: func(context.Context, string) error { return nil },
		Used: func(context.Context, string) (session.Used, error) { return session.Used{}, nil }}
}

// Busy says whether a team goes on by itself.
func (r *Room) Busy() bool { return r.busy.Load() }

// Rouse has the teams looked at now.
func (r *Room) Rouse() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// How long nobody looks at teams. A job that moves and whoever does something to a team make them be looked at, too; a lead does not.
const often, seldom = time.Second, 10 * time.Second

// Run goes on with every team that is at work, until ctx ends. Where none is, nothing is read until somebody does something. What did not
// work is tried again less and less often.
func (r *Room) Run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		open, err := r.rows(ctx, "home = ? AND state NOT IN (?, ?) ORDER BY id", r.Owner.Home, string(wire.Done), string(wire.Stopped))
		if err == nil {
			var ending []*Team
			ending, err = r.rows(ctx, "home = ? AND state IN (?, ?) ORDER BY id DESC LIMIT 100", r.Owner.Home, string(wire.Done),
				string(wire.Stopped))
			open = append(open, ending...)
		}
		if err != nil && ctx.Err() == nil {
			r.Log.Warn("teams wait for the database", "err", err)
		}
		again, failed, wait := err != nil, err != nil, seldom
		r.moved = false
		for _, t := range open {
			if !t.next() {
				continue
			}
			t, held, err := r.weigh(ctx, t.Tenant, t.ID)
			if fault.Is(err, fault.NotFound) || err == nil && held && !t.next() { // it moved since
				continue
			} else if err != nil {
				again, failed = true, true
				continue
			} else if !held {
				if !r.unheld[t.ID] {
					r.Log.Error(rewritten(t.ID))
				}
				r.unheld[t.ID] = true
				continue
			}
			again = true
			r.Step(t)
			if ctx.Err() != nil {
				return
			}
			if err := r.step(ctx, t); errors.Is(err, errStale) {
				r.Rouse()
			} else if err != nil && ctx.Err() == nil {
				r.Log.Error("a team's step", "team", t.ID, "err", err)
				failed = true
			}
			if t.Prompt != "" && !t.resting() {
				wait = often
			}
		}
		r.busy.Store(again)
		switch {
		case !again:
			wait = time.Hour
		case failed:
			wait = min(often<<min(failures, 10), time.Minute)
			failures++
		case r.moved:
			wait = often
		}
		if !failed {
			failures = 0
		}
		pause(ctx, r.woken, wait)
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

// next says whether there is something to look at without anybody's word.
func (t *Team) next() bool {
	switch t.State {
	case wire.Planning, wire.Working:
		return true
	case wire.Blocked:
		open := func(k *wire.Task) bool { return k.Job != "" && !k.Over() }
		return t.Flight != "" || !t.Until.IsZero() || slices.ContainsFunc(t.Tasks, open)
	}
	return t.Flight != "" || t.Rests
}

// blocked stops a team that cannot go on by itself, and says why; what a room that is away says is tried again.
func (r *Room) blocked(ctx context.Context, t *Team, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f := fault.Public(err)
	if f.Kind == fault.Unavailable || f.Kind == fault.Internal {
		return err
	}
	return r.happened(ctx, t, Event{Kind: Blocked, Text: said(f)})
}

func said(f *fault.Error) string { return strings.TrimSuffix(f.Msg+"; "+f.Next, "; ") }
