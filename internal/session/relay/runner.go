package relay

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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
		x, err := r.get(ctx, tenant, id)
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
		case x.Status.Over():
			r.closeSides(x)
			return
		case x.Status == Running:
			if err := r.step(ctx, x); err != nil && ctx.Err() == nil {
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

// step prompts the side whose turn it is, waits for the end of its turn, and stores what it means.
func (r *Runner) step(ctx context.Context, x *Relay) error {
	if x.Prompt == "" {
		log, err := r.entries(ctx, x.Tenant, x.ID, x.Step-8, 8)
		if err != nil {
			return err
		}
		return r.change(ctx, x.Tenant, x.ID, "", func(x *Relay, now time.Time) error {
			if x.Status == Running && x.Prompt == "" {
				x.prepare(log, now)
			}
			return nil
		})
	}
	side := x.Lead
	if x.Next == "worker" {
		side = x.Worker
	}
	if x.Flight == "" {
		// The key makes a step that a crash interrupted find the same turn again.
		c := x.Caller
		c.Idempotency = fmt.Sprintf("%s.%d", x.ID, x.Step)
		t, err := op.Do(asRelay(op.WithCaller(ctx, c), x.ID), r.gate, session.SessionPrompt, session.PromptIn{ID: side, Text: x.Prompt})
		if err != nil {
			return r.block(ctx, x, err)
		}
		return r.change(ctx, x.Tenant, x.ID, "", func(x *Relay, _ time.Time) error { x.Flight = t.ID; return nil })
	}
	t, err := r.ended(ctx, x)
	if err != nil || t == nil {
		return err
	}
	if t.State == session.Cancelled && r.late(x) {
		return r.change(ctx, x.Tenant, x.ID, "relay.turn", func(now *Relay, at time.Time) error {
			if now.Flight != t.ID || now.Status != Running {
				return errStale
			}
			now.park("stopped: the task's time is used up", at)
			return nil
		}, Entry{Role: x.Next, Turn: t.ID, Text: "(interrupted: the task's time is used up)"})
	}
	if t.State == session.Failed && t.CreatedAt.Before(r.born) && x.Cut < maxCut {
		return r.change(ctx, x.Tenant, x.ID, "relay.turn", func(now *Relay, _ time.Time) error {
			if now.Flight != t.ID || now.Status != Running {
				return errStale
			}
			now.again()
			return nil
		}, Entry{Role: x.Next, Turn: t.ID, Text: "(cut off: " + t.Reason + ")"})
	}
	if t.State != session.Done {
		return r.block(ctx, x, fault.New(fault.Unavailable, "relay", "the %s's turn %s: %s", x.Next, t.State, t.Reason))
	}
	text, err := r.said(ctx, x.Tenant, side, t.ID)
	if err != nil {
		return err
	}
	return r.change(ctx, x.Tenant, x.ID, "relay.turn", func(now *Relay, at time.Time) error {
		if now.Flight != t.ID || now.Status != Running {
			return errStale
		}
		now.Tokens += t.Usage.Input + t.Usage.Output
		now.Cost += int64(t.Cost)
		now.heard(text, at)
		return nil
	}, Entry{Role: x.Next, Turn: t.ID, Text: text})
}

var errStale = fault.New(fault.Conflict, "relay", "the relay moved on")

// block ends a relay whose sides cannot go on.
func (r *Runner) block(ctx context.Context, x *Relay, why error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.change(ctx, x.Tenant, x.ID, "relay.end", func(x *Relay, _ time.Time) error {
		if x.Status == Running {
			x.Status, x.Reason, x.Next = Blocked, fault.Public(why).Msg, ""
		}
		return nil
	})
}

// ended waits for the end of the turn under way; nil when the relay was stopped meanwhile.
func (r *Runner) ended(ctx context.Context, x *Relay) (*session.Turn, error) {
	for asked := false; ; {
		t, err := r.room.Turn(ctx, x.Tenant, x.Flight)
		if err != nil || t.State.Ended() {
			return t, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		var status string
		if err := r.db.QueryRow(ctx, "SELECT status FROM relay WHERE tenant = ? AND id = ?", x.Tenant, x.ID).Scan(&status); err != nil {
			return nil, err
		}
		if Status(status) != Running {
			return nil, nil
		}
		if r.late(x) && !asked {
			asked = true
			c := x.Caller
			_, err := op.Do(asRelay(op.WithCaller(ctx, c), x.ID), r.gate, session.SessionCancel, session.TurnIn{ID: t.Session, Turn: t.ID})
			if err != nil {
				r.log.Warn("interrupt a turn whose task's time is used up", "relay", x.ID, "err", err)
			}
		}
	}
}

// late says that the task under way has used up its time.
func (r *Runner) late(x *Relay) bool { return r.db.Now().Sub(x.TaskSince) > x.Budget }

// said is all that a side said in a turn.
func (r *Runner) said(ctx context.Context, tenant, side, turn string) (string, error) {
	ms, err := r.room.MessagesOf(ctx, tenant, side, turn)
	var all []string
	for _, m := range ms {
		if m.Role != session.RoleAssistant {
			continue
		}
		for _, b := range m.Blocks {
			if b.Text != "" {
				all = append(all, b.Text)
			}
		}
	}
	return strings.Join(all, "\n\n"), err
}

func (r *Runner) closeSides(x *Relay) {
	for _, id := range []string{x.Lead, x.Worker} {
		if id == "" {
			continue
		}
		if err := r.sessions.Close(context.WithoutCancel(r.base), id); err != nil {
			r.log.Warn("close a relay's session", "relay", x.ID, "session", id, "err", err)
		}
	}
}

// change moves a relay in one transaction with its log entry and its event, and then shows it to people.
func (r *Runner) change(ctx context.Context, tenant, id, event string, fn func(x *Relay, now time.Time) error, entries ...Entry) error {
	var before, after Relay
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		x, err := load(tx, tenant, id)
		if err != nil {
			return err
		}
		before = *x
		if err := fn(x, tx.Now()); err != nil {
			return err
		}
		for _, e := range entries {
			x.Step++
			if _, err := tx.Exec("INSERT INTO relay_log (tenant, relay, step, task, role, turn, text, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				tenant, id, x.Step, before.TaskNo, e.Role, e.Turn, e.Text, tx.Now()); err != nil {
				return err
			}
		}
		x.UpdatedAt = tx.Now()
		after = *x
		if err := save(tx, x); err != nil {
			return err
		}
		if err := r.tell(tx, before, after); err != nil || event == "" {
			return err
		}
		payload, err := json.Marshal(map[string]any{"status": x.Status, "step": x.Step, "task": before.TaskNo, "turn": before.Flight,
			"reason": x.Reason})
		if err != nil {
			return err
		}
		_, err = r.journal.Append(tx, journal.Event{Tenant: tenant, Type: event, Phase: journal.Done, Actor: x.Caller.Name, For: x.Caller.For,
			Resource: at(id).String(), Payload: payload})
		return err
	})
	if err != nil {
		if fault.Is(err, fault.Conflict) && err == error(errStale) {
			return nil
		}
		return err
	}
	r.show(&after)
	return nil
}

// tell says what somebody outside wants to know.
func (r *Runner) tell(tx *db.Tx, before, after Relay) error {
	switch {
	case after.Status == before.Status && after.TaskNo == before.TaskNo:
		return nil
	case after.Status.Over():
		return r.Told(tx, after, string(after.Status))
	case after.Status == NeedsInput:
		return r.Told(tx, after, "needs input")
	case before.Status == Running && (after.Status == Parked || after.TaskNo > before.TaskNo && before.TaskNo > 0):
		return r.Told(tx, after, "task done")
	}
	return nil
}
