package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"tandem/internal/server/wire"

	"tandem/internal/client"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/settings"
)

// Health says that the server answers.
type Health struct {
	Healthy bool   `json:"healthy"`
	Ready   bool   `json:"ready"`
	Phase   string `json:"phase"`
	Version string `json:"version"`
}

// LogsIn says which log lines to follow.
type LogsIn struct {
	Level string `json:"level,omitempty" jsonschema:"trace, debug, info, warn or error: this and above"`
}

type nothing = identity.Nothing

func server(path string) func(nothing) op.Resource {
	return func(nothing) op.Resource { return op.Resource{Kind: "server", Path: path} }
}

// ops are the server's own operations.
func (d *Daemon) ops() []op.Op {
	return []op.Op{
		ServerHealth.Read(op.Spec{Public: true, Alive: true, Method: "GET", Path: "/global/health", MCP: "-",
			Doc:     "Say that the server answers. Needs no token.",
			Aliases: []op.Alias{{Method: "GET", Path: "/health"}}}, nil, d.healthOp),
		ServerReady.Read(op.Spec{Public: true, Alive: true, Waits: true, Method: "GET", Path: "/ready", MCP: "-",
			Doc: "Say whether the server can do its work: the database can be written, the disk has room, the keys are there, " +
				"the clock is right.\nNeeds no token; with one it says why not. It answers 503 when it is not ready."}, nil, d.readyOp),
		ServerTLSMoves.Read(op.Spec{Public: true, Method: "GET", Path: client.MovesPath, MCP: "-",
			Doc: "Show by which keys this server was known: each announcement of another key is signed with the one before it. Needs no token."},
			nil, d.movesOp),
		wire.ServerStatus.Read(op.Spec{Right: "server.read", Method: "GET", Path: "/status", MCP: "tandem_status",
			Doc: "Show the running server: version, addresses, uptime, storage."}, server("/"), d.status),
		wire.ServerSettings.Read(op.Spec{Right: "setting.read", Method: "GET", Path: "/settings", MCP: "tandem_settings",
			Doc: "Show every setting, its value and where it came from."},
			func(nothing) op.Resource { return op.Resource{Kind: "setting", Path: "/"} }, d.settingsOp),
		ServerFindings.Read(op.Spec{Right: "server.read", Method: "GET", Path: "/findings", MCP: "-",
			Doc: "List what is wrong with the running server, and what to do about each."}, server("/"), d.findingsOp),
		ServerMetrics.Stream(op.Spec{Right: "server.read", Method: "GET", Path: "/metrics", MCP: "-",
			Doc: "Read the server's metrics in Prometheus' text format, where the setting metrics opens them.\nThey name operations and " +
				"states, and nobody's data."},
			server("/metrics"), nil),
		ServerInvite.Effect(op.Spec{Right: "server.execute", MCP: "-", Socket: true, Once: true,
			Doc: "Show the invitation that was made at start for whoever opened the server beyond this machine. It is shown once."},
			server("/invite"), d.inviteOp, nil),
		wire.SettingSet.Effect(op.Spec{Right: "setting.write", Method: "PUT", Path: "/settings/{key}", MCP: "tandem_set",
			Doc: "Change a setting in config.toml; an empty value removes it. How agents search counts at once, the rest from the next start " +
				"on.\nWhat guards this machine (doors, programs, sandboxes) waits for a person's approval unless one is present.\nSecrets are not " +
				"settings, and what the environment or a flag says still wins."},
			wire.SetIn.Resource, d.setOp, d.setAgain),
		SettingKeep.Effect(op.Spec{Right: "setting.write", MCP: "-", Socket: true, Present: true, People: true,
			Doc: "Write into config.toml what this start was told on its command line or by its environment about doors, " +
				"programs and sandboxes.\nWithout that it lasts until the server ends, and a crash is an end."},
			func(nothing) op.Resource { return op.Resource{Kind: "setting", Path: "/guard"} }, d.keepOp, nil),
		ServerStop.Effect(op.Spec{Right: "server.execute", MCP: "-", Socket: true,
			Doc: "Stop the server: drain what runs, then end."}, server("/stop"), d.stopOp, d.stopped),
		ServerLogs.Stream(op.Spec{Right: "server.execute", Method: "GET", Path: "/server/logs", Socket: true, MCP: "-",
			Doc: "Follow the server's log as JSON lines, beginning with the newest few hundred."},
			func(LogsIn) op.Resource { return op.Resource{Kind: "server", Path: "/logs"} },
			func(_ context.Context, in LogsIn) error { _, err := ParseLevel(in.Level); return err }),
	}
}

func (d *Daemon) healthOp(context.Context, nothing) (Health, error) {
	if d.health.Bad() { // as it was last seen: that the server is alive is said without asking the database
		return Health{true, false, "not ready", d.Version}, nil
	}
	return Health{true, true, "ready", d.Version}, nil
}

