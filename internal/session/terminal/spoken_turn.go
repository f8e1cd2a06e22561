package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session"
	"tandem/internal/session/agents"
	"tandem/internal/session/screen"
)

// pickUp continues the turn that was open when the server stopped: it runs on, it ended meanwhile, or it never arrived.
func (s *spoken) pickUp(ctx context.Context) error {
	t, err := s.d.room.Take(ctx, s.row.Tenant, s.row.Session)
	if err != nil || t == nil || t.StartedAt == nil {
		return err
	}
	ms, err := s.d.room.Messages(ctx, s.row.Tenant, s.row.Session)
	if err != nil {
		return err
	}
	for _, m := range ms {
		s.heard["stored "+m.ID] = true
	}
	turn, found := s.row.Known, s.row.Typed == t.ID
	s.begin(t)
	s.since, s.resumed, s.marks = *t.StartedAt, true, nil // how its folder stood nobody knows any more
	if found {
		s.name(turn)
	}
	s.waitFor(ctx, patience, func() bool { s.look(ctx); return s.link != nil || s.view().State.Gone() })
	if s.link == nil {
		return nil // judged by what comes: the program is gone, or will answer
	}
	if !found {
		for range 20 { // the conversation may not be loaded yet
			if turn, found, err = s.link.Find(ctx, agents.Prompt{ID: t.ID, Text: tidy(t.Text())}); found {
				break
			}
			s.waitFor(ctx, 100*time.Millisecond, func() bool { return false })
		}
	}
	switch {
	case found:
		s.name(turn)
		s.update(func(r *row) bool { r.Typed = t.ID; return true })
		if t.State == session.Waiting { // its request is sent again
			s.turn, err = s.d.room.Start(ctx, t)
		}
		return err
	case s.row.Typing == t.ID:
		s.finish(ctx, session.Failed, "error: not delivered", s.signal(),
			"the server stopped while the prompt was being sent, and the agent never took it; it was not sent again")
	default:
		s.turn = nil // nothing was sent: the turn is delivered as if it were new
	}
	return nil
}

// follow looks whether the turn is over.
func (s *spoken) follow(ctx context.Context) {
	defer s.forget(ctx)
	if t, err := s.d.room.Again(ctx, s.turn); err == nil {
		if t.State.Ended() { // a waiting turn that was cancelled ends at once in its rows; the program has to follow
			s.interrupt(ctx)
			s.turn = nil
			return
		}
		s.turn = t
	}
	switch e := s.over; {
	case e == nil && s.turn.Cancel:
		s.interrupt(ctx)
	case e == nil:
	case e.Kind == agents.Failed:
		s.finish(ctx, session.Failed, "error: "+e.Failure, s.signal()+" turn end", e.Failure+": "+e.Text)
	case e.Kind == agents.Interrupted:
		s.finish(ctx, session.Cancelled, "interrupted", s.signal()+" turn end", "interrupted")
	default:
		s.finish(ctx, session.Done, "ok", s.signal()+" turn end", "")
	}
}

// interrupt asks the program to stop, and waits for it to say so.
func (s *spoken) interrupt(ctx context.Context) {
	if s.link == nil || s.own == "" {
		return
	}
	s.dropWaits("the turn was interrupted")
	if err := s.link.Interrupt(ctx, s.own); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		s.d.log.Debug("interrupt a turn", "session", s.row.Session, "err", err)
	}
	s.waitFor(ctx, 5*time.Second, func() bool { return s.over != nil || s.link == nil })
}

// deliver gives the program a prompt, and knows from its answer that it was taken.
func (s *spoken) deliver(ctx context.Context, t *session.Turn) {
	text := tidy(t.Text())
	if c, ok := choiceOf(text); ok { // the next prompt carries it
		s.choose(ctx, t, c, func(context.Context, *session.Turn) error { return nil })
		return
	}
	t, err := s.d.room.Start(ctx, t)
	if err != nil {
		s.d.log.Error("start a turn", "session", s.row.Session, "err", err)
		return
	}
	text = tidy(t.Text()) // with what the conversation is told at its beginning
	s.begin(t)
	fail := func(signal string, err error) {
		s.finish(ctx, session.Failed, "error: not delivered", signal, fault.Public(err).Msg)
	}
	switch {
	case t.Cancel:
		s.finish(ctx, session.Cancelled, "interrupted", "request", "cancelled before it was sent")
		return
	case CheckText(text) != nil:
		fail("request", CheckText(text))
		return
	}
	if err := s.hears(ctx, t); err != nil {
		fail("request", err)
		return
	}
	if err := s.within(ctx, t, false); err != nil {
		fail("request", err)
		return
	}
	if s.row.Skip && s.d.maySkip(ctx, s.row.Tenant, s.row.Folder, false) != nil {
		fail("request", fault.New(fault.Denied, "session.send", "the grant to skip permissions ended").
			WithNext("close the session and open it again, with its permissions"))
		return
	}
	s.update(func(r *row) bool { r.Typing = t.ID; return true })
	if strings.HasPrefix(text, "/") && !strings.Contains(text, "\n") {
		s.command(ctx, text)
		return
	}
	model, effort := s.row.Model, s.row.Effort
	if _, m, ok := strings.Cut(t.Options.Model, "/"); ok {
		model = m
	}
	p := agents.Prompt{ID: t.ID, Text: text, Model: model, Effort: orElse(t.Options.Effort, effort)}
	turn, err := s.link.Prompt(ctx, p)
	if err != nil {
		// It may have arrived all the same: the program's own record says.
		found := false
		s.waitFor(ctx, 5*time.Second, func() bool {
			s.look(ctx)
			if s.link != nil {
				turn, found, _ = s.link.Find(ctx, p)
			}
			return found || s.view().State.Gone()
		})
		if !found {
			fail(s.signal(), fault.New(fault.Unavailable, "session.send", "the agent did not take the prompt: %v; it is not sent again", err).
				WithNext("look at the terminal: %s", s.row.Attach))
			return
		}
	}
	s.busy = true
	s.mark("receipt")
	s.took(ctx)
	s.name(turn)
	s.set(Working, s.signal()+" turn", "")
}

