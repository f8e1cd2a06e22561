package terminal

import (
	"context"
	"errors"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/agents"
	"tandem/internal/session/screen"
)

// spoken is a seat with a program that is spoken to through a server of its own: Codex, OpenCode. Prompts, answers and
// interrupts are calls, so no key is pressed and a person's draft stays as it is; only slash commands are typed.
type spoken struct {
	*seat
	maker
	link   agents.Link
	events <-chan agents.Event
	tried  time.Time
	linked bool // there was a link since the launch
	busy   bool
	retry  string
	own    string // the program's name for the turn
	over   *agents.Event
	early  []agents.Event // told of a turn before its name was known
}

// maker is what differs between the programs that are spoken to.
type maker interface {
	prepare(ctx context.Context, s *spoken) (Launch, error)
	connect(ctx context.Context, s *spoken) (agents.Link, error)
	signal() string
}

func newSpoken(s *seat) *spoken {
	p := &spoken{seat: s, maker: codexProgram{}}
	if s.row.Agent == agents.OpenCodeName {
		p.maker = openCode{}
	}
	return p
}

func (s *spoken) prepare(ctx context.Context) (Launch, error) { return s.maker.prepare(ctx, s) }
func (s *spoken) finished() bool                              { return s.over != nil }
func (s *spoken) orderly() bool                               { return false }
func (s *spoken) hear(context.Context, hooked)                {}

func (s *spoken) launched() {
	s.close()
	s.linked, s.busy, s.retry, s.born = false, false, "", time.Now()
}

func (s *spoken) close() {
	if s.link != nil {
		s.link.Close()
		s.link, s.events = nil, nil
	}
}

// read takes in what the program told.
func (s *spoken) read(ctx context.Context) {
	for s.events != nil {
		select {
		case e, ok := <-s.events:
			if !ok { // looked at again: the program is gone, or its server will be back
				s.close()
				return
			}
			s.take(ctx, e)
		default:
			return
		}
	}
}

func (s *spoken) take(ctx context.Context, e agents.Event) {
	s.moved = time.Now()
	if s.turn != nil && s.own == "" && e.Turn != "" {
		s.early = append(s.early, e)
	}
	switch e.Kind {
	case agents.Moved:
		s.update(func(r *row) bool {
			if r.Conversation != e.Conversation {
				r.Conversation, r.Begun = e.Conversation, false
			}
			r.Version = orElse(e.Version, r.Version)
			return true
		})
	case agents.Working:
		s.busy, s.retry = true, ""
	case agents.Idle:
		s.busy, s.retry = false, ""
	case agents.Retrying:
		s.retry = e.Text
	case agents.Prompted:
		s.prompted(ctx, e)
	case agents.Said:
		if s.mine(e) && !s.heard[e.ID] && !s.heard["stored "+messageID(e.ID)] {
			s.mark("words")
			s.say(ctx, e.Entry)
		}
	case agents.Spent:
		if s.mine(e) {
			s.spend(ctx, e)
		}
	case agents.Asked:
		link := s.link
		s.d.all.Go(func() { s.asked(s.caller(s.d.base), link, e) })
	case agents.Questioned:
		link := s.link
		s.d.all.Go(func() { s.questioned(s.caller(s.d.base), link, e) })
	case agents.Settled:
		s.settleWaits("answered at the terminal, presence unproven", func(key string, _ *wait) bool { return key == "ask "+e.Ask })
	case agents.Ended, agents.Interrupted, agents.Failed:
		if s.mine(e) {
			s.over = &e
			s.mark("turn end")
		}
		s.busy, s.retry = false, ""
	}
}

// mine says whether an event belongs to the turn under way.
func (s *spoken) mine(e agents.Event) bool { return s.turn != nil && e.Turn == s.own }

// prompted hears that a prompt was taken: ours, or one that somebody typed.
func (s *spoken) prompted(ctx context.Context, e agents.Event) {
	s.update(func(r *row) bool { was := r.Begun; r.Begun = true; return !was })
	switch {
	case s.turn != nil && (e.Prompt == s.turn.ID || s.own == ""):
		if e.Prompt == s.turn.ID {
			s.name(e.Turn)
		}
	case s.turn == nil && strings.HasPrefix(e.Prompt, "turn_"):
		// One of ours that ended already.
	case s.turn == nil && s.fresh(e):
		if t := s.typedByHand(ctx, e.Text); t != nil {
			s.begin(t)
			s.name(e.Turn)
			s.set(Working, s.signal()+" turn", "")
		}
	}
}

// fresh says that a typed prompt is new, and not one that is told again after a restart.
func (s *spoken) fresh(e agents.Event) bool {
	if s.row.Known == e.Turn || s.heard["typed "+e.Turn] {
		return false
	}
	s.heard["typed "+e.Turn] = true
	return s.busy
}

// name keeps the program's name for the turn; what was told of it before counts.
func (s *spoken) name(turn string) {
	s.own = turn
	s.update(func(r *row) bool { was := r.Known; r.Known = turn; return was != turn })
	early := s.early
	s.early = nil
	for _, e := range early {
		switch e.Kind {
		case agents.Said, agents.Spent, agents.Ended, agents.Interrupted, agents.Failed:
			s.take(s.d.base, e)
		}
	}
}

func (s *spoken) begin(t *session.Turn) {
	s.seat.begin(t)
	s.own, s.over, s.retry = "", nil, ""
	s.early = nil
}

