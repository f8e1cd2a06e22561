package terminal

import (
	"context"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session"
	"tandem/internal/session/agents"
	"tandem/internal/session/screen"
)

// How long the program is given, on a machine that may be busy.
const (
	patience = 30 * time.Second
	between  = 200 * time.Millisecond // text and Enter: in one read Enter is taken for a line break
)

// same compares a prompt with what the program says it got.
func same(a, b string) bool { return tidy(a) == tidy(b) }

// tidy is a prompt as the program takes it: it trims the ends, and a tab becomes four spaces in its input box.
func tidy(s string) string {
	return strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(s))
}

// ours says whether a draft on the screen is what we typed: long text is shown as a mark, and wide text is cut.
func ours(draft, text string) bool {
	draft, text = agents.Unwrapped(draft), agents.Unwrapped(text)
	if strings.HasPrefix(draft, "[Pasted text #") {
		return true
	}
	first, _, _ := strings.Cut(tidy(text), "\n")
	first, draft = strings.Join(strings.Fields(first), " "), strings.Join(strings.Fields(draft), " ")
	n := min(len(first), len(draft), 60)
	return n > 0 && first[:n] == draft[:n]
}

// deliver types a turn's prompt, and knows from the program itself that it was taken.
func (s *claude) deliver(ctx context.Context, t *session.Turn) {
	text := tidy(t.Text())
	if c, ok := choiceOf(text); ok {
		s.choose(ctx, t, c, s.dress)
		return
	}
	asIs := func() bool {
		err := s.dress(ctx, t)
		if err != nil {
			s.begin(t)
			s.finish(ctx, session.Failed, "error: not delivered", "launch", fault.Public(err).Msg)
		}
		return err == nil
	}
	_, once := s.once(ctx, t)
	if !once && !asIs() {
		return
	}
	t, err := s.d.room.Start(ctx, t)
	if err != nil {
		s.d.log.Error("start a turn", "session", s.row.Session, "err", err)
		return
	}
	text = tidy(t.Text()) // with what the conversation is told at its beginning
	if once {
		var typed string
		if typed, once = s.once(ctx, t); once {
			text = typed
		} else if !asIs() { // what was told first made it too long for that
			return
		}
	}
	s.begin(t)
	fail := func(signal string, err error) {
		s.finish(ctx, session.Failed, "error: not delivered", signal, fault.Public(err).Msg)
	}
	if t.Cancel {
		s.finish(ctx, session.Cancelled, "interrupted", "request", "cancelled before it was typed")
		return
	}
	for _, err := range []error{CheckText(text), s.guarded(), s.hears(ctx, t), s.within(ctx, t, false)} {
		if err != nil {
			fail("request", err)
			return
		}
	}
	if err := s.free(ctx); err != nil {
		fail("screen", err)
		return
	}
	s.update(func(r *row) bool { r.Typing = t.ID; return true })
	if !once && strings.HasPrefix(text, "/") && !strings.Contains(text, "\n") {
		s.command(ctx, text)
		return
	}
	s.expect, s.taken = text, false
	defer func() { s.expect = "" }()
	if err := s.d.tmux.Paste(ctx, s.row.Name, text); err != nil {
		fail("tmux", err)
		return
	}
	var r screen.Reading
	shown := s.waitFor(ctx, 5*time.Second, func() bool { r, err = s.screen(ctx); return err == nil && r.Draft != "" })
	if shown && !ours(r.Draft, text) {
		fail("screen", fault.New(fault.Conflict, "session.send",
			"somebody typed into the terminal at the same moment; the text was not submitted").WithNext("look at it: %s", s.row.Attach))
		return
	}
	s.waitFor(ctx, between, func() bool { return false })
	if err := s.submit(ctx, text); err != nil {
		fail("hook", err)
		return
	}
	s.since, s.moved = time.Now(), time.Now()
	s.took(ctx)
	s.set(Working, "hook UserPromptSubmit", "")
}

// guarded refuses a program whose hooks are not heard: what policy denies would run all the same.
func (s *claude) guarded() error {
	if s.started {
		return nil
	}
	return fault.New(fault.Conflict, "session.send",
		"this version of Claude Code does not call its hooks, so its tools cannot be guarded; nothing was typed").
		WithNext("use a version that does; which signals work is shown by: tandem session check")
}

// submit presses Enter, and once more only while our text still stands in the box: by then no dialog can be there that the
// key would answer.
func (s *claude) submit(ctx context.Context, text string) error {
	for try := range 2 {
		if try == 1 {
			r, err := s.screen(ctx)
			if err != nil || r.State != screen.Ready || !ours(r.Draft, text) {
				break
			}
		}
		if err := s.d.tmux.Keys(ctx, s.row.Name, "Enter"); err != nil {
			return err
		}
		if s.waitFor(ctx, 2500*time.Millisecond, func() bool { return s.taken }) {
			return nil
		}
	}
	if s.waitFor(ctx, patience, func() bool { return s.taken }) {
		return nil
	}
	return fault.New(fault.Unavailable, "session.send", "the agent did not say that it took the prompt; it is not typed again").
		WithNext("look at the terminal: %s", s.row.Attach)
}

// free makes sure that typing would reach an empty input box and nothing else.
func (s *claude) free(ctx context.Context) error {
	conflict := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Conflict, "session.send", format, args...).WithNext("look at the terminal: %s", s.row.Attach)
	}
	var r screen.Reading
	var err error
	s.waitFor(ctx, 3*time.Second, func() bool {
		s.lookReg(ctx)
		r, err = s.screen(ctx)
		return err == nil && (r.State == screen.Ready || r.State.Waiting()) && !s.pane.InMode
	})
	switch {
	case err != nil:
		return err
	case s.pane.InMode:
		return conflict("somebody looks back in the terminal (copy mode); nothing was typed")
	case s.hasReg && s.reg.Status == "waiting" || r.State.Waiting():
		return conflict("a dialog is open in the terminal (%s); nothing was typed", r.State)
	case r.State != screen.Ready:
		return conflict("no empty input box is on the screen (%s); nothing was typed", r.State)
	case r.Draft != "":
		s.mark("screen")
		return conflict("a draft stands in the input box; nothing was typed").With("draft", r.Draft)
	}
	s.mark("screen")
	return nil
}
