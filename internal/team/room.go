package team

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
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
	// Step is called before each step, for tests that let the server die there.
	Step func(t *Team)

	still func(context.Context, op.Caller) error
	woken chan struct{}
	busy  atomic.Bool
}

// New makes the room. It does nothing until Run. Still says why who started a team would not be let in again.
func New(d *db.DB, j *journal.Journal, log *slog.Logger, still func(context.Context, op.Caller) error) *Room {
	return &Room{DB: d, Journal: j, Log: log, still: still, woken: make(chan struct{}, 1), Step: func(*Team) {},
		Model: func(context.Context, string) ([]op.Bound, error) { return nil, nil },
		Used:  func(context.Context, string) (session.Used, error) { return session.Used{}, nil }}
}

// Busy says whether a team goes on by itself.
func (r *Room) Busy() bool { return r.busy.Load() }

// rouse has the teams looked at now.
func (r *Room) rouse() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

// Run goes on with every team that is at work, until ctx ends. Where none is, nothing is read until somebody does something.
func (r *Room) Run(ctx context.Context) {
	for ctx.Err() == nil {
		open, err := r.rows(ctx, "home = ? AND state NOT IN (?, ?) ORDER BY id", r.Owner.Home, string(wire.Done), string(wire.Stopped))
		if err == nil {
			var ending []*Team
			ending, err = r.rows(ctx, "home = ? AND state = ? ORDER BY id DESC LIMIT 100", r.Owner.Home, string(wire.Stopped))
			open = append(open, ending...)
		}
		if err != nil && ctx.Err() == nil {
			r.Log.Warn("teams wait for the database", "err", err)
		}
		again := err != nil
		for _, t := range open {
			if !t.next() {
				continue
			}
			again = true
			r.Step(t)
			if ctx.Err() != nil {
				return
			}
			if err := r.step(ctx, t); err != nil && ctx.Err() == nil {
				r.Log.Error("a team's step", "team", t.ID, "err", err)
			}
		}
		r.busy.Store(again)
		wait := time.Second
		if !again {
			wait = time.Hour
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
	case wire.Paused, wire.Stopped:
		return t.Flight != "" || t.working() != nil
	}
	return t.Flight != ""
}

// working is a task whose job goes on though the team does not.
func (t *Team) working() *wire.Task {
	for _, k := range t.Tasks {
		if k.Stage == wire.AtWork && !k.Held {
			return k
		}
	}
	return nil
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
	why := f.Msg
	if f.Next != "" {
		why += "; " + f.Next
	}
	return r.happened(ctx, t, Event{Kind: Blocked, Text: why})
}
