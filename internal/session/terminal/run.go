package terminal

import (
	"context"
	"strings"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/agents"
	"tandem/internal/session/screen"
	"tandem/internal/session/terminal/tmux"
)

// How often a seat looks at what does not tell by itself, and how long it waits for the better signal.
const (
	paceWorking = 150 * time.Millisecond
	paceIdle    = 700 * time.Millisecond
	settle      = 1200 * time.Millisecond
	hangAfter   = 10 * time.Minute
)

// seat is the live side of a session: one goroutine that hears its signals and types its prompts.
type seat struct {
	d      *Driver
	hooks  chan hooked
	wake   chan struct{}
	stop   context.CancelFunc
	done   chan struct{}
	socket string
	born   time.Time

	mu    sync.Mutex
	row   row
	waits map[string]*wait // dialogs that people were asked about

	// What follows belongs to the goroutine.
	turn       *session.Turn
	since      time.Time // when the turn's prompt was taken
	worked     bool      // the program was seen at work since then
	ended      *hooked   // Stop or StopFailure of this turn
	cut, over  bool      // the transcript told of an interrupt, of an end
	failure    string
	said       strings.Builder
	idleSince  time.Time
	transcript agents.Transcript
	heard      map[string]bool
	pane       tmux.Pane
	reg        agents.Registered
	hasReg     bool
	started    bool
	orderly    bool
	lookedAt   time.Time // at the screen
	moved      time.Time // last sign of life
	lastTitle  string
	expect     string // the prompt that was typed and not yet taken
	taken      bool
}

func (s *seat) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *seat) view() Seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row.Seat
}

// set changes the state that people see.
func (s *seat) set(state State, signal, detail string) {
	s.update(func(r *row) bool {
		if r.State == state && r.Signal == signal && r.Detail == detail {
			return false
		}
		if r.State != state {
			r.Since = s.d.db.Now()
		}
		r.State, r.Signal, r.Detail = state, signal, detail
		return true
	})
}

// update changes the row and stores it. A row that could not be stored is stored with the next change.
func (s *seat) update(fn func(r *row) bool) {
	s.mu.Lock()
	if !fn(&s.row) {
		s.mu.Unlock()
		return
	}
	r := s.row
	s.mu.Unlock()
	if err := s.store(&r); err != nil {
		s.d.log.Error("store a seat", "session", r.Session, "err", err)
	}
	s.d.moved()
}

func (s *seat) store(r *row) error {
	return s.d.db.Write(context.WithoutCancel(s.d.base), func(tx *db.Tx) error { return save(tx, r) })
}

func (s *seat) run(ctx context.Context) {
	defer close(s.done)
	if err := s.pickUp(ctx); err != nil {
		s.d.log.Error("take up a turn", "session", s.row.Session, "err", err)
	}
	tick := time.NewTimer(paceWorking)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case h := <-s.hooks:
			s.hooked(ctx, h)
		case <-s.wake:
		case <-tick.C:
		}
		s.step(ctx)
		if s.view().State.Gone() {
			s.d.mu.Lock()
			if s.d.seats[s.row.Session] == s {
				delete(s.d.seats, s.row.Session)
			}
			s.d.mu.Unlock()
			s.d.Wake(s.row.Tenant, s.row.Session)
			return
		}
		pace := paceIdle
		if s.turn != nil || s.view().State != Ready {
			pace = paceWorking
		}
		tick.Reset(pace)
	}
}

func (s *seat) step(ctx context.Context) {
	s.look(ctx)
	if s.view().State.Gone() || ctx.Err() != nil {
		return
	}
	if s.turn != nil {
		s.follow(ctx)
	}
	if _, held := s.d.holds.get(s.row.Session); s.turn == nil && s.view().State == Ready && !held {
		t, err := s.d.room.Next(ctx, s.row.Tenant, s.row.Session)
		if err != nil {
			s.d.log.Error("look for a turn", "session", s.row.Session, "err", err)
		} else if t != nil {
			s.deliver(ctx, t)
			s.nudge()
		}
	}
}

