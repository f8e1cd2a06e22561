package job

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	forge "tandem/internal/forge/wire"
	"tandem/internal/job/prepare"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/owner"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
	"tandem/internal/tool"
)

// Room keeps jobs and has them go on.
type Room struct {
	DB      *db.DB
	Journal *journal.Journal
	Log     *slog.Logger
	Rooms   op.Invoker // through which a job drives sessions, as whoever started it
	Tools   checkout.Tools
	Box     *tool.Sandbox
	Owner   owner.Server // this server
	// TakeBack takes a checkout away that was made for a session, and in which none works; it does nothing where there is none.
	TakeBack func(ctx context.Context, tenant, path string) error
	// End ends the turns of a session, and its program where that is to go: also when who started the job may not do that any more.
	End    func(ctx context.Context, tenant, session string, program bool) error
	Folder string         // where checks run
	Disk   int64          // how much a check may write
	Needed *prepare.Store // what checks depend on; nil where nothing is fetched
	Train  int            // how many jobs of a queue are checked together, at most
	// Fell ends the program of a session that hangs: it can be started again.
	Fell func(ctx context.Context, session string) error
	// Used is what a session used up.
	Used func(ctx context.Context, session string) (session.Used, error)
	// Limit is how long a job rests whose provider refused it for its rate, doubled each time.
	Limit time.Duration
	// Told hears of every move, in the transaction in which it comes about.
	Told func(tx *db.Tx, tenant string, j wire.Job, from wire.State) error
	// Needs is what keeps a session from going on until a person answers, as far as the caller may see it.
	Needs func(ctx context.Context, session string) []wire.Need
	// Served is the folder of a repository that this server serves, as far as the caller may see it.
	Served func(ctx context.Context, name string) (string, error)
	// Model is what a model's name stands for now, for an approval to be bound to.
	Model func(ctx context.Context, name string) ([]op.Bound, error)
	// Pull is a job's pull request at a forge; nil where it has none.
	Pull func(ctx context.Context, tenant, id string) *forge.Pull
	// Unpost forgets what is known of the pull request of a job that is forgotten.
	Unpost func(ctx context.Context, tx *db.Tx, tenant, id string) error
	// Step is called before each step, for tests that let the server die there.
	Step func(j *Job)

	// Begun is called once a push is written down, before it is begun, for tests that let the server die there.
	Begun func()

	// Vouch is what the journal says of people's words that last.
	Vouch op.Vouch
	// Sealed says that rows count only while the journal vouches for them; a test of this room alone has nobody who asks.
	Sealed bool

	people  People
	pushing sync.Mutex

	mu   sync.Mutex
	born time.Time // of this run: a turn that was prompted before may have been cut off
	base context.Context
	live map[string]*worker
	// lines are the queues that are watched, and how many of each wait.
	lines map[line]int
	// unheld are those of which it was said that they do not count.
	unheld map[string]bool
	all    sync.WaitGroup
}

// People says who may still do something here. What somebody started or approved does not outlive that.
type People struct {
	// Still says why who started a job would not be let in again.
	Still func(context.Context, op.Caller) error
	// Known says why who is named would not be.
	Known func(ctx context.Context, tenant, name string) error
}

// worker is who looks after one job.
type worker struct {
	woken chan struct{}
	rests bool // after a step that failed; the room's mu holds it
}

var (
	errStale     = fault.New(fault.Conflict, "job", "the job moved on")
	errElsewhere = fault.New(fault.Conflict, "job", "another server looks after this job").WithNext("ask that one")
)