// enter types a line into an empty input box and sends it, once the box shows that line and no other.
func (s *spoken) enter(ctx context.Context, text string) error {
	if err := s.d.tmux.Type(ctx, s.row.Name, text); err != nil {
		return fmt.Errorf("the terminal took no keys: %w", err)
	}
	s.waitFor(ctx, 3*between, func() bool { return false })
	var r screen.Reading
	var err error
	// a busy machine draws late
	s.waitFor(ctx, 10*time.Second, func() bool { r, err = s.screen(ctx); return err == nil && ours(r.Draft, text) })
	switch {
	case err != nil:
		return fmt.Errorf("the screen cannot be read after typing, so nothing was sent: %w", err)
	case !ours(r.Draft, text):
		return errors.New("the input box does not show what was typed, so it was not sent")
	}
	return s.d.tmux.Keys(ctx, s.row.Name, "Enter")
}

// command types a slash command, which only the terminal's program knows. It ends with what it shows; a dialog that it opens
// is read and closed.
func (s *spoken) command(ctx context.Context, text string) {
	fail := func(why string) {
		s.finish(ctx, session.Failed, "error: not delivered", "screen", why+"; nothing was typed")
	}
	var r screen.Reading
	var err error
	s.waitFor(ctx, 10*time.Second, func() bool { // a conversation that is resumed is shown after its server knows it
		r, err = s.screen(ctx)
		return err == nil && (r.State == screen.Ready || r.State.Waiting())
	})
	switch {
	case err != nil:
		fail("the screen cannot be read")
		return
	case s.pane.InMode:
		fail("somebody looks back in the terminal (copy mode)")
		return
	case r.State != screen.Ready:
		fail("no empty input box is on the screen (" + string(r.State) + ")")
		return
	case r.Draft != "":
		fail("a draft stands in the input box")
		return
	}
	old := s.row.Conversation
	was, _ := s.d.tmux.Capture(ctx, s.row.Name, 0)
	if err := s.enter(ctx, text); err != nil {
		s.finish(ctx, session.Failed, "error: not delivered", "screen", err.Error())
		return
	}
	var calm time.Time
	s.waitFor(ctx, patience/2, func() bool {
		r, err = s.screen(ctx)
		switch {
		case s.row.Conversation != old || s.own != "" || err == nil && r.State.Waiting():
			return true
		case err == nil && r.State == screen.Ready && r.Draft == "":
			if calm.IsZero() {
				calm = time.Now()
			}
			return time.Since(calm) > settle
		}
		calm = time.Time{}
		return false
	})
	shown, _ := s.d.tmux.Capture(ctx, s.row.Name, 0)
	switch {
	case s.own != "": // it became a prompt: the turn runs like any other
		return
	case s.row.Conversation != old:
		s.finish(ctx, session.Done, "ok", s.signal()+" conversation", "")
		return
	case r.State.Waiting():
		s.show(ctx, s.steady(ctx, func(now string) string { return strings.Join(fresh(lines(was), lines(now)), "\n") }))
		for range 3 { // a picker may lead back to another one
			if err := s.d.tmux.Keys(ctx, s.row.Name, "Escape"); err != nil {
				s.d.log.Debug("close a dialog", "session", s.row.Session, "err", err)
				break
			}
			if s.waitFor(ctx, 2*time.Second, func() bool { now, err := s.screen(ctx); return err == nil && !now.State.Waiting() }) {
				break
			}
		}
	default:
		if i := strings.LastIndex(shown, "\n"+text); i >= 0 {
			shown = shown[i+1+len(text):]
		}
		if i := strings.LastIndex(shown, "\n›"); i >= 0 {
			shown = shown[:i]
		}
		s.show(ctx, shown)
	}
	s.finish(ctx, session.Done, "ok", "screen "+r.Signal, "")
}