// look reads the signals, best first, and says what they mean together.
func (s *seat) look(ctx context.Context) {
	pane, err := s.d.tmux.Pane(ctx, s.row.Name)
	switch {
	case fault.Is(err, fault.NotFound):
		s.gone(ctx, Crashed, "tmux", "the terminal is gone")
		return
	case err != nil:
		return // tmux does not answer: that says nothing about the program
	case pane.Dead:
		state := Crashed
		if s.orderly || pane.Code == "0" {
			state = Exited
		}
		s.gone(ctx, state, "tmux pane", strings.TrimSpace("the program ended "+pane.Code)+s.lastLine(ctx))
		return
	}
	if pane.Title != s.lastTitle {
		s.lastTitle, s.moved = pane.Title, time.Now()
	}
	s.pane = pane
	s.reg, s.hasReg = agents.Lookup(s.row.Config, pane.PID, s.row.Conversation)
	if s.hasReg && s.reg.PID == pane.PID && s.reg.Conversation != "" && s.reg.Conversation != s.row.Conversation {
		s.moveTo(s.reg.Conversation, "")
	}
	if s.hasReg && s.reg.Version != "" && s.reg.Version != s.row.Version {
		s.update(func(r *row) bool { r.Version = s.reg.Version; return true })
	}
	s.read(ctx)
	s.judge(ctx)
}

// judge says what the signals mean together.
func (s *seat) judge(ctx context.Context) {
	waits := s.openWaits()
	busy := s.hasReg && s.reg.Status == "busy" || s.hasReg && s.reg.Status == "waiting"
	if busy || s.hasReg && s.turn != nil && s.reg.At().After(s.since.Add(50*time.Millisecond)) {
		s.worked = true
	}
	if !s.hasReg || !s.reg.Idle() {
		s.idleSince = time.Time{}
	} else if s.idleSince.IsZero() {
		s.idleSince = time.Now()
	}
	switch {
	case len(waits) > 0 && waits[0].question:
		s.set(Asking, "hook PermissionRequest", waits[0].detail)
	case len(waits) > 0:
		s.set(Permission, "hook PermissionRequest", waits[0].detail)
	case s.hasReg && s.reg.Status == "waiting" && s.reg.WaitingFor == "permission prompt":
		s.set(Permission, "registry", s.reg.WaitingFor)
	case s.hasReg && s.reg.Status == "waiting":
		s.set(Dialog, "registry", s.reg.WaitingFor)
	case s.hasReg && s.reg.Status == "busy":
		s.busyScreen(ctx)
	case s.turn != nil && s.ended == nil && !s.worked:
		s.set(Working, "hook UserPromptSubmit", "")
	case s.hasReg && s.reg.Idle() && s.started:
		s.set(Ready, "registry", "")
	case s.hasReg && s.reg.Idle() && time.Since(s.born) > 20*time.Second:
		s.set(Ready, "registry", "warning: this version's hooks were not heard; turns are judged by its registry and transcript")
	case !s.hasReg && s.started && s.turn == nil:
		s.byScreen(ctx)
	case !s.started:
		s.byScreen(ctx)
	}
}

// busyScreen looks for what only the screen tells: that the model's provider fails and is tried again. A title that stands
// still for long means that nothing moves at all: it ticks while the program lives.
func (s *seat) busyScreen(ctx context.Context) {
	if time.Since(s.lookedAt) > time.Second {
		s.lookedAt = time.Now()
		if r, err := s.screen(ctx); err == nil && r.State == screen.Retrying {
			s.set(Retrying, "screen "+r.Signal, r.Detail)
			return
		}
	} else if s.view().State == Retrying {
		return
	}
	if s.turn != nil && !s.moved.IsZero() && time.Since(s.moved) > hangAfter {
		s.set(Hung, "title", "nothing moved for "+hangAfter.String())
		return
	}
	s.set(Working, "registry", "")
}

// byScreen is the last witness, for a program that tells nothing yet or in a version that tells nothing any more.
func (s *seat) byScreen(ctx context.Context) {
	if time.Since(s.lookedAt) < time.Second {
		return
	}
	s.lookedAt = time.Now()
	r, err := s.screen(ctx)
	if err != nil {
		return
	}
	switch {
	case r.State.Waiting():
		s.set(Dialog, "screen "+r.Signal, string(r.State)+": a person has to answer it: "+s.row.Attach)
	case s.started && r.State == screen.Ready:
		s.set(Ready, "screen "+r.Signal, "warning: this version has no registry; its state is read from the screen")
	case s.started && r.State == screen.Working:
		s.set(Working, "screen "+r.Signal, "")
	}
}

