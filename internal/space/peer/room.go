package peer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// Room is the service of all seats of one daemon.
type Room struct {
	db     *db.DB
	invoke op.Invoker
	key    seal.Key // seals everything secret at rest
	log    *slog.Logger
	now    func() time.Time
	addr   func() (host, pin string) // where other machines reach this daemon; empty when they cannot
	server func(ctx context.Context, host string) (Server, error)
	wakes  int
	ground Ground
	home   string
	away   func(ctx context.Context, where, what, home string) error
	jobs   Jobs
	open   func(ctx context.Context, tenant string) error

	leased sync.Map // seat id → *leases
	lines  sync.Map // tenant/space/line → *line
	pulls  pulls

	mu    sync.Mutex
	seats map[string]*seat // by id
	taken chan struct{}    // closed and replaced when a seat is taken
	ctx   context.Context
	end   context.CancelFunc
	work  sync.WaitGroup
}

// Config is what the daemon knows and the room needs.
type Config struct {
	DB     *db.DB
	Invoke op.Invoker
	Key    []byte // 32 bytes that never leave this machine
	Log    *slog.Logger
	Addr   func() (host, pin string)
	Server func(ctx context.Context, host string) (Server, error)    // how this machine stands to a server that is to host a space
	Wakes  int                                                       // how often an hour an agent may be woken; WakesPerHour when 0
	Ground Ground                                                    // of folders that are workspaces; its functions may be nil
	Home   string                                                    // this server among those of a cluster: others' seats are left to them
	Away   func(ctx context.Context, where, what, home string) error // names the server at a home
	Jobs   Jobs                                                      // its functions may be nil
	Open   func(ctx context.Context, tenant string) error            // why nothing of a tenant passes; left out, everything does
}

// Jobs are the code work that was started from tasks.
type Jobs struct {
	// Cards are the newest jobs of a space's tasks, by task, that the caller may see.
	Cards func(ctx context.Context, space string) map[string]TaskJob
	// Keeps says whether a job is at work on a task, so that its holder keeps it.
	Keeps func(ctx context.Context, tenant, space, task string) bool
}

// TaskJob is a job on a task's card.
type TaskJob struct{ ID, State string }

// Server is how this machine stands to a tandem server.
type Server struct {
	Own   bool   // it is this daemon
	Token string // lets this machine in; empty when it has not joined
	Pin   string // its key, as it was first seen
}

// New makes the room. Start brings its seats to life.
func New(ctx context.Context, c Config) *Room {
	if c.Addr == nil {
		c.Addr = func() (string, string) { return "", "" }
	}
	if c.Wakes == 0 {
		c.Wakes = WakesPerHour
	}
	if c.Open == nil {
		c.Open = func(context.Context, string) error { return nil }
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx)) // seats work until Stop, whatever becomes of the start
	return &Room{wakes: c.Wakes, db: c.DB, invoke: c.Invoke, key: c.Key, log: c.Log, now: c.DB.Now, addr: c.Addr, server: c.Server,
		ground: c.Ground, home: c.Home, away: c.Away, jobs: c.Jobs, open: c.Open,
		seats: map[string]*seat{}, taken: make(chan struct{}), ctx: ctx, end: end}
}

// Start reads the seats and begins to follow their spaces. Those that stopped
// are there too: a person has to decide about them.
func (r *Room) Start(ctx context.Context) error {
	if err := errors.Join(r.moveSeats(ctx), r.joinLines(ctx)); err != nil {
		return err
	}
	if err := r.take(ctx, ""); err != nil {
		return err
	}
	return r.dropTwins(ctx)
}

// Arrived follows with the seats of a tenant that came from another server, once it is open.
func (r *Room) Arrived(ctx context.Context, tenant string) {
	if err := r.take(ctx, tenant); err != nil {
		r.log.Error("seats not opened", "tenant", tenant, "err", err)
	}
}

// take opens the seats of this home, of one tenant or of all. One that cannot be opened keeps nobody else from theirs.
func (r *Room) take(ctx context.Context, tenant string) error {
	rows, err := r.db.Query(ctx, "SELECT tenant, id FROM peer_seat WHERE state IN (?, ?) AND home = ? AND (tenant = ? OR ? = '') "+
		"ORDER BY created_at", active, broken, r.home, tenant, tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (at [2]string, err error) { return at, rows.Scan(&at[0], &at[1]) })
	if err != nil {
		return err
	}
	for _, at := range all {
		s, err := r.openSeat(ctx, at[0], at[1])
		if err != nil {
			r.log.Error("seat not opened", "seat", at[1], "err", err)
			continue
		}
		r.add(s)
	}
	return nil
}

