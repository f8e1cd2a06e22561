package terminal

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/agents"
	"tandem/internal/session/terminal/renew"
	"tandem/internal/session/terminal/tmux"
	"tandem/internal/tool"
	"tandem/internal/tool/box"
)

// DriverName is how sessions with agent programs are marked.
const DriverName = "terminal"

// Options are how the driver works on this machine.
type Options struct {
	Self    string   // tandem's program, for hooks
	Folder  string   // below which each session has a folder of its own
	Home    string   // of the user
	Env     []string // the daemon's environment, from which agents' is picked
	Allow   Allowlist
	Default string // cwd when a call names none
	Wait    time.Duration
	Socket  string // of the tmux server; "" is the user's own
	// The programs; "" is to look on the path.
	Claude, Codex, OpenCode string
	// Hang is how long nothing may move in a turn before it is said to hang; zero is ten minutes.
	Hang    time.Duration
	Confine string // auto, bwrap or none
	// Probe says that a version of a program that was not seen before is checked.
	Probe bool
	// Answers says whether a yes typed at the dialog counts, though nobody proved who typed it.
	Answers bool
	// Skip says that the person asked for sessions that skip permissions.
	Skip bool
	// Lives is the home of this server in its cluster; terminals of another machine are left to it.
	Lives string
	// Kit is what confined programs get of the machine's toolchains, as commands of our own loop do.
	Kit *tool.Kit
	// Sockets open and close a session's own door.
	OpenSocket  func(caller func(context.Context) (op.Caller, error), session string) (string, error)
	CloseSocket func(session string)
	// As is an agent at work for whoever opens a session.
	As op.As
	// Moved is told that a seat changed in what people see of it.
	Moved func()
}

// Driver makes sessions in terminals go.
type Driver struct {
	Options
	db      *db.DB
	room    *session.Room
	asks    *approval.Room
	gate    *gate.Gate
	journal *journal.Journal
	log     *slog.Logger
	tmux    *tmux.Server

	mu      sync.Mutex
	base    context.Context
	seats   map[string]*seat         // by session
	begins  map[string]chan struct{} // sessions that somebody starts again, each closed when that is over
	probing map[string]bool          // versions that are being checked
	boxes   *box.Machine             // what confined programs run in
	all     sync.WaitGroup
	taken   chan struct{} // closed when what ran before the start was taken up

	renews   *renew.Broker // the person's sign-ins, which sessions are lent
	holds    holds         // terminals that people took over
	watching atomic.Int64
	// Ended is told of a turn's end, in the transaction in which it ends.
	Ended func(tx *db.Tx, seat Seat, s *session.Session, t *session.Turn, left Left) error
	// Became is told that a session's program is in another state, in the transaction in which that is stored.
	Became func(tx *db.Tx, tenant string, seat Seat) error
}

var _ session.Driver = (*Driver)(nil)

// New makes the driver. It does nothing until Run.
func New(d *db.DB, room *session.Room, asks *approval.Room, log *slog.Logger, o Options) *Driver {
	t := &Driver{Options: o, db: d, room: room, asks: asks, log: log, seats: map[string]*seat{}, probing: map[string]bool{},
		taken: make(chan struct{}), renews: renew.New(o.Env, time.Now, log)}
	t.holds.now = d.Now
	t.tmux = tmux.New(o.Socket, Prefix, tmuxEnv(o.Env))
	return t
}

// Through gives the driver its gate, which is made after the operations it runs.
func (d *Driver) Through(g *gate.Gate, j *journal.Journal) { d.gate, d.journal = g, j }

// Run adopts what runs already, and serves until ctx ends. Programs live on.
func (d *Driver) Run(ctx context.Context) error {
	d.mu.Lock()
	d.base = ctx
	d.mu.Unlock()
	defer d.all.Wait()
	defer d.tmux.Close()
	var open []*row
	if err := d.db.Begin(ctx, d.away, func() (err error) { open, err = d.rows(ctx, "closed_at = 0"); return err }); err != nil {
		if ctx.Err() != nil { // the server ends already
			return nil
		}
		return err
	}
	for _, r := range open {
		if r.Lives != d.Lives {
			continue
		}
		if err := d.weigh(ctx, r); err != nil {
			d.log.Error("a session is not taken up again", "session", r.Session, "name", r.Name, "err", err)
			continue
		}
		if r.Probe {
			d.all.Go(func() { d.dropProbe(ctx, r.Tenant, r.Session) })
			continue
		}
		if err := d.adopt(ctx, r); err != nil {
			d.log.Error("a session could not be taken up again", "session", r.Session, "name", r.Name, "err", err)
		}
	}
	close(d.taken)
	if d.tmux.Missing() == nil {
		if names, err := d.Reap(ctx); err != nil {
			d.log.Error("look for what was left behind", "err", err)
		} else if len(names) > 0 {
			d.log.Warn("ended what no session owns any more", "left", names)
		}
	}
	d.all.Go(func() { d.endGhosts(ctx) })
	<-ctx.Done()
	return nil
}

func (d *Driver) away(err error) { d.log.Warn("terminal sessions wait for the database", "err", err) }

// stops says whether the server is about to end: what is cut off then says nothing about programs and people.
func (d *Driver) stops() bool { return d.base.Err() != nil }

// present waits until what ran before the start was taken up, and finds the live side of a session; nil when it has none.
func (d *Driver) present(ctx context.Context, id string) *seat {
	select {
	case <-d.taken:
	case <-ctx.Done():
	}
	return d.live(id)
}

