package schedule

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/schedule/wire"
)

// Room is the service behind the schedule's operations. The functions are what it does not own: who may, and the work itself.
type Room struct {
	DB     *db.DB
	Log    *slog.Logger
	Vouch  op.Vouch
	Rooms  op.Invoker // through which the server calls itself
	System string     // the name of the server among the actors
	Grant  func(ctx context.Context, tx *db.Tx, resource string) (string, error)
	Revoke func(ctx context.Context, tx *db.Tx, grant string) error
	Do     map[wire.Kind]func(context.Context, wire.What) (done string, err error)
	Failed func(ctx context.Context, s wire.Schedule) // tells people, once for each row of failures
	Ours   func() bool                                // of several servers one does what is due

	mu   sync.Mutex
	rows []*row
	wake chan struct{}
}

// New makes a room; its functions are given before its first use.
func New(d *db.DB, log *slog.Logger) *Room {
	return &Room{DB: d, Log: log, wake: make(chan struct{}, 1), Ours: func() bool { return true }}
}

// longest is how long it sleeps at most: the machine's clock may be set.
const longest = time.Minute

// Restored lets what the server of a copy missed be: after a restore the next moment comes as usual.
func (r *Room) Restored(tx *db.Tx) (int, error) {
	n, err := tx.Changed("UPDATE schedule SET since_at = ?, failed_at = 0, failure = '', asked_at = 0", tx.Now())
	return int(n), err
}

func (r *Room) reload(ctx context.Context) error {
	rows, err := load(ctx, r.DB)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.rows = rows
	r.mu.Unlock()
	return nil
}

// Run does what is due, one after the other, until ctx ends. Nothing is read or written while nothing is due.
func (r *Room) Run(ctx context.Context) {
	if err := r.reload(ctx); err != nil {
		r.Log.Error("schedules cannot be read", "err", err)
	}
	for ctx.Err() == nil {
		wait := longest
		for _, s := range r.all() {
			yes, next := due(s, r.DB.Now())
			if yes && !r.Ours() {
				next = time.Time{} // that one does; whether it is gone is asked again
			} else if yes {
				r.one(ctx, s)
				_, next = due(s, r.DB.Now())
			}
			if !next.IsZero() {
				wait = min(wait, max(time.Second, next.Sub(r.DB.Now())))
			}
		}
		select {
		case <-ctx.Done():
		case <-r.wake:
			if err := r.reload(ctx); err != nil {
				r.Log.Error("schedules cannot be read", "err", err)
			}
		case <-time.After(wait):
		}
	}
}

func (r *Room) all() []*row {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*row(nil), r.rows...)
}

// one does what is due and writes down what became of it.
func (r *Room) one(ctx context.Context, s *row) {
	began := r.DB.Now()
	_, err := op.Do(ctx, r.Rooms, wire.Run, wire.KindIn{Kind: s.Kind})
	if ctx.Err() != nil { // the server ends; the next one makes up for it
		return
	}
	first := s.Failure == ""
	failure := ""
	if err != nil {
		if failure = fault.Public(err).Msg; failure == "" {
			failure = "it failed"
		}
	}
	now := r.DB.Now()
	written := r.DB.Write(ctx, func(tx *db.Tx) error {
		var err error
		if now = tx.Now(); failure == "" {
			_, err = tx.Exec("UPDATE schedule SET since_at = ?, done_at = ?, failed_at = 0, failure = '' WHERE tenant = ? AND kind = ?", now, began,
				s.tenant, string(s.Kind))
		} else {
			_, err = tx.Exec("UPDATE schedule SET failed_at = ?, failure = ? WHERE tenant = ? AND kind = ?", now, failure, s.tenant,
				string(s.Kind))
		}
		return err
	})
	r.mu.Lock()
	s.Failure, s.FailedAt, s.unstored = failure, now, written != nil
	if failure == "" {
		s.since, s.DoneAt, s.FailedAt = now, began, time.Time{}
	}
	told := s.Schedule
	r.mu.Unlock()
	if written != nil {
		r.Log.Error("a schedule's outcome was not stored", "kind", s.Kind, "err", written)
	}
	if failure != "" && first && r.Failed != nil {
		r.Failed(ctx, told)
	}
}

// Stir reads again what is set: another server may have changed it.
func (r *Room) Stir() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Set lists what is set and what became of it, without a look into the database: for the doctor and the metrics.
func (r *Room) Set() (out []wire.Schedule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.rows {
		out = append(out, s.seen(r.DB.Now()))
	}
	return out
}

// Busy says whether something is to be done at set times: a server that ended would not do it.
func (r *Room) Busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.rows) > 0
}