// openSeat reads one seat. It may have come from another server, as anything whatsoever.
func (r *Room) openSeat(ctx context.Context, tenant, id string) (s *seat, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("the seat %s cannot be read: %v", id, p)
		}
	}()
	s, _, err = r.readSeat(ctx, r.db.QueryRow(ctx, "SELECT "+seatColumns+" FROM peer_seat WHERE tenant = ? AND id = ?", tenant, id))
	return s, err
}

// Stop ends the following and waits for it. Seats whose group moved on, or that came far, are saved, so that the next start takes in
// little again.
func (r *Room) Stop() {
	r.end()
	r.work.Wait()
	for _, s := range r.all() {
		s.mu.Lock()
		if s.state == active && !s.reread && (s.moves > 0 || s.seq-s.saved > savedEntries/8) {
			if err := r.db.Write(context.WithoutCancel(r.ctx), func(tx *db.Tx) error { return r.savePlace(tx, s) }); err != nil {
				r.log.Warn("seat not saved", "seat", s.id, "err", err)
			}
		}
		s.mu.Unlock()
	}
}

// add starts following with a seat.
func (r *Room) add(s *seat) {
	s.wakes.limit = r.wakes
	r.mu.Lock()
	r.seats[s.id] = s
	close(r.taken)
	r.taken = make(chan struct{})
	r.mu.Unlock()
	r.publish(s)
	r.goOn(s)
}

// goOn follows with a seat that is active, or active again, unless that is done
// already.
func (r *Room) goOn(s *seat) { r.later(func(ctx context.Context) { r.run(ctx, s) }) }

// later runs f in a goroutine that Stop waits for.
func (r *Room) later(f func(context.Context)) {
	if r.ctx.Err() != nil {
		return
	}
	r.work.Go(func() { f(r.ctx) })
}

// run follows a space until the seat ends: waits for news, sends what waited,
// renews leases, and backs off with jitter while the host is away.
func (r *Room) run(ctx context.Context, s *seat) {
	const first = 500 * time.Millisecond
	wait, hold := first, int64(0) // the first answer is wanted at once: chores may be due
	s.mu.Lock()
	live, hosted, heir := s.state == active && !s.running, s.host == "", s.heir == s.me.Card().ID
	s.running = s.running || live
	s.mu.Unlock()
	if !live || !r.untilOpen(ctx, s) {
		return
	}
	if heir {
		r.inherit(ctx, s)
	}
	if hosted {
		r.seek(ctx, s) // somebody may have taken over while this host was away
		r.tellAgain(s)
	}
	for r.untilOpen(ctx, s) {
		s.mu.Lock()
		if s.state != active {
			s.running = false
			s.mu.Unlock()
			return
		}
		waiting, drop := context.WithCancel(ctx)
		s.drop = drop
		err := r.sync(waiting, s, hold)
		nudged := err != nil && waiting.Err() != nil && s.online // somebody has something to send
		s.drop = nil
		drop()
		if err == nil {
			wait, hold = first, 20_000
			if s.apart() {
				hold = lookEvery.Milliseconds()
			}
			r.chores(ctx, s)
		}
		busy, live := s.answering, s.state == active
		s.mu.Unlock()
		if err == nil && busy { // the host shows a knock until it is answered, and does not wait
			sleep(ctx, 20*time.Millisecond)
		}
		if err == nil {
			continue
		}
		hold = 0
		if nudged {
			continue
		}
		if ctx.Err() == nil && live {
			r.log.Warn("space not followed", "space", s.space, "err", err, "again_in", wait)
			r.seek(ctx, s)
		}
		if !s.rest(ctx, wait/2+rand.N(wait)) {
			return
		}
		wait = min(wait*2, 8*time.Second)
	}
}

// shutFor is how often it is looked whether a tenant was resumed.
const shutFor = 5 * time.Second

// untilOpen waits while a seat's tenant is suspended: it sends nothing, and is not here for the others. false is that the room stops.
func (r *Room) untilOpen(ctx context.Context, s *seat) bool {
	for {
		err := r.open(ctx, s.tenant)
		if err == nil {
			return ctx.Err() == nil
		}
		if !sleep(ctx, shutFor) {
			return false
		}
	}
}

// rest waits before the host is tried again; somebody who wants something
// shortens it.
func (s *seat) rest(ctx context.Context, d time.Duration) bool {
	least := min(d, time.Second)
	if !sleep(ctx, least) {
		return false
	}
	t := time.NewTimer(d - least)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.poke:
	case <-ctx.Done():
		return false
	}
	return true
}

