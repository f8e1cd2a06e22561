package loop

import (
	"context"
	"errors"

	"tandem/internal/fault"
	"tandem/internal/session"
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

// fail ends a turn with what went wrong. When the server stops, the turn stays as it is and goes on after the start, and
// when its tenant is suspended, after that was resumed.
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
	if session.Suspended(err) { // it stays as it is, and watch looks again
		r.shut.Store(true)
		return err
	}
	if f.Kind == fault.Internal {
		r.log.Error("turn failed", "session", t.Session, "turn", t.ID, "err", err)
	}
	_, err = r.room.EndFor(after, t, session.Failed, f.Msg, session.CauseOf(err))
	return err
}

// step does the next thing that the rows call for.
func (r *Runner) step(ctx context.Context, s *session.Session, t **session.Turn, said *conversation) (parked bool, err error) {
	cur, err := r.room.Again(ctx, *t)
	if err != nil {
		return false, err
	}
	*t = cur
	var c *session.Call
	if going(cur) {
		if c, err = r.room.NextCall(ctx, cur); err != nil {
			return false, err
		}
	}
	wants := next(cur, c)
	if wants == toLook {
		if wants, err = r.look(ctx, s, cur, said); err != nil {
			return false, err
		}
	}
	switch wants {
	case toStop:
		*t, err = r.room.End(ctx, cur, session.Cancelled, "cancelled")
	case toCall:
		return r.call(ctx, s, cur, c)
	case toGather:
		err = r.room.Results(ctx, cur)
	case toEnd:
		*t, err = r.room.End(ctx, cur, session.Done, "")
	case toAsk:
		err = r.ask(ctx, s, cur, *said)
	}
	return false, err
}

// look reads what was said and done lately, and says what a turn without open calls wants.
func (r *Runner) look(ctx context.Context, s *session.Session, t *session.Turn, said *conversation) (want, error) {
	if err := said.readOn(ctx, r.room, s); err != nil {
		return toRest, err
	}
	lately, err := r.room.NewestCalls(ctx, t, int64(session.Lately(maxRepeat)))
	if err != nil {
		return toRest, err
	}
	return after(t, said.last(), lately)
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
