package daemon

import (
	"context"
	"path/filepath"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/notify"
	"tandem/internal/op"
	"tandem/internal/session"
	relays "tandem/internal/session/relay"
	"tandem/internal/session/terminal"
)

// buildRelays makes the room of relays, and the notices of what ended.
func (d *Daemon) buildRelays(ctx context.Context) error {
	secret, err := d.webhookSecret(ctx)
	if err != nil {
		return err
	}
	d.rooms.notify = notify.New(d.db, notify.Config{File: filepath.Join(d.data, "events.log"), Webhook: d.Settings.Get("done_webhook"), Secret: secret,
		Server: d.Settings.Get("ntfy_server"), Topic: d.Settings.Get("ntfy_topic"), Panel: d.panelURL}, d.Log)
	d.rooms.relay = relays.New(d.db, d.journal, d.rooms.session, &d.inner, d.Log, filepath.Join(d.data, "manager"),
		relays.Sessions{Open: d.openSide, Close: d.closeSide, Owned: d.rooms.terminal.Owned})
	d.rooms.relay.Told = d.relayTold
	d.rooms.terminal.Ended = d.turnEnded
	return nil
}

// webhookSecret signs calls of the webhook: the one that settings name, or one that is made and sealed, so that a person can
// be shown it (tandem secret unmask webhook/done).
func (d *Daemon) webhookSecret(ctx context.Context) ([]byte, error) {
	if d.Settings.Get("done_webhook") == "" {
		return nil, nil
	}
	given := d.Settings.Get("done_webhook_secret")
	made, err := d.sealToken(ctx, "webhook/done", given, nil)
	if fault.Is(err, fault.Unavailable) { // the keyring is locked
		d.Log.Warn("the webhook's secret cannot be unsealed", "err", err)
		made, err = given, nil
	}
	return []byte(made), err
}

// openSide opens one side of a relay for the caller of ctx.
func (d *Daemon) openSide(ctx context.Context, loop, name string, side relays.Side, folder string) (id, real string, err error) {
	switch side.Agent {
	case "", "claude", "codex", "opencode":
		out, err := d.inner.Invoke(ctx, "session.open", terminal.OpenIn{Agent: side.Agent, Name: name, Cwd: folder, Model: side.Model, Effort: side.Effort,
			Skip: d.Settings.Bool("skip_permissions"), Relay: loop})
		s, _ := out.(terminal.Seat)
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
func (d *Daemon) turnEnded(tx *db.Tx, seat terminal.Seat, s *session.Session, t *session.Turn, said string) error {
	if seat.Relay != "" {
		return nil
	}
	status := map[session.TurnState]string{session.Done: "done", session.Failed: "failed", session.Cancelled: "interrupted"}[t.State]
	return d.rooms.notify.Put(tx, t.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "session", Status: status, ID: seat.Name, Cursor: s.Events, Summary: summary(said), Reason: t.Reason},
		Folder: seat.Folder, Push: notify.Normal, Page: "/panel/sessions/" + seat.Session})
}

// relayTold tells of a relay: routine ends are only written down, what a person should know wakes the phone.
func (d *Daemon) relayTold(tx *db.Tx, r relays.Relay, what string) error {
	e := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "relay", Status: what, ID: r.ID, Cursor: r.Step, Summary: summary(r.Summary), Reason: r.Reason}, Folder: r.Folder, Page: "/panel/relays/" + r.ID}
	switch r.Status {
	case relays.NeedsInput:
		e.Push, e.Summary, e.Next = notify.Answer, summary(r.Question), "Answer it: relay enqueue with the answer as task."
	case relays.Blocked:
		e.Push, e.Summary = notify.Urgent, summary(r.Reason)
	case relays.Done, relays.Stopped:
		e.Push = notify.Normal
	}
	return d.rooms.notify.Put(tx, r.Tenant, e)
}

// summary is the first line of what was said.
func summary(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(first) > 300 {
		first = strings.ToValidUTF8(first[:300], "") + "…"
	}
	return first
}
