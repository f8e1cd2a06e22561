package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/db"
	"tandem/internal/gate"
	"tandem/internal/httpapi"
	"tandem/internal/identity"
	"tandem/internal/installation"
	"tandem/internal/journal"
	"tandem/internal/logfile"
	"tandem/internal/op"
	owners "tandem/internal/owner"
	"tandem/internal/repo/host"
	"tandem/internal/secret"
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

	Log        *slog.Logger
	redact     *secret.Redactor
	inner      op.Coming // the gate, for rooms that are made before it
	hub        logHub
	readiness  readiness
	clockWatch clockWatch
	watch      watch
	logFile    *logfile.File
	logLevel   slog.LevelVar
	data       string
	kept       *installation.Kept
	keepers    []secret.Keeper
	started    time.Time
	db         *db.DB
	claim      *owners.Claim
	self       *owners.Held
	lost       atomic.Pointer[error] // another server took over
	journal    *journal.Journal
	identity   *identity.Room
	gate       *gate.Gate
	web        *httpapi.Server
	rooms      rooms
	sockets    *sockets
	moves      moves // of terminals
	pools      pools
	shared     *http.Server // what a tunnel leads to; see listenTunnel

	listens []string
	near    string // the loopback listener
	port    string // its port
	// shown is the TLS key, when we listen beyond loopback.
	shown    atomic.Pointer[shownKey]
	invite   string // made for the person who opened us beyond loopback; shown once
	joins    limiter
	changed  atomic.Pointer[settings.Settings] // the settings with what was changed since the start
	mu       sync.Mutex                        // guards invite, and who changes the settings
	restart  atomic.Bool                       // begin anew after draining
	restored *time.Time                        // when the copy was made that this start restored
	replaced *journal.State                    // where the journal stood that it replaced
	cameBack bool                              // started on demand after a crash, and listening where the one before did
	arrived  bool                              // the database has the mark of a move
	approved map[string]bool                   // settings of this start that a person had kept; mu guards it
	closed   []string                          // where the one before the crash listened, which nobody approved to last
	left     []string                          // where the one before listened that was stopped, and this one does not
	asked    *settings.Settings                // what this start was told, when it listens where the one before did
	forgot   chan struct{}                     // somebody had something forgotten
	stopOnce sync.Once
	stopping chan struct{}
	active   atomic.Int64
	lastUse  atomic.Int64
}

// Run starts the daemon and returns when ctx ends, when somebody stopped it,
// or when it was started on demand and has been idle. It drains before it
// returns.
func (d *Daemon) Run(ctx context.Context) (err error) {
	d.pools = shares(descriptors())
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
	if err := d.open(ctx); err != nil {
		return err
	}
	defer d.closeDB() //nolint:errcheck // nothing is left to be written
	if err := d.serve(ctx); err != nil {
		return err
	}
	if lost := d.lost.Load(); lost != nil {
		return *lost
	}
	if d.restart.Load() {
		return ErrRestart
	}
	return nil
}

// ErrRestart is how Run ends when the daemon should begin anew.
var ErrRestart = errors.New("restart")

