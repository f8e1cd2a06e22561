package daemon

import (
	"context"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/notify"
	"tandem/internal/op"
	"tandem/internal/session"
	relays "tandem/internal/session/relay"
	"tandem/internal/session/terminal"
)

// buildRelays makes the room of relays, and the notices of what ended.
func (d *Daemon) buildRelays() {
	d.rooms.notify = notify.New(notify.Config{File: filepath.Join(d.data, "events.log"), Webhook: d.Settings.Get("done_webhook"), Secret: []byte(d.Settings.Get("done_webhook_secret")),
		Server: d.Settings.Get("ntfy_server"), Topic: d.Settings.Get("ntfy_topic"), Click: "http://127.0.0.1:" + d.Settings.Get("port") + "/"}, d.Log)
	d.rooms.relay = relays.New(d.db, d.rooms.session, d.Log, filepath.Join(d.data, "manager"), relays.Sessions{Open: d.openSide, Close: d.closeSide})
	d.rooms.relay.Told = d.relayTold
	d.rooms.terminal.Ended = append(d.rooms.terminal.Ended, d.turnEnded)
}

// openSide opens one side of a relay for the caller of ctx.
func (d *Daemon) openSide(ctx context.Context, loop, name string, side relays.Side, folder string) (id, real string, err error) {
	switch side.Agent {
	case "", "claude", "codex", "opencode":
		s, err := d.rooms.terminal.Open(ctx, terminal.OpenIn{Agent: side.Agent, Name: name, Cwd: folder, Model: side.Model, Effort: side.Effort, Skip: d.Settings.Bool("skip_permissions"), Relay: loop})
		return s.Session, s.Folder, err
	case "model":
		out, err := d.gate.Invoke(ctx, "session.create", session.CreateIn{Title: name, Directory: folder, Model: side.Model, Config: session.Config{Effort: side.Effort}})
		if err != nil {
			return "", "", err
		}
		return out.(*session.Session).ID, folder, nil
	}
	return "", "", fault.New(fault.Invalid, "relay.start", "agent %.40q is not accepted: use claude, codex, opencode or model", side.Agent)
}

// closeSide closes a side whatever drives it.
func (d *Daemon) closeSide(ctx context.Context, id string) error {
	_, err := d.rooms.terminal.Shut(ctx, id)
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	c := d.system()
	c.Tenant = identity.LocalTenant
	if _, err := d.gate.Invoke(op.WithCaller(ctx, c), "session.cancel", session.TurnIn{ID: id}); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return nil
}

// turnEnded tells of a turn in a terminal. A relay's own turns are its business.
func (d *Daemon) turnEnded(s terminal.Seat, t *session.Turn, said string) {
	if s.Relay != "" {
		return
	}
	status := map[session.TurnState]string{session.Done: "done", session.Failed: "failed", session.Cancelled: "interrupted"}[t.State]
	cursor := int64(0)
	if now, err := d.rooms.session.Get(context.Background(), t.Tenant, t.Session); err == nil {
		cursor = now.Events
	}
	d.rooms.notify.Tell(notify.Event{TS: d.db.Now(), Type: "session", Status: status, ID: s.Name, Cursor: cursor, Summary: summary(said), Reason: t.Reason, Folder: s.Folder, Push: notify.Normal})
}

// relayTold tells of a relay: routine ends are only written down, what a person should know wakes the phone.
func (d *Daemon) relayTold(r relays.Relay, what string) {
	e := notify.Event{TS: d.db.Now(), Type: "relay", Status: what, ID: r.ID, Cursor: r.Step, Summary: summary(r.Summary), Reason: r.Reason, Folder: r.Folder}
	switch r.Status {
	case relays.NeedsInput:
		e.Push, e.Summary, e.Next = notify.Answer, summary(r.Question), "Answer it: relay enqueue with the answer as task."
	case relays.Blocked:
		e.Push, e.Summary = notify.Urgent, summary(r.Reason)
	case relays.Done, relays.Stopped:
		e.Push = notify.Normal
	}
	d.rooms.notify.Tell(e)
}

// summary is the first line of what was said.
func summary(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(first) > 300 {
		first = strings.ToValidUTF8(first[:300], "") + "…"
	}
	return first
}
