package terminal

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/policy"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/agents"
	"tandem/internal/session/screen"
	"tandem/internal/session/since"
	"tandem/internal/session/terminal/tmux"
	"tandem/internal/tool"
)

// How often a seat looks at what does not tell by itself, and how long it waits for the better signal.
const (
	paceWorking = 150 * time.Millisecond
	paceIdle    = 700 * time.Millisecond
	settle      = 1200 * time.Millisecond
)

// What tells that a program went with its terminal or was told to end, as when the machine goes down, and that nobody closed it.
const (
	terminalGone = "tmux, no terminal" // servers before said tmux: what they saw end stays as it is
	toldToEnd    = "tmux pane, told to end"
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
	looked atomic.Pointer[view] // what its box shows
	met    atomic.Bool          // it was looked at since the start; one that was opened since needs no look
	outfit atomic.Pointer[tool.Outfit]
	stage  *agents.Stage // of a seat that only checks a program

	mu    sync.Mutex
	row   row
	kept  State            // that is stored
	waits map[string]*wait // dialogs that people were asked about

	answered time.Time // when the last of them was closed

	settled  map[string]bool // what was settled at the program's own dialog: tools, and tools with a program
	recalled bool            // with what earlier servers knew of it
	approved string          // the line that people let Codex run while its hook waited

	// What follows belongs to the goroutine.
	prog     program
	turn     *session.Turn
	since    time.Time // when the turn's prompt was taken
	said     strings.Builder
	resumed  bool         // the turn began before the server did
	marks    *since.Marks // how the folder stood when the turn began; nil when nobody looked
	heard    map[string]bool
	pane     tmux.Pane
	lookedAt time.Time     // at the screen
	weighed  time.Time     // against its budget
	spent    error         // what ends the turn: a budget, or that it goes round in circles
	outcome  string        // of such a turn
	round    round         // its calls that repeat each other
	signals  []string      // of the program, that were there
	moved    time.Time     // last sign of life
	glimpsed time.Time     // when it was last looked whether its program was stopped
	frozen   time.Time     // since when it is
	tended   time.Time     // its home
	lent     time.Time     // when the sign-in that it was lent ends; zero where that is not known
	glanced  time.Time     // at the policy
	judged   *policy.Sight // that its box was held against
	always   []string      // tools of which calls were allowed for good at the program's own dialog, since it was started
}

// program is what differs between agent programs: Claude Code is typed to and watched, Codex and OpenCode are spoken to.
type program interface {
	// prepare writes the program's files and says how it is started.
	prepare(ctx context.Context) (Launch, error)
	// launched forgets what was known of the program that ran before.
	launched()
	// pickUp continues the turn that was open when the server stopped.
	pickUp(ctx context.Context) error
	// look reads the program's own signals and says what they mean.
	look(ctx context.Context)
	// began forgets the turn before, and ending takes in what is left to be said of this one.
	began()
	ending(ctx context.Context)
	deliver(ctx context.Context, t *session.Turn)
	// follow looks whether the turn is over.
	follow(ctx context.Context)
	// interrupt stops the turn and keeps the program.
	interrupt(ctx context.Context)
	// hear takes in what a hook told.
	hear(ctx context.Context, h hooked)
	// finished says whether the turn had ended by itself before the program went, and orderly whether it was told to go.
	finished() bool
	orderly() bool
	// reads are the words that came in since.
	read(ctx context.Context)
	// caughtUp says that what waits in the program was heard of.
	caughtUp() bool
	// close lets the program go; it runs on.
	close()
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

// rest says that the program waits for a prompt, and whether the provider refused the last one for its rate.
func (s *seat) rest(signal string) {
	if v := s.view(); v.Outcome == LimitedOutcome {
		s.set(RateLimited, v.EndedBy, s.row.Limit)
		return
	}
	s.set(Ready, signal, "")
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

// store stores the row. Whoever listens hears of another state in the same transaction, and of the rate limit of a turn once.
func (s *seat) store(r *row) error {
	s.mu.Lock()
	news := r.State != s.kept && !r.Probe && s.d.Became != nil
	if r.State == RateLimited {
		news, r.Limited, s.row.Limited = news && r.Limited != r.Typed, r.Typed, r.Typed
	}
	s.mu.Unlock()
	err := s.d.db.Write(context.WithoutCancel(s.d.base), func(tx *db.Tx) error {
		if err := save(tx, r); err != nil || !news {
			return err
		}
		return s.d.Became(tx, r.Tenant, r.Seat)
	})
	if err == nil {
		s.stored(r)
	}
	return err
}

func (s *seat) stored(r *row) {
	s.mu.Lock()
	s.kept = r.State
	s.mu.Unlock()
}

func (s *seat) run(ctx context.Context) {
	defer close(s.done)
	defer s.prog.close()
	if err := s.prog.pickUp(ctx); err != nil {
		s.d.log.Error("take up a turn", "session", s.row.Session, "err", err)
	}
	tick := time.NewTimer(paceWorking)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case h := <-s.hooks:
			s.prog.hear(ctx, h)
		case <-s.wake:
		case <-tick.C:
		}
		s.step(ctx)
		if !s.met.Load() && s.sighted() {
			s.met.Store(true)
			s.d.moved()
		}
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
		if s.turn != nil || !s.view().State.Rests() {
			pace = paceWorking
		}
		tick.Reset(pace)
	}
}

