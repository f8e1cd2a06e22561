package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tandem/internal/compat"
	"tandem/internal/connector"
	"tandem/internal/db"
	"tandem/internal/egress"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/aside"
	"tandem/internal/session/checkout"
	"tandem/internal/session/loop"
	"tandem/internal/session/terminal"
	"tandem/internal/stream"
	"tandem/internal/tool"
	"tandem/internal/tool/builtin"
)

// buildSessions makes the session room and its driver.
func (d *Daemon) buildSessions(ctx context.Context) error {
	guard := &egress.Guard{} // pages, and models of other tenants, are of the outside world
	outside := guard.Transport()
	for _, key := range []string{d.Settings.Get("search.brave_key"), d.Settings.Get("search.exa_key")} {
		if key != "" {
			d.redact.Learn([]byte(key))
		}
	}
	tools, err := tool.NewRegistry(builtin.All(outside, d.searching)...)
	if err != nil {
		return err
	}
	keys := models.Keys{Lend: d.rooms.secret.Lend, Env: func(tenant, name string) string {
		if tenant != identity.LocalTenant { // the environment is the house's
			return ""
		}
		return os.Getenv(name)
	}, Reach: func(tenant string) http.RoundTripper {
		if tenant == identity.LocalTenant {
			return nil
		}
		return outside
	},
		Put: func(tx *db.Tx, tenant, name, value, by string) error {
			_, err := d.rooms.secret.Put(tx, tenant, name, value, by)
			return err
		}, Drop: d.rooms.secret.Drop}
	box, err := tool.FindSandbox(ctx, tool.SandboxKind(d.Settings.Get("sandbox")))
	if err != nil {
		return err
	}
	if home, err := os.UserHomeDir(); err == nil {
		box.Kit = tool.FindKit(home, os.Getenv("PATH"), filepath.Join(d.data, "caches"))
		if box.Home, err = filepath.EvalSymlinks(home); err != nil {
			box.Home = home
		}
	}
	d.Log.Info("sandbox", "kind", box.Kind, "why", box.Why)
	d.rooms.models = models.New(d.db, keys, d.journal.Vouch())
	d.rooms.session = session.New(d.db, d.journal, tools, box, d.rooms.models, d.rooms.secret.Lend, d.driven,
		aside.Home{Folder: filepath.Join(d.data, "aside"), Person: box.Home, Hidden: []string{d.data}, Server: d.self.Home})
	d.rooms.session.Owner = session.Owner{Server: d.self.ID, Home: d.self.Home, Others: d.self.Others}
	d.rooms.session.Hidden, d.rooms.session.Vouch = []string{d.data}, d.journal.Vouch()
	d.rooms.session.Budgets.Allows, d.identity.Uses = d.allows, d.tenantUses
	d.rooms.session.Budgets.Vouch = d.journal.Vouch()
	d.rooms.session.Home = box.Home
	d.rooms.connector = connector.New(d.db, connector.Keys{Lend: keys.Lend, Put: keys.Put, Drop: keys.Drop, Learn: d.redact.Learn}, box,
		func(ctx context.Context) (*tool.Sight, error) { return session.SightOf(d.gate.Sight(ctx, "")) })
	d.rooms.connector.Hidden, d.rooms.connector.Vouch = []string{d.data}, d.journal.Vouch()
	d.rooms.connector.Callback = func() string {
		if d.port == "" {
			return ""
		}
		return "http://127.0.0.1:" + d.port + "/connectors/callback"
	}
	d.rooms.loop = loop.New(d.rooms.session, d.Log)
	d.rooms.loop.Connectors = d.rooms.connector
	d.rooms.session.Drive(session.DriverModel, d.rooms.loop)
	if err := d.buildTerminals(ctx, box.Kit); err != nil {
		return err
	}
	d.makeJobs(box)
	d.makeTeams()
	return nil
}

// driven refuses to let anybody but its relay drive a relay's session.
func (d *Daemon) driven(ctx context.Context, tx *db.Tx, tenant, session string) error {
	if d.rooms.relay == nil {
		return fault.New(fault.Unavailable, "session", "tandem is still starting").WithNext("try again in a moment")
	}
	return d.rooms.relay.Guard(ctx, tx, tenant, session)
}