func (d *Daemon) status(ctx context.Context, _ nothing) (wire.Status, error) {
	events, err := d.journal.Head(ctx)
	if err != nil {
		return wire.Status{}, err
	}
	pin, err := d.identity.HasPIN(ctx, op.CallerFrom(ctx).Tenant, identity.WellKnown(identity.Owner))
	if err != nil {
		return wire.Status{}, err
	}
	serving, err := d.serving(ctx)
	if err != nil {
		return wire.Status{}, err
	}
	s := wire.Status{Running: true, PID: os.Getpid(), Uptime: int64(time.Since(d.started).Seconds()), Repos: d.repos(), Listens: d.listens,
		Address: d.address(), Version: d.Version, Key: d.fingerprint(), OnDemand: d.OnDemand, CameBack: d.cameBack,
		Waiting: d.journal.Waiting(), Closed: d.closed, Left: d.left, Taken: heldNow(d.taken), Install: d.kept.ID, Data: d.data,
		Database: d.db.Name(), Events: events, Panel: d.panelURL(), Elsewhere: d.phoneURL(), Told: d.told(), PIN: pin, Server: serving}
	s.Unit, s.Control = managed()
	s.Shared = d.servedElsewhere()
	box := d.rooms.session.Sandbox()
	s.Sandbox, s.SandboxWhy = string(box.Kind), box.Why
	if len(s.Repos) > 0 {
		s.Repo = s.Repos[0]
	}
	if len(d.listens) > 0 {
		s.Listen = d.listens[0]
	}
	return s, nil
}

func (d *Daemon) setOp(_ context.Context, in wire.SetIn) (identity.OK, error) {
	d.mu.Lock() // one reads and writes the file at a time
	defer d.mu.Unlock()
	if err := settings.Change(d.data, in.Key, in.Value); err != nil {
		return identity.OK{}, err
	}
	d.apply(in.Key, in.Value)
	return identity.OK{OK: true}, nil
}

// setAgain completes a change that a crash cut off: writing it twice is
// writing it once.
func (d *Daemon) setAgain(ctx context.Context, in wire.SetIn) (identity.OK, bool, error) {
	out, err := d.setOp(ctx, in)
	return out, err == nil, err
}

// KeptOut are the settings that were written.
type KeptOut struct {
	Settings []settings.Value `json:"settings"`
}

func (d *Daemon) keepOp(context.Context, nothing) (KeptOut, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := KeptOut{Settings: []settings.Value{}}
	for _, v := range d.Settings.All() {
		if d.lasts(v.Key) || v.Secret || v.Key == "repos" { // repositories are kept anyway
			continue
		}
		if err := settings.Change(d.data, v.Key, v.Value); err != nil {
			return out, err
		}
		out.Settings = append(out.Settings, v)
	}
	if len(out.Settings) == 0 || d.OnDemand {
		return out, nil
	}
	for _, v := range out.Settings {
		d.approved[v.Key] = true
	}
	return out, d.keepOpening()
}

func (d *Daemon) settingsOp(context.Context, nothing) (wire.SettingsOut, error) {
	return wire.SettingsOut{Settings: d.live().All()}, nil
}

// InviteOut is what a first machine needs to join.
type InviteOut struct {
	Invite string `json:"invite,omitempty" jsonschema:"what goes behind # in the server's address; empty when it was shown already"`
	Ends   bool   `json:"ends,omitempty" jsonschema:"the address was opened for this start alone, and a crash closes it"`
}

func (d *Daemon) inviteOp(context.Context, nothing) (InviteOut, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.invite == "" {
		return InviteOut{}, nil
	}
	line := identity.InviteLine(d.invite, d.fingerprint())
	d.invite = ""
	return InviteOut{Invite: line, Ends: !d.addressLasts()}, nil
}

func (d *Daemon) stopOp(ctx context.Context, _ nothing) (identity.OK, error) {
	d.Log.Info("stop requested", "actor", op.CallerFrom(ctx).Name)
	d.stop()
	return identity.OK{OK: true}, nil
}

// stopped is asked at the next start about a stop whose outcome was not written down any more: it has happened.
func (d *Daemon) stopped(context.Context, nothing) (identity.OK, bool, error) {
	return identity.OK{OK: true}, true, nil
}

// logs streams the log as it is written.
func (d *Daemon) logs(w http.ResponseWriter, r *http.Request) {
	in := LogsIn{Level: r.URL.Query().Get("level")}
	ctx, err := d.gate.Admit(r.Context(), string(ServerLogs), in)
	if err != nil {
		d.web.Fail(w, r, err)
		return
	}
	level, _ := ParseLevel(in.Level) // admitted, so it parses
	if in.Level == "" {
		level = LevelTrace
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := http.NewResponseController(w)
	recent, next, stop := d.hub.follow()
	defer stop()
	send := func(line []byte) error {
		if lineLevel(line) < level {
			return nil
		}
		_, err := w.Write(line)
		return err
	}
	for _, line := range recent {
		if send(line) != nil {
			return
		}
	}
	for {
		if out.Flush() != nil {
			return
		}
		select {
		case line := <-next:
			if send(line) != nil {
				return
			}
		case <-ctx.Done():
			return
		case <-d.stopping:
			return
		}
	}
}

func lineLevel(line []byte) slog.Level {
	var l struct{ Level string }
	_ = json.Unmarshal(line, &l)
	level, err := ParseLevel(l.Level)
	if err != nil {
		return slog.LevelInfo
	}
	return level
}

func (d *Daemon) panelURL() string {
	if d.port == "" {
		return ""
	}
	return fmt.Sprintf("http://%s:%s", d.kept.Panel, d.port)
}