// stays says that a session's program is there. One that ended has a live side for a moment: until that was told, and after a start of
// the server until somebody looked at its terminal.
func (d *Driver) stays(ctx context.Context, id string) bool {
	s := d.present(ctx, id)
	if s == nil || !s.view().State.Gone() {
		return s != nil
	}
	limited, cancel := context.WithTimeout(ctx, d.Wait)
	defer cancel()
	select {
	case <-s.done:
	case <-limited.Done():
	}
	return d.live(id) != nil
}

// adopt takes up a seat after a start: its program runs on, or its terminal is gone and the conversation is resumed. A machine that goes
// down may end terminals before the server, which then saw them go: they come back, too.
func (d *Driver) adopt(ctx context.Context, r *row) error {
	if err := d.tmux.Missing(); err != nil {
		return err
	}
	s := d.seat(r)
	s.met.Store(false)
	if _, err := d.tmux.Pane(ctx, r.Name); fault.Is(err, fault.NotFound) && (!r.State.Gone() || r.wentAlong()) {
		if err := s.endLost(ctx, "the terminal is gone"); err != nil {
			return err
		}
		if r.Skip && d.maySkip(ctx, r.Tenant, orElse(r.Repo, r.Folder), false) != nil { // the grant ended meanwhile
			s.update(func(r *row) bool { r.Skip = false; return true })
		}
		if err := s.launch(ctx); err != nil {
			s.set(Crashed, "tmux", fault.Public(err).Msg) // the next start does not try again
		}
	} else if err := s.listen(); err != nil {
		return err
	}
	d.start(s)
	return nil
}

// wentAlong says that a program did not end by itself, and that nobody closed it. A relay looks after its own.
func (r *row) wentAlong() bool {
	return r.State == Crashed && r.Relay == "" && (r.Signal == terminalGone || r.Signal == toldToEnd)
}

// seat makes the live side of a row.
func (d *Driver) seat(r *row) *seat {
	s := &seat{d: d, row: *r, kept: r.State, hooks: make(chan hooked, 256), wake: make(chan struct{}, 1), waits: map[string]*wait{},
		heard: map[string]bool{}, born: time.Now()}
	s.met.Store(true)
	switch r.Agent {
	case agents.CodexName, agents.OpenCodeName:
		s.prog = newSpoken(s)
	default:
		c := &claude{seat: s}
		c.transcript = c.talk("")
		s.prog = c
	}
	return s
}

// alone waits until nobody else starts a session's program again, and keeps others from it until over is called.
func (d *Driver) alone(ctx context.Context, id string) (over func(), err error) {
	for {
		d.mu.Lock()
		other := d.begins[id]
		if other == nil {
			mine := make(chan struct{})
			if d.begins == nil {
				d.begins = map[string]chan struct{}{}
			}
			d.begins[id] = mine
			d.mu.Unlock()
			return func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				delete(d.begins, id)
				close(mine)
			}, nil
		}
		d.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-other:
		}
	}
}

func (d *Driver) start(s *seat) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seats[s.row.Session] = s
	ctx, cancel := context.WithCancel(d.base)
	s.stop, s.done = cancel, make(chan struct{})
	d.all.Go(func() { s.run(ctx) })
}

// Wake makes the session's seat look at its turns.
func (d *Driver) Wake(_, id string) {
	if s := d.live(id); s != nil {
		s.nudge()
		return
	}
	select {
	case <-d.taken:
	default:
		return // whoever is taken up looks at its turns
	}
	// Nobody will run it: say so rather than let it wait for ever.
	d.mu.Lock()
	base := d.base
	d.mu.Unlock()
	if base == nil || base.Err() != nil {
		return
	}
	d.all.Go(func() {
		rows, err := d.rows(base, "session = ?", id)
		if err != nil || len(rows) == 0 || rows[0].Lives != d.Lives {
			return
		}
		if t, err := d.room.Next(base, rows[0].Tenant, id); err == nil && t != nil {
			err := d.conclude(base, rows[0], t, ending{session.Failed, "the session is not live: " + string(rows[0].State), ""}, Left{})
			if err != nil {
				d.log.Error("end a turn of a dead session", "session", id, "err", err)
			}
		}
	})
}

func (d *Driver) live(id string) *seat {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seats[id]
}

// Runs says whether a session's program is there.
func (d *Driver) Runs(id string) bool {
	s := d.live(id)
	return s != nil && !s.view().State.Gone()
}

// Busy says whether programs run whose hooks need the server.
func (d *Driver) Busy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.seats {
		if !s.view().State.Gone() {
			return true
		}
	}
	return false
}

// caller is the session on its own socket, at work on whatever turn is under way.
func (d *Driver) caller(tenant, id string) func(context.Context) (op.Caller, error) {
	return func(ctx context.Context) (op.Caller, error) {
		s, err := d.room.Get(ctx, tenant, id)
		if err != nil {
			return op.Caller{}, err
		}
		t, err := d.room.Next(ctx, tenant, id)
		if err == nil {
			err = d.room.Weigh(ctx, t)
		}
		if err != nil {
			return op.Caller{}, err
		}
		c := s.At(t)
		c.Door = op.DoorSocket
		if s.Config.Narrow {
			c.Scope = narrowRights
		}
		return c, nil
	}
}

// narrowRights are what a program may do at its socket that was given its folder alone: tell of itself, and ask to use its own tools.
var narrowRights = []string{"session.read", "session.view", "tool.use", "tool.view"}