// buildTerminals makes the driver of agent programs in terminals.
func (d *Daemon) buildTerminals(ctx context.Context, kit *tool.Kit) error {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0] // no /proc, as in an empty root: everything but hooks works
	}
	wait, err := strconv.Atoi(d.Settings.Get("wait_ms"))
	if err != nil || wait < 0 {
		return fault.New(fault.Invalid, "settings", "wait_ms should be a number of milliseconds, not %q", d.Settings.Get("wait_ms"))
	}
	hang, err := strconv.Atoi(d.Settings.Get("hang_secs"))
	if err != nil || hang < 1 {
		return fault.New(fault.Invalid, "settings", "hang_secs should be a number of seconds, not %q", d.Settings.Get("hang_secs"))
	}
	home := d.Settings.Home
	o := terminal.Options{Self: self, Folder: filepath.Join(d.data, "terminals"), Home: home, Env: os.Environ(),
		Allow: terminal.ParseAllowlist(d.Settings.Get("cwd_allowlist"), home), Default: cmp.Or(d.Settings.Get("default_cwd"), home),
		Wait: time.Duration(wait) * time.Millisecond, Socket: d.Settings.Get("tmux_socket"), Claude: d.Settings.Get("claude"),
		Codex: d.Settings.Get("codex"), OpenCode: d.Settings.Get("opencode"),
		Hang: time.Duration(hang) * time.Second, Confine: d.Settings.Get("confine"), Probe: d.Settings.Bool("probe"),
		Answers: d.Settings.Bool("terminal_answers"), Skip: d.Settings.Bool("skip_permissions"), As: d.identity.As,
		OpenSocket: func(caller func(context.Context) (op.Caller, error), id string) (string, error) {
			return d.sockets.Open(caller, id)
		},
		CloseSocket: func(id string) { d.sockets.Close(id) }, Moved: d.moves.add, Kit: kit, Lives: d.self.Home}
	d.rooms.terminal = terminal.New(d.db, d.rooms.session, d.rooms.approval, d.Log, o)
	d.rooms.session.Drive(terminal.DriverName, d.rooms.terminal)
	d.rooms.session.Checkouts, d.rooms.session.Live = checkout.Tools{Self: self, Env: o.Env}, d.rooms.terminal.Runs
	return d.buildRelays(ctx)
}

// whose tells to whom a session, a relay or a job belongs, for the grants that speak of what is one's own.
func (d *Daemon) whose(ctx context.Context, tenant string, r op.Resource) []string {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	switch r.Kind {
	case "relay":
		return d.rooms.relay.Whose(ctx, tenant, id)
	case "job":
		if strings.HasPrefix(id, "team_") { // a team is made of jobs, and is policed as they are
			return d.rooms.team.Whose(ctx, tenant, id)
		}
		return d.rooms.job.Whose(ctx, tenant, id)
	}
	return d.rooms.session.Whose(ctx, tenant, id)
}

// newCompat opens the door for the published clients.
func (d *Daemon) newCompat() *compat.Server {
	return &compat.Server{Gate: d.gate, Fail: d.web.Fail, Wait: d.journal.Wait, WaitAbout: d.journal.WaitAbout, Head: d.journal.Head,
		Follow: func(ctx context.Context, tenant, id, from string, beat func() error, send func(json.RawMessage) error) error {
			return d.followEvents(ctx, tenant, id, from, beat, func(e session.Event) error {
				data, err := json.Marshal(e)
				if err != nil {
					return err
				}
				return send(data)
			})
		}}
}

// signedIn is where a browser comes back to from a connector's authorization server. It brings a state that only the sign-in knows,
// which is its right to be here.
func (d *Daemon) signedIn(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	err := d.rooms.connector.Finish(connector.CallbackIn{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss"), Error: q.Get("error")})
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		f := fault.Public(d.redact.Error(err))
		w.WriteHeader(f.Kind.Status())
		fmt.Fprintf(w, "The sign-in failed: %s.\n", f.Msg)
		return
	}
	fmt.Fprintln(w, "You are signed in. You can close this window.")
}

// followSession streams a session: GET /sessions/{id}/stream. Reconnecting with Last-Event-ID goes on where it broke off, also
// in the middle of a text.
func (d *Daemon) followSession(w http.ResponseWriter, r *http.Request) {
	in := session.FollowIn{ID: r.PathValue("id"), From: r.URL.Query().Get("from")}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		in.From = last
	}
	ctx, err := d.gate.Admit(r.Context(), string(session.SessionFollow), in)
	if err != nil {
		d.web.Fail(w, r, err)
		return
	}
	from, _ := session.ParsePlace(in.From) // admitted, so it parses
	s := stream.Open(w)
	if s.Comment("tandem session "+in.ID) != nil {
		return
	}
	err = d.followEvents(ctx, op.CallerFrom(ctx).Tenant, in.ID, from.String(), s.Beat, func(e session.Event) error {
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		return s.Event(e.Place().String(), e.Type, data)
	})
	if err != nil && ctx.Err() == nil {
		d.Log.Debug("session stream ended", "session", in.ID, "err", err)
	}
}

// followEvents sends a session's events to send, and calls beat when nothing was sent for a while. send and beat are never
// called at once.
func (d *Daemon) followEvents(ctx context.Context, tenant, id, from string, beat func() error, send func(session.Event) error) error {
	place, err := session.ParsePlace(from)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan session.Event)
	ended := make(chan error, 1)
	go func() {
		ended <- d.rooms.session.Follow(ctx, tenant, id, place, func(e session.Event) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	defer func() { cancel(); <-ended }()
	tick := time.NewTicker(stream.Beat)
	defer tick.Stop()
	for {
		select {
		case e := <-events:
			if err := send(e); err != nil {
				return err
			}
			tick.Reset(stream.Beat)
		case <-tick.C:
			if err := beat(); err != nil {
				return err
			}
		case <-d.stopping:
			return nil
		case err := <-ended:
			ended <- err
			return err
		}
	}
}