// open brings storage and rooms up, and settles what a crash left behind.
func (d *Daemon) open(ctx context.Context) error {
	err := d.settle()
	if err != nil {
		return err
	}
	if err := d.absent(); err != nil {
		return err
	}
	dsn := d.dsn()
	if dsn == "" {
		dsn = filepath.Join(d.data, "tandem.db")
	}
	if d.db, err = db.Open(ctx, dsn, clock(ahead)); err != nil {
		return err
	}
	d.db.Told = func(err error) { d.Log.Error("after a commit", "err", err) }
	if err := d.alone(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	if err := d.finishRestore(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	if err := d.recognise(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	if err := d.backupBeforeMigrating(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	ran, err := d.db.Migrate(ctx, migrations...)
	if err != nil {
		return errors.Join(err, d.closeDB())
	}
	if ran > 0 {
		d.Log.Info("migrated", "steps", ran, "database", d.db.Name())
	}
	if err := d.take(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	d.shrinkable(ctx)
	if err := d.checkKeys(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	if err := d.comeBack(); err != nil {
		return errors.Join(err, d.closeDB())
	}
	if err := d.construct(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	if err := d.bind(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	if err := d.settleClock(ctx); err != nil {
		return errors.Join(fmt.Errorf("settle the clock: %w", err), d.closeDB())
	}
	if err := d.afterRestore(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	if err := d.tellSeals(ctx); err != nil {
		return errors.Join(err, d.closeDB())
	}
	unknown, err := d.gate.Recover(op.WithCaller(ctx, d.system()))
	if err != nil {
		return errors.Join(fmt.Errorf("settle what a crash left: %w", err), d.closeDB())
	}
	if unknown > 0 {
		d.Log.Warn("a crash hid outcomes", "count", unknown)
	}
	return nil
}

// system is the caller of what tandem does by itself.
func (d *Daemon) system() op.Caller {
	a := identity.Actor{Tenant: identity.LocalTenant, ID: identity.WellKnown(identity.System), Kind: op.Service, Name: identity.System}
	return a.Caller(op.DoorInside, nil)
}

func (d *Daemon) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	socket, err := listenSocket(SocketPath(d.data, d.Settings.Get("control_socket")))
	if err != nil {
		return err
	}
	defer socket.Close() // on every way out, also before anybody serves it
	var servers sync.WaitGroup
	var all []*http.Server
	server := func(auth httpapi.Authenticator, hosts func(*http.Request) bool, around ...func(http.Handler) http.Handler) *http.Server {
		h := d.web.Handler(auth, hosts)
		for _, a := range around {
			h = a(h)
		}
		srv := &http.Server{Handler: paced(d.counted(host.GitPaths(bridged(h)))), ReadHeaderTimeout: 10 * time.Second,
			IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
			ConnContext: withConn, BaseContext: func(net.Listener) context.Context { return ctx },
			ErrorLog: slog.NewLogLogger(d.Log.Handler(), slog.LevelDebug)}
		all = append(all, srv)
		return srv
	}
	start := func(l net.Listener, srv *http.Server) {
		servers.Go(func() {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				d.Log.Error("listener failed", "address", l.Addr().String(), "err", err)
				d.stop()
			}
		})
	}
	through := keeping(networkAuth(d.identity, false))
	d.shared = server(through, func(r *http.Request) bool { return d.rooms.tunnel.Public(r.Host) }, d.bridgeOnly)
	if err := d.rooms.tunnel.Recall(ctx); err != nil {
		return err
	}
	var doors []door
	if !d.OnDemand {
		doors, err = listenTCP(d.Settings, d.certificate, d.pools.network)
		if err != nil && d.cameBack { // the command that started us can do without
			d.Log.Error("cannot listen again", "err", err)
			d.OnDemand, d.cameBack, doors, err = true, false, nil, nil
		}
		if err != nil && d.asked != nil && near(d.Settings.Get("listen")) { // somebody else has taken that port, and nobody named it now
			d.Log.Warn("cannot listen where the one before did", "err", err)
			d.Settings = d.asked
			doors, err = listenTCP(d.Settings, d.certificate, d.pools.network)
		}
		if err != nil {
			return err
		}
		for _, l := range doors {
			defer l.Close()
		}
		if d.fingerprint() != "" && !d.OnDemand {
			err := d.db.Write(ctx, func(tx *db.Tx) error {
				var notes op.Notes
				out, err := d.identity.Invite(op.WithNotes(ctx, &notes), tx, identity.LocalTenant, identity.System, 1, 0)
				if err != nil {
					return err
				}
				d.invite = out.Invite
				_, err = d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "join.invite", Actor: identity.System,
					Resource: "token:/invite",
					Seals:    journal.SealsOf(notes.Rows(identity.LocalTenant))})
				return err
			})
			if err != nil {
				return err
			}
		}
		for _, l := range doors {
			d.listens = append(d.listens, l.Addr().String())
			if l.local {
				d.near = l.Addr().String()
				_, d.port, _ = net.SplitHostPort(d.near)
			}
		}
		if !d.OnDemand {
			d.left = d.leftDoors()
			if err := d.keepOpening(); err != nil {
				return err
			}
		}
	}
	if err := d.rooms.peer.Start(ctx); err != nil { // before anybody asks for a seat
		return err
	}
	defer d.rooms.peer.Stop()
	for _, l := range doors {
		panel, known := l.local || d.Settings.Bool("panel_public"), newNames(l.Addr().String(), l.local, d.Settings.Get("hosts"), d.kept.Panel)
		around := []func(http.Handler) http.Handler{func(h http.Handler) http.Handler { return d.placed(known, h) }}
		if !panel {
			around = append(around, d.withoutPanel)
		}
		start(l, server(keeping(d.fromOurs(networkAuth(d.identity, panel))), known.answers, around...))
	}
	start(socket, server(controlAuth(d.identity), nil, d.withoutPanel))
	defer d.rooms.repo.Close()
	defer d.rooms.connector.Close()
	defer d.rooms.remotes.stop()
	servers.Go(func() { d.rooms.repo.Run(ctx) })
	servers.Go(func() { d.housekeeping(ctx) })
	servers.Go(func() { d.rooms.session.Flush(ctx) })
	servers.Go(func() {
		if err := d.rooms.loop.Run(ctx); err != nil {
			d.Log.Error("sessions cannot run", "err", err)
			d.stop()
		}
	})
	servers.Go(func() { d.rooms.notify.Run(ctx) })
	servers.Go(func() { d.rooms.schedule.Run(op.WithCaller(ctx, d.system())) })
	servers.Go(func() {
		if err := d.keepBridgeLog(ctx, filepath.Join(d.data, "bridge.log")); err != nil && ctx.Err() == nil {
			d.Log.Error("bridge.log cannot be kept", "err", err)
		}
	})
	servers.Go(func() {
		if err := d.rooms.tunnel.Run(ctx); err != nil {
			d.Log.Error("the tunnel cannot be kept", "err", err)
		}
	})
	servers.Go(func() {
		if err := d.rooms.relay.Run(ctx); err != nil {
			d.Log.Error("relays cannot run", "err", err)
			d.stop()
		}
	})
	servers.Go(func() {
		if err := d.rooms.terminal.Run(ctx); err != nil {
			d.Log.Error("terminal sessions cannot run", "err", err)
			d.stop()
		}
	})
	servers.Go(func() {
		d.journal.Run(ctx, 10*time.Second, func(err error) { d.Log.Error("sign the journal", "err", err) })
	})
	d.Log.Info("ready", "pid", os.Getpid(), "listen", strings.Join(d.listens, " "), "data", d.data, "version", d.Version, "took",
		time.Since(d.started).Round(time.Millisecond).String())
	d.phase("")
	if d.Ready != nil {
		d.Ready(d)
	}
	time.AfterFunc(time.Second, debug.FreeOSMemory) // what starting needed, an idle daemon does not keep
	select {
	case <-ctx.Done():
	case <-d.stopping:
	}
	return d.drain(all, &servers, cancel)
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
	if err := d.witness(wait); err != nil {
		d.Log.Warn("the time was not kept", "err", err)
	}
	servers.Wait()
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
