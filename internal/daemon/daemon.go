package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/crowd"
	"tandem/internal/db"
	"tandem/internal/gate"
	"tandem/internal/httpapi"
	"tandem/internal/identity"
	"tandem/internal/installation"
	"tandem/internal/journal"
	"tandem/internal/logfile"
	"tandem/internal/op"
	owners "tandem/internal/owner"
	"tandem/internal/secret"
	"tandem/internal/server/health"
	"tandem/internal/server/wire"
	"tandem/internal/settings"
)

// Daemon is the running program as a value.
type Daemon struct {
	Settings *settings.Settings
	Version  string
	OnDemand bool      // started by a command that needed it
	Without  []string  // keys that a person said are lost
	Console  io.Writer // where log lines go beside the file; nil for nowhere
	Ready    func(*Daemon)
	Lease    time.Duration // how long it counts as living after it last said so; 0 for owners.Lease

	Log      *slog.Logger
	redact   *secret.Redactor
	inner    op.Coming // the gate, for rooms that are made before it
	hub      logHub
	health   *health.Health
	scrapers scrapers
	logFile  *logfile.File
	logLevel slog.LevelVar
	data     string
	kept     *installation.Kept
	keepers  []secret.Keeper
	started  time.Time
	db       *db.DB
	claim    *owners.Claim
	self     *owners.Held
	lost     atomic.Pointer[error] // another server took over
	journal  *journal.Journal
	identity *identity.Room
	gate     *gate.Gate
	web      *httpapi.Server
	rooms    rooms
	sockets  *sockets
	moves    moves // of terminals
	pools    pools
	shared   *http.Server // what a tunnel leads to; see listenTunnel

	listens []string
	near    string // the loopback listener
	port    string // its port
	// shown is the TLS key, when we listen beyond loopback.
	shown    atomic.Pointer[shownKey]
	invite   string // made for the person who opened us beyond loopback; shown once
	joins    *crowd.Rate
	mode     authMode                          // whom requests are for
	ring     string                            // the digest of the settings' key ring; "" for none
	narrow   narrowings                        // what assertions narrow callers to
	rejects  rejections                        // of assertions
	changed  atomic.Pointer[settings.Settings] // the settings with what was changed since the start
	mu       sync.Mutex                        // guards invite, and who changes the settings
	offers   sync.Mutex                        // guards the making of phoneOffer
	restart  atomic.Bool                       // begin anew after draining
	restored *time.Time                        // when the copy was made that this start restored
	replaced *journal.State                    // where the journal stood that it replaced
	cameBack bool                              // started on demand after a crash, and listening where the one before did
	arrived  bool                              // the database has the mark of a move
	approved map[string]bool                   // settings of this start that a person had kept; mu guards it
	closed   []string                          // where the one before the crash listened, which nobody approved to last
	taken    *wire.Taken                       // the port that it would have listened on, where another program has it
	left     []string                          // where the one before listened that was stopped, and this one does not
	asked    *settings.Settings                // what this start was told, when it listens where the one before did
	forgot   chan struct{}                     // somebody had something forgotten
	stopOnce sync.Once
	stopping chan struct{}
	active   atomic.Int64
	lastUse  atomic.Int64
	opened   opened
	before   func(step string) error // of a start; for the tests alone
	tries    bool                    // it is there to try a tenant's file
}

// Run starts the daemon and returns when ctx ends, when somebody stopped it,
// or when it was started on demand and has been idle. It drains before it
// returns.
func (d *Daemon) Run(ctx context.Context) (err error) {
	return d.open(ctx, func(ctx context.Context) error {
		if err := d.serve(ctx); err != nil {
			return err
		}
		return d.ended()
	})
}

// open brings storage and rooms up, has them used, and closes them.
func (d *Daemon) open(ctx context.Context, use func(context.Context) error) (err error) {
	d.pools, d.joins = shares(descriptors()), knocking()
	d.started, d.stopping, d.data, d.approved = time.Now(), make(chan struct{}), d.Settings.Data(), map[string]bool{}
	if err := folder(d.data); err != nil {
		return err
	}
	release, err := hold(d.data)
	if err != nil {
		return err
	}
	defer release()
	closeLog, err := d.openLog()
	if err != nil {
		return err
	}
	defer closeLog()
	defer func() {
		if err != nil && !errors.Is(err, ErrRestart) {
			d.Log.Error("ended", "err", err)
		}
	}()
	d.phase("opening the database")
	defer os.Remove(holdingFile(d.data))
	defer d.opened.closeAll()
	if err := d.through(ctx, d.opening()); err != nil {
		return err
	}
	return use(ctx)
}

// system is the caller of what tandem does by itself.
func (d *Daemon) system() op.Caller {
	a := identity.Actor{Tenant: identity.LocalTenant, ID: identity.WellKnown(identity.System), Kind: op.Service, Name: identity.System}
	return a.Caller(op.DoorInside, nil)
}

// drain lets what runs finish, for a few seconds.
func (d *Daemon) drain(all []*http.Server, servers *sync.WaitGroup, cancel func()) error {
	d.Log.Info("draining")
	d.stop()
	if !d.OnDemand && !d.restart.Load() {
		d.forgetOpening()
	}
	wait, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	time.AfterFunc(500*time.Millisecond, cancel) // streams end after a moment; requests get the whole time
	for _, srv := range all {
		if err := srv.Shutdown(wait); err != nil {
			d.Log.Warn("connections were cut", "err", err)
			srv.Close()
		}
	}
	cancel() // first: a hook that is cut off below shall be seen to be cut off by us
	d.sockets.closeAll()
	if err := d.health.Keep(wait); err != nil {
		d.Log.Warn("the time was not kept", "err", err)
	}
	servers.Wait()
	d.tellRejected(wait)
	d.Log.Info("stopped")
	return nil
}

func (d *Daemon) stop() { d.stopOnce.Do(func() { close(d.stopping) }) }

// counted remembers that the daemon is in use.
func (d *Daemon) counted(h http.Handler) http.Handler {
	d.lastUse.Store(time.Now().UnixNano())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.active.Add(1)
		defer func() { d.active.Add(-1); d.lastUse.Store(time.Now().UnixNano()) }()
		h.ServeHTTP(w, r)
	})
}
