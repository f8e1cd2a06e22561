package terminal

import (
	"context"
	"time"

	"tandem/internal/session/agents"
)

// silentCall is how many times longer a program may be silent while a tool that it called has not ended: a build says nothing.
const silentCall = 6

func (d *Driver) hangAfter() time.Duration {
	if d.Hang > 0 {
		return d.Hang
	}
	return 10 * time.Minute
}

// hangs says that nothing moved in the turn for that long. A person's answer is a move: the program goes on from there.
func (s *seat) hangs(long time.Duration) bool {
	s.mu.Lock()
	last := s.answered
	s.mu.Unlock()
	if s.moved.After(last) {
		last = s.moved
	}
	return s.turn != nil && !last.IsZero() && time.Since(last) > long
}

// stillFor is how long a program may be stopped by a signal in its turn: a person who stops it to look has that long.
const stillFor = 5 * time.Second

// stands says that the program was stopped by a signal in its turn, and that nobody let it go on. It is looked at once a second.
func (s *seat) stands() bool {
	if now := time.Now(); now.Sub(s.glimpsed) >= time.Second {
		s.glimpsed = now
		switch stopped := s.turn != nil && frozen(s.pane.PID, s.row.Agent); {
		case !stopped:
			s.frozen = time.Time{}
		case s.frozen.IsZero():
			s.frozen = now
		}
	}
	return s.turn != nil && !s.frozen.IsZero() && time.Since(s.frozen) >= stillFor
}

// calls keeps which tools that the program called have not ended.
func (s *spoken) calls(a *agents.Act) {
	if a.Ended {
		delete(s.acting, a.Ref)
		return
	}
	if s.acting == nil {
		s.acting = map[string]bool{}
	}
	s.acting[a.Ref] = true
}

// patience is how long nothing may move in the turn.
func (s *spoken) patience() time.Duration {
	if len(s.acting) > 0 {
		return silentCall * s.d.hangAfter()
	}
	return s.d.hangAfter()
}

// Fell ends a session's program that hangs, and its terminal; one that moved meanwhile goes on. The session stays: its program can be
// started again.
func (d *Driver) Fell(ctx context.Context, id string) error {
	s := d.present(ctx, id)
	if s == nil || s.view().State != Hung {
		return nil
	}
	return d.end(ctx, s.view().Name)
}