func (s *seat) screen(ctx context.Context) (screen.Reading, error) {
	text, err := s.d.tmux.Capture(ctx, s.row.Name, 0)
	if err != nil {
		return screen.Reading{}, err
	}
	return screen.Read(screen.Claude, text, s.pane.Title), nil
}

func (s *seat) lastLine(ctx context.Context) string {
	text, err := s.d.tmux.Capture(ctx, s.row.Name, 20)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if l := strings.TrimSpace(lines[i]); l != "" && !strings.HasPrefix(l, "Pane is dead") {
			return ": " + l
		}
	}
	return ""
}

// moveTo follows the program to another conversation (/clear makes one).
func (s *seat) moveTo(conversation, path string) {
	s.update(func(r *row) bool { r.Conversation, r.Begun = conversation, false; return true })
	if path == "" {
		path = s.transcriptPath()
	}
	s.transcript = agents.Transcript{Path: path}
}

// read takes in what was added to the transcript.
func (s *seat) read(ctx context.Context) {
	entries, err := s.transcript.Next()
	if err != nil {
		s.d.log.Debug("read a transcript", "session", s.row.Session, "err", err)
	}
	for _, e := range entries {
		s.moved = time.Now()
		if s.turn == nil || e.At.Before(s.since.Add(-2*time.Second)) || s.heard[e.ID] {
			if s.expect == "" || e.Kind != agents.Prompted {
				continue
			}
		}
		switch e.Kind {
		case agents.Prompted, agents.Queued:
			if s.expect != "" && same(e.Text, s.expect) {
				s.taken = true
			}
		case agents.Said:
			s.say(ctx, e)
		case agents.Failed:
			s.failure = e.Failure
			s.say(ctx, e)
		case agents.Interrupted:
			s.cut = true
		case agents.Ended:
			s.over = true
		case agents.Shown:
			if text := agents.Local(e.Text); text != "" {
				e.Text = text
				s.say(ctx, e)
			}
		}
	}
}

// say stores what the agent said, once.
func (s *seat) say(ctx context.Context, e agents.Entry) {
	s.heard[e.ID] = true
	var used provider.Usage
	if e.Message != "" && !s.heard[e.Message] { // pieces of one message repeat its usage
		s.heard[e.Message] = true
		used = provider.Usage{Input: e.Tokens.Input, Output: e.Tokens.Output, CacheRead: e.Tokens.CacheRead, CacheWrite: e.Tokens.CacheWrite}
	}
	t, err := s.d.room.Said(ctx, s.turn, messageID(e.ID), e.Text, e.Model, used)
	if err != nil {
		s.d.log.Error("store what an agent said", "session", s.row.Session, "err", err)
		return
	}
	s.turn = t
	s.said.WriteString(e.Text + "\n\n")
}

func messageID(uuid string) string { return "msg_" + strings.ReplaceAll(uuid, "-", "") }

// gone settles everything when the program is no more.
func (s *seat) gone(ctx context.Context, state State, signal, detail string) {
	s.read(ctx)
	if s.turn != nil {
		reason := "the agent's program ended in the middle of the turn"
		if s.ended != nil {
			s.finish(ctx, session.Done, "ok", "hook "+s.ended.Event, "")
		} else {
			s.finish(ctx, session.Failed, "error: "+string(state), signal, reason+": "+detail)
		}
	}
	s.dropWaits("the program ended")
	s.set(state, signal, detail)
}

// endLost ends a turn that was under way when the terminal went away, for example with the whole machine.
func (s *seat) endLost(ctx context.Context, why string) error {
	t, err := s.d.room.Next(ctx, s.row.Tenant, s.row.Session)
	if err != nil || t == nil || t.StartedAt == nil {
		return err
	}
	_, err = s.d.room.End(ctx, t, session.Failed, why+"; the conversation goes on where it was")
	return err
}
