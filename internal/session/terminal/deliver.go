package terminal

import (
	"context"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session"
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
	if err := s.dress(ctx, t); err != nil {
		s.begin(t)
		s.finish(ctx, session.Failed, "error: not delivered", "launch", fault.Public(err).Msg)
		return
	}
	t, err := s.d.room.Start(ctx, t)
	if err != nil {
		s.d.log.Error("start a turn", "session", s.row.Session, "err", err)
		return
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
	if strings.HasPrefix(text, "/") && !strings.Contains(text, "\n") {
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
	return fault.New(fault.Conflict, "session.send", "this version of Claude Code does not call its hooks, so its tools cannot be guarded; nothing was typed").
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
	ended := s.row.Skip && s.d.maySkip(ctx, s.row.Tenant, s.row.Folder, false) != nil
	if model == s.row.RunModel && effort == s.row.RunEffort && !ended {
		return nil
	}
	// A grant to skip permissions that ended leaves the program with them.
	s.update(func(r *row) bool { r.RunModel, r.RunEffort, r.Skip = model, effort, r.Skip && !ended; return true })
	if err := s.launch(ctx); err != nil {
		return err
	}
	if !s.waitFor(ctx, 2*patience, func() bool {
		s.look(ctx)
		return s.view().State.Rests() || s.view().State.Gone()
	}) || s.view().State.Gone() {
		return fault.New(fault.Unavailable, "session.send", "the program did not start with model %q and effort %q: %s", model, effort,
			s.view().Detail)
	}
	return nil
}

// command types a slash command. It ends with what it shows; a dialog that it opens is read and closed.
func (s *claude) command(ctx context.Context, text string) {
	s.expect, s.taken = text, false
	defer func() { s.expect = "" }()
	old := s.row.Conversation
	err := s.d.tmux.Type(ctx, s.row.Name, text)
	if err == nil {
		s.waitFor(ctx, 2*between, func() bool { return false })
		err = s.d.tmux.Keys(ctx, s.row.Name, "Enter")
	}
	if err != nil {
		s.finish(ctx, session.Failed, "error: not delivered", "tmux", fault.Public(err).Msg)
		return
	}
	s.since = time.Now()
	var calm time.Time
	var r screen.Reading
	s.waitFor(ctx, patience, func() bool {
		s.lookReg(ctx)
		r, _ = s.screen(ctx)
		switch {
		case s.taken, s.row.Conversation != old, s.hasReg && s.reg.Status == "waiting":
			return true
		case s.hasReg && s.reg.Idle() && r.State == screen.Ready && r.Draft == "":
			if calm.IsZero() {
				calm = time.Now()
			}
			return time.Since(calm) > settle
		}
		calm = time.Time{}
		return false
	})
	switch {
	case s.taken: // it became a prompt: the turn runs like any other
		s.took(ctx)
	case s.row.Conversation != old:
		s.finish(ctx, session.Done, "ok", "hook SessionStart", "")
	case s.hasReg && s.reg.Status == "waiting":
		shown, _ := s.d.tmux.Capture(ctx, s.row.Name, 0)
		s.show(ctx, below(shown, text))
		if err := s.d.tmux.Keys(ctx, s.row.Name, "Escape"); err == nil {
			s.waitFor(ctx, 3*time.Second, func() bool { s.lookReg(ctx); return s.hasReg && s.reg.Idle() })
		}
		s.finish(ctx, session.Done, "ok", "registry", "")
	case r.Draft != "" && ours(r.Draft, text):
		s.clearOwn(ctx, text)
		s.finish(ctx, session.Failed, "error: not delivered", "screen", "the command was not taken")
	default:
		if s.said.Len() == 0 {
			shown, _ := s.d.tmux.Capture(ctx, s.row.Name, 0)
			s.show(ctx, after(shown, text))
		}
		s.finish(ctx, session.Done, "ok", "screen input box", "")
	}
}

// below is what stands on the screen below the echo of a command, without the rules around it.
func below(shown, text string) string {
	if i := strings.LastIndex(shown, "❯ "+text); i >= 0 {
		shown = shown[i+len("❯ "+text):]
	}
	var out []string
	for line := range strings.SplitSeq(shown, "\n") {
		if !strings.HasPrefix(line, "────────") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// after is what a command printed above the input box.
func after(shown, text string) string {
	if i := strings.LastIndex(shown, "❯ "+text); i >= 0 {
		shown, _, _ = strings.Cut(shown[i+len("❯ "+text):], "────────")
	}
	return shown
}
