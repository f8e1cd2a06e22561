package peer

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session"
)

// worker is who works in a session that tandem opened.
type worker struct{ agent, model, folder string }

// ownLoop is the agent of sessions that tandem's own loop drives.
const ownLoop = "tandem"

func (r *Room) workerOf(ctx context.Context, tenant, id string) (worker, error) {
	s, err := ask(ctx, r.within(tenant, id), session.SessionGet, session.IDIn{ID: id})
	if err != nil {
		return worker{}, err
	}
	if s.Driver == session.DriverModel {
		return worker{ownLoop, s.Model, s.Directory}, nil
	}
	agent, model, _ := strings.Cut(s.Model, "/")
	if model == "default" {
		model = "" // the program's own choice
	}
	return worker{agent, model, s.Directory}, nil
}

// within speaks to another room of this daemon, through its gate.
func (r *Room) within(tenant, as string) inside {
	return inside{invoke: r.invoke, tenant: tenant, as: as}
}

// rouse wakes a session that tandem opened for its mail, when no hook of its
// program does: with a prompt that says the fixed sentence and nothing else. The
// program takes it through its own server, so no key is pressed and no draft is
// touched, and only when no turn is open, so nothing is interrupted. The caller
// holds s.mu.
func (r *Room) rouse(s *seat) {
	id, ok := strings.CutPrefix(s.owner, "session/")
	if !ok || s.rousing || !s.rousable(r.now()) {
		return
	}
	s.rousing = true
	r.later(func(ctx context.Context) {
		err := r.rouseNow(ctx, s, id)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rousing = false
		if err != nil { // its program is gone, or it may not be prompted
			s.asleep = r.now().Add(rouseAgain)
			r.log.Warn("a session was not woken for its mail", "session", id, "err", err, "again_in", rouseAgain)
		}
	})
}

// rouseAgain is when a session that could not be woken is tried again.
const rouseAgain = 10 * time.Minute

// rousable reports whether there is mail to wake for, and nobody else does. The
// caller holds s.mu.
func (s *seat) rousable(now time.Time) bool {
	return s.state == active && s.waiter == 0 && now.After(s.asleep) && len(s.wakes.fresh) > 0 && s.wakes.left(now) > 0
}

func (r *Room) rouseNow(ctx context.Context, s *seat, id string) error {
	w, err := r.workerOf(ctx, s.tenant, id)
	if err != nil || w.agent == "claude" { // its hook waits for mail
		return err
	}
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		turns, err := r.turns(ctx, s, id, "")
		if err != nil {
			return err
		}
		s.mu.Lock()
		due := s.rousable(r.now())
		var text string
		var ids []string
		if due && !slices.ContainsFunc(turns, goesOn) {
			text, ids = s.wakes.take(r.now())
		}
		s.mu.Unlock()
		if text != "" {
			pause = 500 * time.Millisecond
			if err := r.sayWake(ctx, s, id, text, ids); err != nil {
				return err
			}
		}
		if !due || !sleep(ctx, pause) {
			return nil // it was announced some other way, or its wakes are used up
		}
	}
}

func goesOn(t *session.Turn) bool { return !t.State.Ended() }

// turns are a session's last turns, or one of them.
func (r *Room) turns(ctx context.Context, s *seat, id, turn string) ([]*session.Turn, error) {
	out, err := ask(ctx, r.within(s.tenant, id), session.SessionTurns, session.TurnIn{ID: id, Turn: turn})
	return out.Turns, err
}

// sayWake prompts the session, and counts the messages as surfaced once its
// model has answered to the prompt that names them.
func (r *Room) sayWake(ctx context.Context, s *seat, id, text string, ids []string) error {
	t, err := ask(ctx, r.within(s.tenant, id), session.SessionPrompt, session.PromptIn{ID: id, Text: text})
	for err == nil {
		var now []*session.Turn
		if now, err = r.turns(ctx, s, id, t.ID); err != nil || len(now) == 0 {
			break
		}
		t = now[0]
		answered := t.Steps > 0 || t.Usage.Output > 0
		if t.State == session.Failed && !answered {
			err = fault.New(fault.Unavailable, "space.wake", "%s", orElse(t.Reason, "the turn failed"))
			break
		}
		if answered || !goesOn(t) {
			break
		}
		if !sleep(ctx, 300*time.Millisecond) {
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.wakes.back(ids)
		return err
	}
	known, err := r.unsurfaced(ctx, s, ids)
	if err != nil {
		return err
	}
	return r.surfaced(ctx, s, known, "turn")
}
