package terminal

import (
	"context"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// begin takes a turn into the seat's hands.
func (s *seat) begin(t *session.Turn) {
	s.turn, s.since, s.moved, s.spent, s.round = t, time.Now(), time.Now(), nil, round{}
	s.said.Reset()
	s.marks, s.resumed = nil, false
	if s.stage == nil && s.row.Relay == "" {
		var err error
		if s.marks, err = s.d.room.Mark(s.d.base, s.row.Folder); err != nil {
			s.d.log.Debug("look at a session's folder", "session", s.row.Session, "err", err)
		}
	}
	s.prog.began()
}

// Left is what a turn left behind, for whoever is told that it ended.
type Left struct {
	Said   string
	Commit string // where the folder's repository stands, if the turn moved it; "" otherwise
	Files  int    // how many files changed, came or went; negative when nobody knows
}

// left looks what the turn left.
func (s *seat) left(ctx context.Context) Left {
	l := Left{Said: strings.TrimSpace(s.said.String()), Files: -1}
	if s.marks == nil {
		return l
	}
	now, err := s.d.room.Mark(ctx, s.row.Folder)
	if err != nil {
		return l
	}
	l.Commit, l.Files = s.marks.Until(now)
	return l
}

// took counts a turn that the program took: whatever becomes of it, it calls the model.
func (s *seat) took(ctx context.Context) {
	s.update(func(r *row) bool { r.Typed, r.Begun = s.turn.ID, true; return true })
	t, err := s.d.room.Spend(ctx, s.turn, provider.Usage{}, 0)
	if err != nil {
		s.d.log.Error("count a turn", "session", s.row.Session, "err", err)
		return
	}
	s.turn = t
}

func (s *claude) began() {
	s.worked, s.stopped, s.cut, s.over, s.failure, s.prompt, s.idleSince = false, nil, false, false, "", "", time.Time{}
}

// pickUp continues the turn that was open when the server stopped. What may have been typed is not typed again.
func (s *claude) pickUp(ctx context.Context) error {
	if s.view().State != Starting {
		s.started = true // it was heard before the server stopped
	}
	t, err := s.d.room.Take(ctx, s.row.Tenant, s.row.Session)
	if err != nil || t == nil || t.StartedAt == nil {
		return err
	}
	ms, err := s.d.room.Messages(ctx, s.row.Tenant, s.row.Session)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, m := range ms {
		known[m.ID] = true
	}
	before := agents.Transcript{Path: s.transcript.Path, Root: s.transcript.Root}
	entries, err := before.Next()
	if err != nil {
		return err
	}
	prompted := s.row.Typed == t.ID
	for _, e := range entries {
		if known[messageID(e.ID)] {
			s.heard[e.ID], s.heard[e.Message] = true, true
		}
		if e.Kind == agents.Prompted && e.At.After(t.StartedAt.Add(-2*time.Second)) && same(e.Text, t.Text()) {
			prompted = true
		}
	}
	switch {
	case prompted:
		s.begin(t)
		s.since, s.worked, s.resumed, s.marks = *t.StartedAt, true, true, nil // how its folder stood nobody knows any more
		if t.State == session.Waiting {                                       // its dialog's hook asks again by itself
			s.turn, err = s.d.room.Start(ctx, t)
		}
		return err
	case s.row.Typing == t.ID:
		s.begin(t)
		s.finish(ctx, session.Failed, "error: not delivered", "transcript",
			"the server stopped while the prompt was being typed, and the agent never took it; it was not typed again")
		s.clearOwn(ctx, t.Text()) // what was typed of it would stand in the way of the next one
	default: // nothing was typed: the turn is delivered as if it were new
	}
	return nil
}

// follow looks whether the turn is over.
func (s *claude) follow(ctx context.Context) {
	if t, err := s.d.room.Again(ctx, s.turn); err == nil {
		if t.State.Ended() { // a waiting turn that was cancelled ends at once in its rows; the program has to follow
			s.interrupt(ctx)
			s.turn = nil
			return
		}
		s.turn = t
	}
	if s.turn.Cancel && s.stopped == nil {
		s.interrupt(ctx)
		return
	}
	switch {
	case s.stopped != nil && s.stopped.Event == "StopFailure":
		s.waitFor(ctx, time.Second, func() bool { return s.failure != "" })
		s.finish(ctx, session.Failed, "error: "+s.stopped.Error, "hook StopFailure", s.stopped.Error+": "+s.stopped.Last)
	case s.stopped != nil:
		s.waitFor(ctx, time.Second, func() bool {
			return s.stopped.Last == "" || strings.Contains(s.said.String(), strings.TrimSpace(s.stopped.Last))
		})
		s.finish(ctx, session.Done, "ok", "hook Stop", "")
	case s.cut && (s.idleSince.IsZero() || time.Since(s.idleSince) > 200*time.Millisecond):
		s.finish(ctx, session.Cancelled, "interrupted", "transcript", "interrupted")
	case !s.worked || s.idleSince.IsZero() || time.Since(s.idleSince) < settle:
		return // at work, or the hook may still be on its way
	case s.failure != "":
		s.finish(ctx, session.Failed, "error: "+s.failure, "transcript", s.failure)
	case s.over:
		s.finish(ctx, session.Done, "ok", "transcript turn_duration", "")
	default:
		s.finish(ctx, session.Cancelled, "interrupted", "registry", "interrupted before anything was said")
		s.clearBox(ctx)
	}
}

// CrashOutcome is the outcome of a turn whose program crashed.
const CrashOutcome = "error: " + string(Crashed)

// LimitedOutcome is the outcome of a turn that the provider refused for its rate.
const LimitedOutcome = "error: rate_limit"

// CirclesOutcome is the outcome of a turn that was ended because its agent made the same call again and again.
const CirclesOutcome = "error: circles"

// UncitedOutcome is the outcome of a turn whose answer does not cite what was read, and must.
const UncitedOutcome = "error: uncited"

// finish ends the turn, its seat's part in it and the notice of it in one transaction.
func (s *seat) finish(ctx context.Context, state session.TurnState, outcome, signal, reason string) {
	ctx = context.WithoutCancel(ctx)
	s.prog.ending(ctx)
	s.unpass(nil)
	var cause session.Cause
	if s.spent != nil && state == session.Cancelled {
		state, outcome, reason, cause = session.Failed, s.outcome, fault.Public(s.spent).Msg, session.CauseOf(s.spent)
	}
	if state == session.Done && !strings.HasPrefix(signal, "screen") && !s.resumed {
		s.check(ctx)
	}
	if state == session.Done {
		why, err := s.d.room.Uncited(ctx, s.turn)
		if err != nil { // its end looks again
			s.d.log.Error("look what an answer cites", "session", s.row.Session, "err", err)
		}
		if why != "" {
			state, outcome, reason = session.Failed, UncitedOutcome, why
		}
	}
	// Who waits for the turn looks at the seat as soon as it has ended.
	s.mu.Lock()
	s.row.Outcome, s.row.EndedBy, s.row.Typing, s.row.Limit = outcome, signal, "", ""
	if outcome == LimitedOutcome {
		s.row.Limit, s.row.Limited = reason, s.turn.ID // its end tells of it
	}
	if s.row.State == Working || s.row.State == Retrying || s.row.State == RateLimited {
		s.row.State, s.row.Signal, s.row.Detail, s.row.Since = Ready, signal, s.row.Limit, s.d.db.Now()
		if outcome == LimitedOutcome {
			s.row.State = RateLimited
		}
	}
	r := s.row
	s.mu.Unlock()
	err := s.d.conclude(ctx, &r, s.turn, ending{state, reason, cause}, s.left(ctx))
	if fault.Is(err, fault.Conflict) { // it had ended in its rows already
		err = s.store(&r)
	}
	if err != nil {
		s.d.log.Error("end a turn", "session", s.row.Session, "turn", s.turn.ID, "err", err)
		return // looked at again at the next step
	}
	s.stored(&r)
	s.turn = nil
	s.dropWaits("the turn ended")
	s.d.moved()
}

// ending is how a turn ends.
type ending struct {
	state  session.TurnState
	reason string
	cause  session.Cause
}

// conclude ends a turn; what is known of its seat and whoever is told of it are in the same transaction.
func (d *Driver) conclude(ctx context.Context, r *row, t *session.Turn, e ending, left Left) error {
	d.settle(ctx, r, t.ID, false)
	_, err := d.room.EndFor(ctx, t, e.state, e.reason, e.cause, func(tx *db.Tx, s *session.Session, t *session.Turn) error {
		if err := save(tx, r); err != nil || d.Ended == nil || r.Probe {
			return err
		}
		return d.Ended(tx, r.Seat, s, t, left)
	})
	return err
}

// ending is told what the hook said and the transcript did not have yet: it is as good.
func (s *claude) ending(ctx context.Context) {
	if s.stopped != nil && s.stopped.Last != "" && !strings.Contains(s.said.String(), strings.TrimSpace(s.stopped.Last)) {
		s.say(ctx, agents.Entry{ID: newConversation(), Text: s.stopped.Last})
	}
	s.expect = ""
}

// waitFor hears hooks and reads the transcript until ok, or the time is up.
func (s *seat) waitFor(ctx context.Context, most time.Duration, ok func() bool) bool {
	end := time.NewTimer(most)
	defer end.Stop()
	for {
		s.prog.read(ctx)
		if ok() {
			return true
		}
		pause := time.NewTimer(30 * time.Millisecond)
		select {
		case <-ctx.Done():
			pause.Stop()
			return false
		case <-end.C:
			pause.Stop()
			return ok()
		case h := <-s.hooks:
			s.prog.hear(ctx, h)
		case <-pause.C:
		}
		pause.Stop()
	}
}

// interrupt stops the running turn as a person would: one Escape, and not a second one unless the program still works.
func (s *claude) interrupt(ctx context.Context) {
	prompt := s.turn.Text()
	for range 3 {
		s.lookReg(ctx)
		if s.hasReg && s.reg.Status == "waiting" && s.reg.WaitingFor != "permission prompt" {
			return // a dialog that a person opened: Escape would answer it
		}
		if s.hasReg && s.reg.Idle() && (s.worked || s.cut) {
			break
		}
		s.dropWaits("the turn was interrupted")
		if err := s.d.tmux.Keys(ctx, s.row.Name, "Escape"); err != nil {
			return
		}
		if s.waitFor(ctx, 3*time.Second, func() bool { s.lookReg(ctx); return s.stopped != nil || s.hasReg && s.reg.Idle() }) {
			break
		}
	}
	s.waitFor(ctx, 700*time.Millisecond, func() bool { return s.cut || s.stopped != nil })
	signal := "registry"
	if s.cut {
		signal = "transcript"
	}
	if s.stopped != nil { // it had ended by itself
		s.finish(ctx, session.Done, "ok", "hook "+s.stopped.Event, "")
		return
	}
	s.finish(ctx, session.Cancelled, "interrupted", signal, "interrupted")
	s.clearOwn(ctx, prompt)
}

func (s *claude) lookReg(ctx context.Context) {
	if p, err := s.d.tmux.Pane(ctx, s.row.Name); err == nil {
		s.pane = p
	}
	s.lookUp()
}

// clearBox removes the prompt that an early interrupt puts back into the input box.
func (s *claude) clearBox(ctx context.Context) {
	if ms, err := s.d.room.Messages(ctx, s.row.Tenant, s.row.Session); err == nil {
		for i := len(ms) - 1; i >= 0; i-- {
			if ms[i].Role == session.RoleUser {
				s.clearOwn(ctx, provider.Reply{Blocks: ms[i].Blocks}.Text())
				return
			}
		}
	}
}

// clearOwn empties the input box when what stands in it is our own prompt, and leaves a person's draft alone.
func (s *claude) clearOwn(ctx context.Context, prompt string) {
	for i := range 400 {
		r, err := s.screen(ctx)
		if err != nil || r.Draft == "" && i > 0 {
			return
		}
		if r.Draft == "" {
			if !s.waitFor(ctx, 400*time.Millisecond, func() bool { r, err = s.screen(ctx); return err == nil && r.Draft != "" }) {
				return
			}
		}
		if i == 0 && !ours(r.Draft, prompt) {
			return
		}
		if err := s.d.tmux.Keys(ctx, s.row.Name, "C-u", "BSpace"); err != nil {
			return
		}
		s.waitFor(ctx, 60*time.Millisecond, func() bool { return false })
	}
}
