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

// command types a slash command. It ends with what it shows; a dialog that it opens is read and closed.
func (s *claude) command(ctx context.Context, text string) {
	text = agents.ProjectCommand(text, agents.ProjectNames(s.copied()))
	s.expect, s.taken = text, false
	defer func() { s.expect = "" }()
	old := s.row.Conversation
	was, err := s.d.tmux.Capture(ctx, s.row.Name, 0)
	if err == nil {
		err = s.enter(ctx, text)
	}
	if err != nil {
		s.finish(ctx, session.Failed, "error: not delivered", "tmux", fault.Public(err).Msg)
		return
	}
	s.since = time.Now()
	r := s.answered(ctx, old)
	switch {
	case s.taken: // it became a prompt: the turn runs like any other
		s.took(ctx)
	case s.row.Conversation != old:
		s.finish(ctx, session.Done, "ok", "hook SessionStart", "")
	case s.hasReg && s.reg.Status == "waiting":
		s.show(ctx, s.steady(ctx, func(now string) string { return below(now, text) }))
		s.dismiss(ctx)
		s.finish(ctx, session.Done, "ok", "registry", "")
	case r.Draft != "" && ours(r.Draft, text):
		s.clearOwn(ctx, text)
		s.finish(ctx, session.Failed, "error: not delivered", "screen", "the command was not taken")
	default:
		if s.said.Len() == 0 {
			s.show(ctx, s.steady(ctx, func(now string) string { return after(was, now, text) }))
		}
		s.finish(ctx, session.Done, "ok", "screen input box", "")
	}
}

// enter types a line and sends it. What commands printed before it is no answer to it.
func (s *claude) enter(ctx context.Context, text string) error {
	s.typed, s.hush = time.Now(), false
	if err := s.d.tmux.Type(ctx, s.row.Name, text); err != nil {
		return err
	}
	s.waitFor(ctx, 2*between, func() bool { return false })
	return s.d.tmux.Keys(ctx, s.row.Name, "Enter")
}

// answered waits until a command became a prompt, moved the conversation, opened a dialog or left the program at rest.
func (s *claude) answered(ctx context.Context, conversation string) (r screen.Reading) {
	var calm time.Time
	s.waitFor(ctx, patience, func() bool {
		s.lookReg(ctx)
		r, _ = s.screen(ctx)
		switch {
		case s.taken, s.row.Conversation != conversation, s.hasReg && s.reg.Status == "waiting":
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
	return r
}

// dismiss closes a dialog that a command opened. That it was closed is printed by the program, and is no answer to anything.
func (s *claude) dismiss(ctx context.Context) {
	s.hush, s.hushed = true, false
	if err := s.d.tmux.Keys(ctx, s.row.Name, "Escape"); err != nil {
		s.d.log.Debug("close a dialog", "session", s.row.Session, "err", err)
		return
	}
	s.waitFor(ctx, 5*time.Second, func() bool { s.lookReg(ctx); return s.hasReg && s.reg.Idle() })
	s.waitFor(ctx, time.Second, func() bool { return s.hushed })
}

// steady is a part of the screen once it is there and drawn to its end.
func (s *seat) steady(ctx context.Context, part func(string) string) (shown string) {
	last, since := "", time.Now()
	s.waitFor(ctx, 5*time.Second, func() bool {
		now, err := s.d.tmux.Capture(ctx, s.row.Name, 0)
		if err != nil {
			return false
		}
		if shown = strings.TrimSpace(part(now)); shown != last {
			last, since = shown, time.Now()
		}
		return shown != "" && time.Since(since) > 2*between
	})
	return shown
}

// rule begins a line that Claude Code draws around its input box and its dialogs.
const rule = "────────"

// below is what stands on the screen below the echo of a command, without the rules around it.
func below(shown, text string) string {
	if i := strings.LastIndex(shown, "❯ "+text); i >= 0 {
		shown = shown[i+len("❯ "+text):]
	}
	var out []string
	for line := range strings.SplitSeq(shown, "\n") {
		if !strings.HasPrefix(line, rule) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// after is what a command printed above the input box: what follows its echo, or what was not there before.
func after(was, shown, text string) string {
	if i := strings.LastIndex(shown, "❯ "+text); i >= 0 {
		shown, _, _ = strings.Cut(shown[i+len("❯ "+text):], rule)
		return shown
	}
	return strings.Join(fresh(above(was), above(shown)), "\n")
}

// above are the lines above the input box.
func above(shown string) []string {
	all := lines(shown)
	for i := len(all) - 1; i > 0; i-- {
		if strings.HasPrefix(all[i], "❯") && strings.HasPrefix(all[i-1], rule) {
			return lines(strings.Join(all[:i-1], "\n"))
		}
	}
	return all
}

// lines are those of a screen, without the empty ones at its end.
func lines(shown string) []string {
	all := strings.Split(strings.TrimRight(shown, " \n"), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " ")
	}
	return all
}

// fresh are the lines that came since, also where older ones moved out at the top.
func fresh(was, now []string) []string {
	for k := range was {
		rest := was[k:]
		if len(rest) <= len(now) && strings.Join(now[:len(rest)], "\n") == strings.Join(rest, "\n") {
			return now[len(rest):]
		}
	}
	return now
}