// New makes the room. It does nothing until Run; what it does not own is given before.
func New(d *db.DB, j *journal.Journal, log *slog.Logger, p People) *Room {
	return &Room{DB: d, Journal: j, Log: log, people: p, live: map[string]*worker{}, lines: map[line]int{}, unheld: map[string]bool{},
		Step: func(*Job) {}, Begun: func() {}, Disk: maxDisk,
		Train: DefaultTrain, Limit: time.Minute,
		Fell:   func(context.Context, string) error { return nil },
		Used:   func(context.Context, string) (session.Used, error) { return session.Used{}, nil },
		Model:  func(context.Context, string) ([]op.Bound, error) { return nil, nil },
		Told:   func(*db.Tx, string, wire.Job, wire.State) error { return nil },
		Needs:  func(context.Context, string) []wire.Need { return nil },
		Pull:   func(context.Context, string, string) *forge.Pull { return nil },
		Unpost: func(context.Context, *db.Tx, string, string) error { return nil },
		End:    func(context.Context, string, string, bool) error { return nil }}
}

// Run goes on with every job that does not wait for a person, until ctx ends.
func (r *Room) Run(ctx context.Context) error {
	r.mu.Lock()
	r.base, r.born = ctx, r.DB.Now()
	r.mu.Unlock()
	defer r.all.Wait()
	r.sweep()
	var open []*Job
	if err := r.DB.Begin(ctx, r.away, func() (err error) {
		if err := r.adopt(ctx); err != nil {
			return err
		}
		open, err = r.rows(ctx, "home = ? ORDER BY created_at", r.Owner.Home)
		return err
	}); err != nil {
		if ctx.Err() != nil { // the server ends already
			return nil
		}
		return err
	}
	for _, j := range open {
		if j.next() {
			r.wake(j.Tenant, j.ID)
		}
	}
	r.pushLeft(ctx)
	<-ctx.Done()
	return nil
}

func (r *Room) away(err error) { r.Log.Warn("jobs wait for the database", "err", err) }

// next says whether there is something to do for a job without anybody's word.
func (j *Job) next() bool {
	return !j.State.Waits() || j.Look != nil || j.leaves() || j.hushes() || j.untidy() || j.tells() || j.rises()
}

// leaves says that the job's workspace has to go.
func (j *Job) leaves() bool { return (j.State == wire.Merged || j.Discard) && j.Path != "" && !j.Stays }

// hushes says that the turn of a stopped job has to end.
func (j *Job) hushes() bool { return j.Hush || j.State == wire.Stopped && j.Flight != "" }

// untidy says that what was begun to be opened for a stopped job has to go.
func (j *Job) untidy() bool { return j.State == wire.Stopped && j.Opening && !j.Stays }

// Busy says whether a job goes on by itself.
func (r *Room) Busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.live) > 0
}

// wake makes somebody look at a job; what is under way for it is left when the job is elsewhere by now.
func (r *Room) wake(tenant, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.base == nil || r.base.Err() != nil {
		return
	}
	if w := r.live[id]; w != nil {
		select {
		case w.woken <- struct{}{}:
		default:
		}
		return
	}
	w := &worker{woken: make(chan struct{}, 1)}
	r.live[id] = w
	r.all.Go(func() { r.work(tenant, id, w) })
}

// work takes one step after the other until the job waits for a person, or is over.
func (r *Room) work(tenant, id string, w *worker) {
	ctx, wait := r.base, time.Second
	for ctx.Err() == nil {
		j, err := r.get(ctx, tenant, id)
		if err == nil && (!j.next() || j.Home != r.Owner.Home) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
			r.mu.Lock()
			if fault.Is(err, fault.Denied) && !r.unheld[id] {
				r.unheld[id] = true
				r.Log.Error("a job does not go on", "job", id, "err", err)
			}
			select {
			case <-w.woken: // somebody did something since it was read
				r.mu.Unlock()
				continue
			default:
			}
			delete(r.live, id)
			r.mu.Unlock()
			return
		}
		if err == nil {
			r.Step(j)
			err = r.step(ctx, j, w)
		}
		if err != nil && ctx.Err() == nil {
			r.Log.Error("a job's step", "job", id, "err", err)
			r.mark(w, true)
			pause(ctx, w.woken, wait)
			r.mark(w, false)
			wait = min(2*wait, time.Minute)
			continue
		}
		wait = time.Second
	}
	r.mu.Lock()
	delete(r.live, id)
	r.mu.Unlock()
}