func (s *seat) step(ctx context.Context) {
	s.observe(ctx)
	if s.view().State.Gone() || ctx.Err() != nil {
		return
	}
	if why := s.outgrown(ctx); why != "" {
		s.rebox(ctx, why)
		return
	}
	if s.turn != nil && time.Since(s.weighed) > time.Second {
		s.weighed = time.Now()
		if s.spent == nil {
			s.spent, s.outcome = s.within(ctx, s.turn, true), "error: budget"
		}
		if s.spent != nil {
			s.prog.interrupt(ctx)
		}
	}
	if s.turn != nil {
		s.prog.follow(ctx)
	}
	s.tend(ctx)
	if _, held := s.d.holds.get(s.row.Session); s.turn == nil && s.view().State.Rests() && !held {
		t, err := s.d.room.Take(ctx, s.row.Tenant, s.row.Session)
		if err != nil {
			s.d.log.Error("look for a turn", "session", s.row.Session, "err", err)
		} else if t != nil {
			s.glanced = time.Time{} // the prompt is for a box that holds
			if why := s.outgrown(ctx); why != "" {
				s.rebox(ctx, why)
				return
			}
			s.prog.deliver(ctx, t)
			s.nudge()
		}
	}
}

// observe reads the signals, best first, and says what they mean together.
func (s *seat) observe(ctx context.Context) {
	pane, err := s.d.tmux.Pane(ctx, s.row.Name)
	switch {
	case fault.Is(err, fault.NotFound):
		detail := "the terminal is gone"
		if s.row.Relay == "" {
			detail += "; it comes back with the next start of tandem, or now: tandem session open " + s.row.Name + " --resume"
		}
		s.gone(ctx, Crashed, terminalGone, detail)
		return
	case err != nil:
		return // tmux does not answer: that says nothing about the program
	case pane.Dead:
		state, signal := Crashed, "tmux pane"
		switch {
		case s.prog.orderly() || pane.Code == "0":
			state = Exited
		case slices.Contains([]string{"129", "143", "signal 1", "signal 15"}, pane.Code): // hung up, terminated
			signal = toldToEnd
		}
		s.gone(ctx, state, signal, strings.TrimSpace("the program ended "+pane.Code)+s.lastLines(ctx))
		return
	}
	s.pane = pane
	if s.prog.look(ctx); s.stands() {
		s.set(Hung, "process", "its program was stopped by a signal")
	}
}

func (s *seat) screen(ctx context.Context) (screen.Reading, error) {
	text, err := s.d.tmux.Capture(ctx, s.row.Name, 0)
	if err != nil {
		return screen.Reading{}, err
	}
	return screen.Read(screen.Program(s.row.Agent), text, s.pane.Title), nil
}

// lastLines are the end of what a program left on its screen: where it says why it ended.
func (s *seat) lastLines(ctx context.Context) string {
	text, err := s.d.tmux.Capture(ctx, s.row.Name, 20)
	if err != nil {
		return ""
	}
	if last := screen.LastWords(text, 5); last != "" {
		return ": " + last
	}
	return ""
}

// say stores what the agent said, once.
func (s *seat) say(ctx context.Context, e agents.Entry) {
	var used provider.Usage
	if e.Message != "" && !s.heard[e.Message] && !s.row.Probe { // pieces of one message repeat its usage
		used = provider.Usage{Input: e.Tokens.Input, Output: e.Tokens.Output, CacheRead: e.Tokens.CacheRead, CacheWrite: e.Tokens.CacheWrite}
	}
	s.heard[e.ID], s.heard[e.Message] = true, true
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
	s.prog.read(ctx)
	if s.turn != nil {
		reason := "the agent's program ended in the middle of the turn"
		if s.prog.finished() {
			s.prog.follow(ctx)
		}
		if s.turn != nil {
			s.finish(ctx, session.Failed, "error: "+string(state), signal, reason+": "+detail)
		}
	}
	s.d.settle(context.WithoutCancel(ctx), &s.row, "", true)
	s.dropWaits("the program ended")
	s.set(state, signal, detail)
}

// endLost ends a turn that was under way when the terminal went away, for example with the whole machine.
func (s *seat) endLost(ctx context.Context, why string) error {
	t, err := s.d.room.Next(ctx, s.row.Tenant, s.row.Session)
	if err != nil || t == nil || t.StartedAt == nil {
		return err
	}
	return s.d.conclude(ctx, &s.row, t, ending{session.Failed, why + "; the conversation goes on where it was", ""}, Left{})
}