// spend counts the tokens of a model call.
func (s *spoken) spend(ctx context.Context, e agents.Event) {
	used := provider.Usage{Input: e.Tokens.Input, Output: e.Tokens.Output, CacheRead: e.Tokens.CacheRead, CacheWrite: e.Tokens.CacheWrite}
	t, err := s.d.room.Spend(ctx, s.turn, used, 0)
	if err != nil {
		s.d.log.Debug("count tokens", "session", s.row.Session, "err", err)
		return
	}
	s.turn = t
}

// caller is the session itself: its program's tools act with its rights and no more.
func (s *spoken) caller(ctx context.Context) context.Context {
	c, err := s.d.caller(s.row.Tenant, s.row.Session)(ctx)
	if err != nil {
		return ctx // nobody: the gate refuses
	}
	return op.WithCaller(ctx, c)
}

func (s *spoken) look(ctx context.Context) {
	s.read(ctx)
	if s.link == nil && time.Since(s.tried) > 150*time.Millisecond {
		s.tried = time.Now()
		s.connectNow(ctx)
	}
	s.judge(ctx)
}

func (s *spoken) connectNow(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	link, err := s.maker.connect(ctx, s)
	if err != nil {
		s.d.log.Debug("reach a program", "session", s.row.Session, "err", err)
		return
	}
	in := make(chan agents.Event, 4096)
	s.link, s.events, s.linked, s.busy = link, in, true, false
	s.mark("server")
	s.d.all.Go(func() {
		defer close(in)
		for e := range link.Events() {
			in <- e
			s.nudge()
		}
		s.nudge()
	})
}

// judge says what the signals mean together.
func (s *spoken) judge(ctx context.Context) {
	waits := s.openWaits()
	known := s.row.Conversation != ""
	switch {
	case len(waits) > 0 && waits[0].question:
		s.set(Asking, s.signal()+" request", waits[0].detail)
	case len(waits) > 0:
		s.set(Permission, s.signal()+" request", waits[0].detail)
	case s.link == nil && s.linked:
		s.set(Working, "none", "its server does not answer; it is looked for again")
	case s.link == nil || !known && s.turn == nil:
		s.byScreen(ctx)
	case s.retry != "":
		s.set(Retrying, s.signal(), s.retry)
	case s.turn != nil && time.Since(s.moved) > s.d.hangAfter():
		s.set(Hung, s.signal(), "nothing moved for "+s.d.hangAfter().String())
	case s.busy || s.turn != nil && s.over == nil:
		s.set(Working, s.signal(), "")
	default:
		s.set(Ready, s.signal(), "")
	}
}

// byScreen is for a program that does not answer yet: something may stand on its screen that a person has to answer.
func (s *spoken) byScreen(ctx context.Context) {
	if time.Since(s.lookedAt) < time.Second || time.Since(s.born) < 3*time.Second {
		return
	}
	s.lookedAt = time.Now()
	if r, err := s.screen(ctx); err == nil && r.State.Waiting() {
		s.set(Dialog, "screen "+r.Signal, string(r.State)+": a person has to answer it: "+s.row.Attach)
	}
}

// pickUp continues the turn that was open when the server stopped: it runs on, it ended meanwhile, or it never arrived.
func (s *spoken) pickUp(ctx context.Context) error {
	t, err := s.d.room.Next(ctx, s.row.Tenant, s.row.Session)
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
	s.since = *t.StartedAt
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
		s.finish(ctx, session.Failed, "error: not delivered", s.signal(), "the server stopped while the prompt was being sent, and the agent never took it; it was not sent again")
	default:
		s.turn = nil // nothing was sent: the turn is delivered as if it were new
	}
	return nil
}

// follow looks whether the turn is over.
func (s *spoken) follow(ctx context.Context) {
	if t, err := s.d.room.Turn(ctx, s.turn.Tenant, s.turn.ID); err == nil {
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
	t, err := s.d.room.Start(ctx, t)
	if err != nil {
		s.d.log.Error("start a turn", "session", s.row.Session, "err", err)
		return
	}
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
	if err := s.within(ctx, t, false); err != nil {
		fail("request", err)
		return
	}
	if s.row.Skip && s.d.maySkip(ctx, s.row.Tenant, s.row.Folder, false) != nil {
		fail("request", fault.New(fault.Denied, "session.send", "the grant to skip permissions ended").WithNext("close the session and open it again, with its permissions"))
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
			fail(s.signal(), fault.New(fault.Unavailable, "session.send", "the agent did not take the prompt: %v; it is not sent again", err).WithNext("look at the terminal: %s", s.row.Attach))
			return
		}
	}
	s.busy = true
	s.mark("receipt")
	s.update(func(r *row) bool { r.Typed, r.Begun = t.ID, true; return true })
	s.name(turn)
	s.set(Working, s.signal()+" turn", "")
}

// command types a slash command, which only the terminal's program knows. It ends with what it shows; a dialog that it opens
// is read and closed.
func (s *spoken) command(ctx context.Context, text string) {
	fail := func(why string) {
		s.finish(ctx, session.Failed, "error: not delivered", "screen", why+"; nothing was typed")
	}
	r, err := s.screen(ctx)
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
	if err := s.d.tmux.Type(ctx, s.row.Name, text); err == nil {
		s.waitFor(ctx, 3*between, func() bool { return false })
		if r, err = s.screen(ctx); err == nil && ours(r.Draft, text) {
			err = s.d.tmux.Keys(ctx, s.row.Name, "Enter")
		}
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
		s.show(ctx, shown)
		if err := s.d.tmux.Keys(ctx, s.row.Name, "Escape"); err != nil {
			s.d.log.Debug("close a dialog", "session", s.row.Session, "err", err)
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

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