func (r *Room) mark(w *worker, rests bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.rests = rests
}

func pause(ctx context.Context, woken chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-woken:
	case <-t.C:
	}
}

// step does what the row says is next. A step that a crash cut off is done again, and finds what it did before.
func (r *Room) step(ctx context.Context, j *Job, w *worker) error {
	switch {
	case j.hushes():
		return r.hush(ctx, j)
	case j.Look != nil:
		return r.looks(ctx, j, w)
	case j.leaves():
		return r.leave(ctx, j)
	case j.untidy():
		if err := r.tidy(ctx, j); fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Internal) {
			return err
		} else if err != nil {
			return r.happened(ctx, j, Event{Kind: Stuck,
				Text: j.Reason + "; what was opened for it could not be taken away: " + fault.Public(err).Msg})
		}
		return r.happened(ctx, j, Event{Kind: Gone})
	case j.tells():
		return r.tell(ctx, j)
	}
	if j.State == wire.Queued { // it goes on by the word of who approved it
		return r.advance(ctx, j, w)
	}
	if err := r.people.Still(ctx, j.Caller); fault.Is(err, fault.Unauthenticated) {
		return r.failed(ctx, j, fault.New(fault.Denied, "job", "%s started it, and may do nothing here any more", j.By))
	} else if err != nil {
		return err
	}
	switch {
	case j.State == wire.Planned:
		return r.open(ctx, j, w)
	case j.rises():
		return r.raise(ctx, j)
	case j.State == wire.SentBack:
		tip, err := r.tipNow(ctx, j.Repo, j.Onto)
		if err != nil {
			return err
		}
		return r.happened(ctx, j, Event{Kind: Returned, Tip: tip})
	case j.State == wire.Working && j.Flight == "":
		if r.later(ctx, j, w) {
			return nil
		}
		if j.Taker != "" {
			return r.takesOver(ctx, j)
		}
		return r.prompt(ctx, j)
	case j.State == wire.Working:
		return r.follow(ctx, j, w)
	case j.State == wire.Checking:
		return r.checks(ctx, j, w)
	}
	return nil
}

// checks runs the check; it is ended when the job is stopped meanwhile.
func (r *Room) checks(ctx context.Context, j *Job, w *worker) error {
	var e Event
	var err error
	if !r.during(ctx, w, func() bool {
		now, err := r.get(ctx, j.Tenant, j.ID)
		return err == nil && now.State == j.State
	}, func(running context.Context) { e, err = r.check(running, j) }) {
		return ctx.Err()
	}
	if n := (noWord{}); errors.As(err, &n) {
		return err
	} else if err != nil {
		return r.failed(ctx, j, err)
	}
	return r.happened(ctx, j, e)
}

// during does something that lasts. It is ended, and false is said, when somebody is woken and it is not wanted any more.
func (r *Room) during(ctx context.Context, w *worker, wanted func() bool, do func(context.Context)) bool {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	r.all.Go(func() {
		defer close(ended)
		do(running)
	})
	for {
		select {
		case <-ended:
			return ctx.Err() == nil
		case <-w.woken:
			if !wanted() {
				cancel()
				<-ended
				return false
			}
		}
	}
}

// failed stops a job that cannot go on, and says why.
func (r *Room) failed(ctx context.Context, j *Job, why error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.happened(ctx, j, r.failure(j, why))
}

// failure is the event of a job that cannot go on.
func (r *Room) failure(j *Job, why error) Event {
	if u := (*unanswered)(nil); errors.As(why, &u) {
		return Event{Kind: Failed, Text: u.Error() + "; see what it is: tandem job show " + j.ID, Lock: &u.lock, Locks: u.digests}
	}
	f := fault.Public(why)
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable && f.Msg == "" {
		r.Log.Error("a job cannot go on", "job", j.ID, "err", why)
	}
	text := f.Msg
	if f.Next != "" {
		text += "; " + f.Next
	}
	return Event{Kind: Failed, Text: text}
}
