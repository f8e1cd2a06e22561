package terminal

import (
	"context"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// choice is a model or an effort that a session is told to go on with. Both are tandem's to set: typed into a program they would be
// saved for every session of the person's, and some programs open a list instead.
type choice struct{ model, effort string }

// choiceOf reads "/model NAME" and "/effort LEVEL".
func choiceOf(text string) (c choice, ok bool) {
	words := strings.Fields(text)
	if len(words) != 2 || strings.Contains(text, "\n") {
		return c, false
	}
	switch words[0] {
	case "/model":
		c.model = words[1]
	case "/effort":
		c.effort = words[1]
	default:
		return c, false
	}
	return c, true
}

// choose makes a turn's choice the session's from now on. dress puts it on the program.
func (s *seat) choose(ctx context.Context, t *session.Turn, c choice, dress func(context.Context, *session.Turn) error) {
	model, effort := s.row.Model, s.row.Effort
	err := agents.Check(s.row.Agent, c.model, c.effort)
	if err == nil {
		err = s.hears(ctx, t)
	}
	if err == nil && !t.Cancel {
		s.update(func(r *row) bool {
			r.Model, r.Effort = orElse(c.model, model), orElse(c.effort, effort)
			if c.model == "default" {
				r.Model = ""
			}
			return true
		})
		if err = dress(ctx, t); err != nil {
			s.update(func(r *row) bool { r.Model, r.Effort = model, effort; return true })
		}
	}
	t, startErr := s.d.room.Start(ctx, t)
	if startErr != nil {
		s.d.log.Error("start a turn", "session", s.row.Session, "err", startErr)
		return
	}
	s.begin(t)
	switch {
	case t.Cancel:
		s.finish(ctx, session.Cancelled, "interrupted", "request", "cancelled before it was set")
		return
	case err != nil:
		s.finish(ctx, session.Failed, "error: not accepted", "request", fault.Public(err).Msg)
		return
	}
	if c.model != "" {
		s.show(ctx, "The model of this session is "+c.model+" now.")
	} else {
		s.show(ctx, "The effort of this session is "+c.effort+" now.")
	}
	s.finish(ctx, session.Done, "ok", "request", "")
}

// once is what to type where a turn's model needs no other start: the program runs as the session does, and has a command for that model.
func (s *claude) once(ctx context.Context, t *session.Turn) (typed string, can bool) {
	model := strings.TrimPrefix(t.Options.Model, "claude/")
	if !s.row.Once || model == s.row.Model || s.row.RunModel != s.row.Model ||
		s.row.RunEffort != orElse(t.Options.Effort, s.row.Effort) || s.skipEnded(ctx) {
		return "", false
	}
	return agents.Once(model, tidy(t.Text()))
}

// skipEnded says that the program skips permissions by a grant that ended.
func (s *claude) skipEnded(ctx context.Context) bool {
	return s.row.Skip && s.d.maySkip(ctx, s.row.Tenant, s.row.Folder, false) != nil
}

// dress starts the program anew when a turn wants another model or effort than it runs with, or the session's own again.
// Flags of a start bind nobody else; the program's own commands would change what is saved for every session.
func (s *claude) dress(ctx context.Context, t *session.Turn) error {
	model, effort := s.row.Model, s.row.Effort
	if m := strings.TrimPrefix(t.Options.Model, "claude/"); m != "" {
		model = m
	}
	if t.Options.Effort != "" {
		effort = t.Options.Effort
	}
	ended := s.skipEnded(ctx)
	if model == s.row.RunModel && effort == s.row.RunEffort && !ended {
		return nil
	}
	// A grant to skip permissions that ended leaves the program with them.
	s.update(func(r *row) bool { r.RunModel, r.RunEffort, r.Skip = model, effort, r.Skip && !ended; return true })
	if err := s.launch(ctx); err != nil {
		return err
	}
	if !s.waitFor(ctx, 2*patience, func() bool {
		s.observe(ctx)
		return s.view().State.Rests() || s.view().State.Gone()
	}) || s.view().State.Gone() {
		return fault.New(fault.Unavailable, "session.send", "the program did not start with model %q and effort %q: %s", model, effort,
			s.view().Detail)
	}
	return nil
}
