package relay

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
)

// step prompts the side whose turn it is, waits for the end of its turn, and stores what it means.
func (r *Runner) step(ctx context.Context, x *Relay, woken chan struct{}) error {
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
	t, err := r.ended(ctx, x, side, woken)
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

// lookAgain is how long nobody looks at a turn when nothing is heard of it: its end may have been told to another server alone.
const lookAgain = 5 * time.Second

// ended waits for the end of the turn under way; nil when the relay was stopped meanwhile.
func (r *Runner) ended(ctx context.Context, x *Relay, side string, woken chan struct{}) (*session.Turn, error) {
	moves := r.room.Moves(x.Tenant, side)
	defer moves.Close()
	for asked := false; ; {
		next := moves.Next()
		t, err := r.room.Turn(ctx, x.Tenant, x.Flight)
		if err != nil || t.State.Ended() {
			return t, err
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
		most := lookAgain
		if !asked {
			most = min(most, max(x.TaskSince.Add(x.Budget).Sub(r.db.Now()), 0)+time.Millisecond)
		}
		if err := hush(ctx, moves, next, woken, time.Now().Add(most)); err != nil {
			return nil, err
		}
	}
}

// hush waits until there may be something to see: a row of the session, a word about the relay, or the time.
func hush(ctx context.Context, moves *session.Moves, next <-chan struct{}, woken chan struct{}, until time.Time) error {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-woken:
			return nil
		case <-t.C:
			return nil
		case <-next:
		}
		if next = moves.Next(); moves.New() {
			return nil
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
