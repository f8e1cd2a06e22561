package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/httpapi"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/repo/host"
)

// serving is a start from its first listener on.
type serving struct {
	*Daemon
	ctx     context.Context
	socket  net.Listener
	doors   []door
	servers []*http.Server
	running sync.WaitGroup
}

// serve opens the doors, lets the rooms run and drains them when it is stopped.
func (d *Daemon) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &serving{Daemon: d, ctx: ctx}
	if err := d.through(ctx, []step{
		{"listen on the control socket", s.listenNear},
		{"recall the tunnel", s.recallTunnel},
		{"listen on the network", s.listenFar},
		{"invite", s.inviteFirst},
		{"keep where it listens", s.keepDoors},
		{"take the seats", d.rooms.peer.Start}, // before anybody asks for one
		{"mark what is served", func(context.Context) error { d.markServed(); return nil }},
		{"answer", s.answer},
		{"run the rooms", s.run},
	}); err != nil {
		return err
	}
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
	return d.drain(s.servers, &s.running, cancel)
}

func (s *serving) listenNear(context.Context) (err error) {
	if s.socket, err = listenSocket(SocketPath(s.data, s.Settings.Get("control_socket"))); err != nil {
		return err
	}
	s.opened.closes(func() { s.socket.Close() }) // on every way out, also before anybody serves it
	return nil
}

func (s *serving) recallTunnel(ctx context.Context) error {
	through := keeping(s.named(networkAuth(s.identity, false), false))
	s.shared = s.server(through, func(r *http.Request) bool { return s.rooms.tunnel.Public(r.Host) }, s.bridgeOnly)
	if s.self.Home != "" { // a cluster's tunnel is the first server's
		return nil
	}
	return s.rooms.tunnel.Recall(ctx)
}

// server is one for a listener, with the way in that belongs there.
func (s *serving) server(auth httpapi.Authenticator, hosts func(*http.Request) bool,
	around ...func(http.Handler) http.Handler) *http.Server {
	h := s.web.Handler(auth, hosts)
	for _, a := range around {
		h = a(h)
	}
	srv := &http.Server{Handler: paced(s.counted(host.GitPaths(bridged(h)))), ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ConnContext: withConn, BaseContext: func(net.Listener) context.Context { return s.ctx },
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug)}
	s.servers = append(s.servers, srv)
	return srv
}

func (s *serving) listenFar(context.Context) (err error) {
	if s.OnDemand {
		return nil
	}
	s.doors, s.taken, err = listenTCP(s.Settings, s.certificate, s.pools.network)
	if err != nil && s.cameBack { // the command that started us can do without
		s.Log.Error("cannot listen again", "err", err)
		s.OnDemand, s.cameBack, s.doors, err = true, false, nil, nil
	}
	if err != nil && s.asked != nil && near(s.Settings.Get("listen")) { // somebody else has taken that port, and nobody named it now
		s.Log.Warn("cannot listen where the one before did", "err", err)
		s.Settings = s.asked
		s.doors, s.taken, err = listenTCP(s.Settings, s.certificate, s.pools.network)
	}
	for _, l := range s.doors {
		s.opened.closes(func() { l.Close() })
	}
	return err
}

// inviteFirst makes an invitation for the person who opened us beyond loopback.
func (s *serving) inviteFirst(ctx context.Context) error {
	if s.fingerprint() == "" || s.OnDemand {
		return nil
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		var notes op.Notes
		out, err := s.identity.InviteFirst(op.WithNotes(ctx, &notes), tx, identity.LocalTenant)
		if err != nil {
			return err
		}
		s.invite = out.Invite
		_, err = s.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "join.invite", Actor: identity.System,
			Resource: "token:/invite",
			Seals:    journal.SealsOf(notes.Rows(identity.LocalTenant))})
		return err
	})
}

func (s *serving) keepDoors(context.Context) error {
	for _, l := range s.doors {
		s.listens = append(s.listens, l.Addr().String())
		if l.local {
			s.near = l.Addr().String()
			_, s.port, _ = net.SplitHostPort(s.near)
		}
	}
	if s.OnDemand {
		return nil
	}
	s.left = s.leftDoors()
	return s.keepOpening()
}

// answer serves every listener.
func (s *serving) answer(context.Context) error {
	s.opened.closes(func() {
		for _, srv := range s.servers {
			srv.Close()
		}
		s.running.Wait()
	})
	start := func(l net.Listener, srv *http.Server) {
		s.running.Go(func() {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				s.Log.Error("listener failed", "address", l.Addr().String(), "err", err)
				s.stop()
			}
		})
	}
	for _, l := range s.doors {
		panel, known := l.local || s.Settings.Bool("panel_public"), newNames(l.Addr().String(), l.local, s.Settings.Get("hosts"), s.kept.Panel)
		around := []func(http.Handler) http.Handler{func(h http.Handler) http.Handler { return s.placed(known, h) }}
		if !panel {
			around = append(around, s.withoutPanel)
		}
		auth := s.named(s.remembering(s.fromOurs(networkAuth(s.identity, panel))), true)
		start(l, s.server(keeping(auth), known.answers, around...))
	}
	start(s.socket, s.server(s.named(controlAuth(s.identity), false), nil, s.withoutPanel))
	return nil
}

// run lets the rooms do what they do by themselves, until the context ends.
func (s *serving) run(context.Context) error {
	// Without these the server is none.
	for what, run := range map[string]func(context.Context) error{"sessions": s.rooms.loop.Run, "jobs": s.rooms.job.Run,
		"relays": s.rooms.relay.Run, "terminal sessions": s.rooms.terminal.Run} {
		s.running.Go(func() {
			if err := run(s.ctx); err != nil {
				s.Log.Error(what+" cannot run", "err", err)
				s.stop()
			}
		})
	}
	for _, run := range []func(context.Context){s.rooms.repo.Run, s.housekeeping, s.rooms.session.Flush, s.rooms.notify.Run,
		s.rooms.automation.Run, s.rooms.source.Run, s.rooms.memory.Run, s.hearAnswers, s.stir, s.runSchedules, s.runBridgeLog,
		s.runTunnel, s.signJournal, s.rooms.team.Run, s.rooms.forge.Run, s.rooms.eraser.Run} {
		s.running.Go(func() { run(s.ctx) })
	}
	return nil
}

func (s *serving) runSchedules(ctx context.Context) {
	s.rooms.schedule.Run(op.WithCaller(ctx, s.system()))
}

func (s *serving) runBridgeLog(ctx context.Context) {
	if err := s.keepBridgeLog(ctx, filepath.Join(s.data, "bridge.log")); err != nil && ctx.Err() == nil {
		s.Log.Error("bridge.log cannot be kept", "err", err)
	}
}

func (s *serving) runTunnel(ctx context.Context) {
	if s.self.Home != "" {
		return
	}
	if err := s.rooms.tunnel.Run(ctx); err != nil {
		s.Log.Error("the tunnel cannot be kept", "err", err)
	}
}

func (s *serving) signJournal(ctx context.Context) {
	s.journal.Run(ctx, 10*time.Second, func(err error) { s.Log.Error("sign the journal", "err", err) })
}
