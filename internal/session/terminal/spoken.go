package terminal

import (
	"context"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/session/agents"
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
	joined bool // the terminal's program is attached to its server
	busy   bool
	retry  *agents.Event // the provider failed, and is tried again
	own    string        // the program's name for the turn
	over   *agents.Event
	early  []agents.Event  // told of a turn before its name was known
	acting map[string]bool // the turn's calls of tools that have not ended
}

// maker is what differs between the programs that are spoken to.
type maker interface {
	prepare(ctx context.Context, s *spoken) (Launch, error)
	connect(ctx context.Context, s *spoken) (agents.Link, error)
	// attached says whether the terminal's program and its server belong together, out of reach of what the agent runs where that
	// can be done. Until then no prompt is given.
	attached(ctx context.Context, s *spoken) (bool, error)
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
func (s *spoken) ending(context.Context)                      {}
func (s *spoken) hear(_ context.Context, h hooked)            { s.mark("hook " + h.Event) }

func (s *spoken) launched() {
	s.close()
	s.linked, s.joined, s.busy, s.always, s.retry, s.born = false, false, false, nil, nil, time.Now()
}

// forget starts the program anew once the turn is over in which somebody said "always" at its dialog: the program would keep that for
// later calls, and policy would not be asked about them. Where policy denies some of them, the turn ends with it: see widened.
func (s *spoken) forget(ctx context.Context) {
	if len(s.always) == 0 || s.turn != nil {
		return
	}
	if err := s.launch(ctx); err != nil {
		s.gone(ctx, Crashed, "launch", fault.Public(err).Msg)
	}
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
			return true
		})
		if e.Version != "" && e.Version != s.row.Version {
			s.recall(ctx, e.Version)
		}
	case agents.Working:
		s.busy, s.retry = true, nil
	case agents.Idle:
		s.busy, s.retry = false, nil
	case agents.Retrying:
		s.retry = &e
	case agents.Prompted:
		s.prompted(ctx, e)
	case agents.Said:
		if s.mine(e) && !s.heard[e.ID] && !s.heard["stored "+messageID(e.ID)] {
			s.mark("words")
			s.say(ctx, e.Entry)
		}
	case agents.Acted:
		if s.mine(e) {
			s.calls(e.Act)
			s.act(ctx, e.Entry)
		}
	case agents.Spent:
		if s.mine(e) {
			s.spend(ctx, e)
		}
	case agents.Asked:
		s.mark("request")
		link := s.link
		s.d.all.Go(func() { s.asked(s.caller(s.d.base), link, e) })
	case agents.Questioned:
		link := s.link
		s.d.all.Go(func() { s.questioned(s.caller(s.d.base), link, e) })
	case agents.Settled:
		if e.Always {
			s.always = append(s.always, s.waitsFor("ask "+e.Ask))
		}
		s.settleWaits("answered at the terminal, presence unproven", func(key string, _ *wait) bool { return key == "ask "+e.Ask })
	case agents.Ended, agents.Interrupted, agents.Failed:
		if s.mine(e) {
			s.over = &e
			s.mark("turn end")
		}
		s.busy, s.retry = false, nil
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
		case agents.Said, agents.Acted, agents.Spent, agents.Ended, agents.Interrupted, agents.Failed:
			s.take(s.d.base, e)
		}
	}
}

func (s *spoken) began() {
	s.own, s.over, s.retry = "", nil, nil
	s.early, s.acting = nil, nil
}

// spend counts the tokens of a model call.
func (s *spoken) spend(ctx context.Context, e agents.Event) {
	if s.row.Probe || e.Message != "" && s.heard["spent "+e.Message] { // nobody's model was asked, or it is told again
		return
	}
	if e.Message != "" {
		s.heard["spent "+e.Message] = true
	}
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
	if s.link != nil && s.row.Conversation != "" && !s.joined {
		var err error
		if s.joined, err = s.maker.attached(ctx, s); err != nil {
			s.d.log.Debug("look whether a program is attached", "session", s.row.Session, "err", err)
		}
	}
	s.judge(ctx)
	s.forget(ctx)
}

func (s *spoken) connectNow(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	link, err := s.maker.connect(ctx, s)
	if fault.Is(err, fault.Conflict) { // a person has to mend it
		s.set(Dialog, s.signal(), fault.Public(err).Msg)
	}
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
	switch v := s.signs().meaning(); v.ask {
	case byEye:
		s.byScreen(ctx)
	case resting:
		s.rest(v.signal)
	default:
		s.finds(v)
	}
}

// signs are what the program shows now.
func (s *spoken) signs() spokenSigns {
	p := spokenSigns{link: s.link != nil, linked: s.linked, known: s.row.Conversation != "", joined: s.joined, retry: s.retry, busy: s.busy,
		turn: s.turn != nil, over: s.over != nil, signal: s.signal()}
	if waits := s.openWaits(); len(waits) > 0 {
		p.dialog = waits[0]
	}
	if long := s.patience(); s.hangs(long) {
		p.still = long
	}
	return p
}

// byScreen is for a program that does not answer yet: something may stand on its screen that a person has to answer.
func (s *spoken) byScreen(ctx context.Context) {
	if time.Since(s.lookedAt) < time.Second || time.Since(s.born) < 3*time.Second {
		return
	}
	s.lookedAt = time.Now()
	if r, err := s.screen(ctx); err == nil && r.State.Waiting() {
		s.finds(onScreen(r, s.row.Attach))
	}
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