// chores are done whenever the host was reached. The caller holds s.mu.
func (r *Room) chores(ctx context.Context, s *seat) {
	if err := r.flush(ctx, s); err != nil {
		r.log.Warn("outbox not empty", "space", s.space, "err", err)
	}
	if p, ok := s.profiles[s.me.Card().ID]; ok {
		// Where this machine is reached may have changed since it introduced itself.
		if host, pin := r.addr(); host != "" && (p.Host != host || p.Pin != pin) {
			if err := r.profile(ctx, s, p); err != nil {
				r.log.Warn("new address not told", "space", s.space, "err", err)
			}
		}
	}
	r.rouse(s) // mail that came before a restart
	if len(s.due()) > 0 && !s.removing {
		s.removing = true
		r.later(func(ctx context.Context) {
			r.removeLeft(ctx, s)
			s.mu.Lock()
			s.removing = false
			s.mu.Unlock()
		})
	}
	if s.stale() && !s.rekeying && r.now().Sub(s.rekeyed) > rekeyPause {
		s.rekeying = true
		r.later(func(ctx context.Context) { r.rekey(ctx, s) })
	}
	if s.apart() && !s.looking && r.now().Sub(s.looked) > lookEvery/2 {
		s.looking = true
		r.later(func(ctx context.Context) {
			r.rivals(ctx, s)
			s.mu.Lock()
			s.looking, s.looked = false, r.now()
			s.mu.Unlock()
		})
	}
	if s.offered != s.term && !s.offering {
		s.offering = true
		r.later(func(ctx context.Context) { r.offerAgain(ctx, s) })
	}
	r.renew(ctx, s)
}

// renew keeps the claims of a member who is at work. The caller holds s.mu.
func (r *Room) renew(ctx context.Context, s *seat) {
	now := r.now()
	if now.Sub(s.renewed) < time.Minute {
		return // they were looked at just now
	}
	s.renewed = now
	gone := now.Sub(s.used) > time.Hour // nobody is at this seat, and its claims may run out
	for _, t := range s.board {
		if t.Holder == string(s.me.Card().ID) && !t.Until.IsZero() && t.Until.Sub(now) < board.Lease/2 {
			if gone && (r.jobs.Keeps == nil || !r.jobs.Keeps(ctx, s.tenant, s.space, string(t.ID))) {
				continue
			}
			if _, err := r.send(ctx, s, thing{class: "task." + string(board.KindRenew), clear: board.Clear{Task: t.ID}}); err != nil {
				r.log.Warn("lease not renewed", "task", t.ID, "err", err)
			}
		}
	}
}

func (r *Room) linkTo(s *seat) link {
	if s.host == "" {
		return inside{invoke: r.invoke, tenant: s.tenant, as: s.id}
	}
	return newOutside(s.host, s.pin)
}

// reach is where a newcomer finds the host of this seat's space.
func (r *Room) reach(s *seat) (host, pin string) {
	if s.host != "" {
		return s.host, s.pin
	}
	return r.addr()
}

// fresh brings the seat up to date if the host answers; otherwise what is known
// here is used and the answer says since when.
func (r *Room) fresh(ctx context.Context, s *seat) (stale string) {
	if s.state != active {
		return s.why
	}
	if s.away() {
		return fault.Public(s.lost).Msg
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := r.sync(ctx, s, 0); err != nil {
		return fault.Public(err).Msg
	}
	return ""
}

// nameOf is the owner's username, made up at first use. Like everything that
// is sealed on its way, it is sealed at rest.
func (r *Room) nameOf(ctx context.Context, tenant, owner string) (string, error) {
	var box []byte
	err := r.db.QueryRow(ctx, "SELECT name FROM peer_name WHERE tenant = ? AND owner = ?", tenant, owner).Scan(&box)
	if db.NoRows(err) {
		name := newName()
		return name, r.setName(ctx, tenant, owner, name)
	}
	if err != nil {
		return "", err
	}
	name, err := r.key.Unwrap("name", []byte(tenant+"/"+owner), box)
	return string(name), err
}

func (r *Room) setName(ctx context.Context, tenant, owner, name string) error {
	box, err := r.key.Wrap("name", []byte(tenant+"/"+owner), []byte(name))
	if err != nil {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO peer_name (tenant, owner, name) VALUES (?, ?, ?) ON CONFLICT (tenant, "+
			"owner) DO UPDATE SET name = excluded.name", tenant, owner, box)
		return err
	})
}

// profile tells the others who sits here.
func (r *Room) profile(ctx context.Context, s *seat, p Profile) error {
	name, err := r.nameOf(ctx, s.tenant, s.owner)
	if err != nil {
		return err
	}
	p.Name = name
	p.Host, p.Pin = r.addr()
	_, _, err = r.sendOrQueue(ctx, s, thing{class: space.ClassProfile, content: p})
	return err
}
