package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/session"
)

// Guards against a model that does not come to an end.
const (
	maxSteps  = 100
	maxRepeat = 3
)

// turn runs a turn until it ends or has to wait.
func (r *Runner) turn(ctx context.Context, s *session.Session, t *session.Turn) error {
	if t.State != session.Running || !r.room.Mine(t) {
		if t.State != session.Running {
			r.begun(ctx, s)
		}
		var err error
		if t, err = r.room.Start(ctx, t); err != nil {
			return err
		}
	}
	var said conversation
	for {
		parked, err := r.step(ctx, s, &t, &said)
		if err == nil && parked {
			return nil
		}
		if err == nil && t.State.Ended() {
			return nil
		}
		if err != nil {
			return r.fail(ctx, t, err)
		}
	}
}

// begun remembers how the session's folder stands, if that is not known yet. Where it cannot be known, session diff says so.
func (r *Runner) begun(ctx context.Context, s *session.Session) {
	if err := r.room.Begun(ctx, s); err != nil {
		r.log.Warn("look at a session's folder", "session", s.ID, "err", err)
	}
}

// fail ends a turn with what went wrong. When the server stops, the turn stays as it is and goes on after the start.
func (r *Runner) fail(ctx context.Context, t *session.Turn, err error) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, errStopping) || r.base.Err() != nil {
		return nil
	}
	after := context.WithoutCancel(ctx)
	if errors.Is(cause, errCancelled) {
		_, err := r.room.End(after, t, session.Cancelled, "cancelled")
		return err
	}
	f := fault.Public(err)
	if f.Kind == fault.Internal {
		r.log.Error("turn failed", "session", t.Session, "turn", t.ID, "err", err)
	}
	_, err = r.room.End(after, t, session.Failed, f.Msg)
	return err
}

// step does the next thing that the rows call for.
func (r *Runner) step(ctx context.Context, s *session.Session, t **session.Turn, said *conversation) (parked bool, err error) {
	cur, err := r.room.Turn(ctx, (*t).Tenant, (*t).ID)
	if err != nil {
		return false, err
	}
	*t = cur
	if cur.State.Ended() {
		return false, nil
	}
	if cur.Cancel {
		*t, err = r.room.End(ctx, cur, session.Cancelled, "cancelled")
		return false, err
	}
	c, err := r.room.NextCall(ctx, cur)
	if err != nil {
		return false, err
	}
	if c != nil {
		return r.call(ctx, s, cur, c)
	}
	if err := said.readOn(ctx, r.room, s); err != nil {
		return false, err
	}
	last := said.last()
	if last == nil {
		return false, fmt.Errorf("turn %s has no prompt", cur.ID)
	}
	if last.Role == session.RoleAssistant {
		if wants(last) {
			return false, r.room.Results(ctx, cur)
		}
		*t, err = r.room.End(ctx, cur, session.Done, "")
		return false, err
	}
	lately, err := r.room.NewestCalls(ctx, cur, maxRepeat)
	if err != nil {
		return false, err
	}
	if err := guard(cur, lately); err != nil {
		return false, err
	}
	return false, r.ask(ctx, s, cur, *said)
}

// conversation is what was said so far. While a turn is open nothing of it is taken back, so a step reads what the last one added.
type conversation []*session.Message

func (c *conversation) readOn(ctx context.Context, room *session.Room, s *session.Session) error {
	seq := int64(0)
	if last := c.last(); last != nil {
		seq = last.Seq
	}
	more, err := room.MessagesAfter(ctx, s.Tenant, s.ID, seq)
	*c = append(*c, more...)
	return err
}

// last is nil where nothing was said.
func (c conversation) last() *session.Message {
	if len(c) == 0 {
		return nil
	}
	return c[len(c)-1]
}

func wants(m *session.Message) bool {
	for _, b := range m.Blocks {
		if b.Kind == provider.CallKind {
			return true
		}
	}
	return false
}

// guard stops a turn that goes round in circles.
func guard(t *session.Turn, calls []*session.Call) error {
	if t.Steps >= maxSteps {
		return fault.New(fault.Exhausted, "session.loop", "the turn made %d model calls without coming to an end", t.Steps).
			WithNext("prompt again to let it go on")
	}
	if len(calls) < maxRepeat {
		return nil
	}
	last := calls[len(calls)-1]
	for _, c := range calls[len(calls)-maxRepeat:] {
		if c.Tool != last.Tool || !bytes.Equal(c.Args, last.Args) || c.Result == nil || c.Result.Text != last.Result.Text {
			return nil
		}
	}
	return fault.New(fault.Exhausted, "session.loop", "the agent called %s %d times with the same arguments and the same result", last.Tool,
		maxRepeat).
		WithNext("tell it what to do differently")
}
