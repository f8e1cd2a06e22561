package tunnel

import (
	"context"
	"embed"
	"encoding/json"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tunnel/wire"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "tunnel", FS: schema}

// Config is what the room needs of the house.
type Config struct {
	DB     *db.DB
	Log    *slog.Logger
	Env    []string // what the tunnel's programs see
	Folder string   // for the connectors' files
	Self   string   // this program, for apps that start it themselves
	// Listen opens the listener that tunnels lead to, at the port it had before or, when that is empty, at a free one.
	Listen func(port string) (net.Listener, error)
	Token  func(ctx context.Context, tenant string) (string, error) // the connector's
	Told   func(wire.Status)                                        // hears when a tunnel dropped
	Tenant string
	// Patience bounds the wait for an address, and then for an answer through it.
	Patience time.Duration
}

// Room keeps the one tunnel of a server.
type Room struct {
	Config
	mu     sync.Mutex   // one opens or closes at a time
	door   net.Listener // to which the tunnel leads, while one is open; guarded by mu
	now    sync.Mutex   // guards what follows
	host   string       // the public name, while one is open
	child  int          // the tunnel's program, when this process started it
	base   context.Context
	all    sync.WaitGroup
	opener func(wire.Mode) (Opener, error)
}

// New makes the room. Nothing is opened.
func New(c Config) *Room {
	r := &Room{Config: c}
	r.opener = func(m wire.Mode) (Opener, error) {
		if m == wire.Quick {
			return newQuick(c.Env)
		}
		return newFunnel(c.Env)
	}
	return r
}

// checkEvery is how often a funnel, which others own, is looked at.
const checkEvery = time.Minute

// Run takes up what was open before the start, and watches until ctx ends. A quick tunnel ends with it.
func (r *Room) Run(ctx context.Context) error {
	r.now.Lock()
	r.base = ctx
	r.now.Unlock()
	if err := r.takeUp(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			err := r.endQuick(bye, "the server stopped")
			r.all.Wait()
			return err
		case <-tick.C:
			r.look(ctx)
		}
	}
}

// Recall answers to a funnel's name from the first request on; whether the funnel is still there, Run finds out.
func (r *Room) Recall(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.load(ctx)
	if err != nil || s.State != wire.Open || s.Mode != wire.Tailscale || !s.Apart {
		return err
	}
	if r.door, err = r.Listen(s.Port); err != nil {
		r.Log.Warn("the tunnel's port cannot be opened", "port", s.Port, "err", err)
		return nil
	}
	r.serve(s.URL)
	return nil
}

// takeUp goes on with a funnel, and ends what must not be left: a quick tunnel that a crash left behind, and a funnel that
// leads to a port where we are not, or where there is more than the bridge.
func (r *Room) takeUp(ctx context.Context) error {
	s, err := r.load(ctx)
	if err != nil || s.State != wire.Open {
		return err
	}
	if s.Mode == wire.Quick {
		return r.endQuick(ctx, "the server ended without closing it; share again for a new address")
	}
	r.mu.Lock()
	open := r.door != nil
	r.mu.Unlock()
	if open {
		if s.Spreading != "" {
			r.follow(s)
		}
		r.look(ctx)
		return nil
	}
	why := "its port " + s.Port + " is taken by another program; share again"
	if !s.Apart {
		why = "it led to the port of the panel and the API, and tunnels have one of their own now; share again"
	}
	if o, err := r.opener(s.Mode); err == nil {
		if err := r.close(ctx, o, s); err != nil {
			r.Log.Error("close a funnel that leads elsewhere", "err", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.drop(ctx, s, why)
}

// shut closes the tunnel's listener, and nobody answers to its name.
func (r *Room) shut() {
	r.serve("")
	if r.door != nil {
		r.door.Close()
		r.door = nil
	}
}

func (r *Room) endQuick(ctx context.Context, why string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.load(ctx)
	if err != nil || s.State != wire.Open || s.Mode != wire.Quick {
		return err
	}
	r.shut()
	if o, err := r.opener(wire.Quick); err == nil {
		if err := r.close(ctx, o, s); err != nil {
			return err
		}
	}
	s.State, s.Reason, s.PID = wire.Closed, why, 0
	return r.save(ctx, s)
}

// close takes a tunnel down. A process that another run of the server started is ended only when it is still that program.
func (r *Room) close(ctx context.Context, o Opener, s wire.Status) error {
	r.now.Lock()
	mine := s.PID != 0 && s.PID == r.child
	r.now.Unlock()
	if mine {
		endProcess(s.PID)
		return nil
	}
	return o.Close(ctx, s.PID, s.Port)
}

// look finds out whether a funnel is still there.
func (r *Room) look(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.load(ctx)
	if err != nil || s.State != wire.Open || s.Mode != wire.Tailscale {
		return
	}
	o, err := r.opener(s.Mode)
	if err == nil {
		err = o.Up(ctx, s.Port)
	}
	if err != nil && ctx.Err() == nil {
		if err := r.drop(ctx, s, fault.Public(err).Msg); err != nil {
			r.Log.Error("store a dropped tunnel", "err", err)
		}
	}
}

// drop says that a tunnel is gone which nobody closed.
func (r *Room) drop(ctx context.Context, s wire.Status, why string) error {
	r.shut()
	s.State, s.Reason, s.PID = wire.Dropped, why, 0
	r.Log.Warn("the tunnel dropped", "mode", s.Mode, "why", why)
	err := r.save(ctx, s)
	if r.Told != nil {
		r.Told(s)
	}
	return err
}

// serve makes the tunnel's host one that requests may be addressed to.
func (r *Room) serve(address string) {
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = strings.ToLower(u.Hostname())
	}
	r.now.Lock()
	r.host = host
	r.now.Unlock()
}

// Host is the public name under which this machine is reached now; empty without
// a tunnel.
func (r *Room) Host() string {
	r.now.Lock()
	defer r.now.Unlock()
	return r.host
}

// Public reports whether a request's Host is the tunnel's.
func (r *Room) Public(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	r.now.Lock()
	defer r.now.Unlock()
	return r.host != "" && strings.EqualFold(host, r.host)
}

func (r *Room) load(ctx context.Context) (s wire.Status, err error) {
	var body string
	err = r.DB.QueryRow(ctx, "SELECT body FROM tunnel WHERE tenant = ?", r.Tenant).Scan(&body)
	if db.NoRows(err) {
		return wire.Status{State: wire.Closed}, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(body), &s)
	}
	return s, err
}

func (r *Room) save(ctx context.Context, s wire.Status) error {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO tunnel (tenant, state, body, updated_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (tenant) DO UPDATE SET state = excluded.state, body = excluded.body, updated_at = excluded.updated_at`, r.Tenant,
			string(s.State), string(body), tx.Now())
		return err
	})
}

func at() op.Resource { return op.Resource{Kind: "tunnel", Path: "/"} }
