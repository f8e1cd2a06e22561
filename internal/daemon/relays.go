package daemon

import (
	"context"
	"path/filepath"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/notify"
	"tandem/internal/notify/occasion"
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
	topic, err := d.phoneTopic(ctx)
	if err != nil {
		return err
	}
	d.rooms.notify = notify.New(d.db, notify.Config{Tenant: identity.LocalTenant, File: filepath.Join(d.data, "events.log"),
		Webhook: d.Settings.Get("done_webhook"), Secret: secret,
		Server: d.Settings.Get("ntfy_server"), Starts: topic, Details: d.Settings.Bool("ntfy_details"),
		Desktop: d.desktop(), Panel: d.phoneURL, Lives: d.self.Home}, d.Log)
	d.rooms.tell = occasion.New(d.rooms.notify, d.rooms.session, d.moves.add)
	d.rooms.relay = relays.New(d.db, d.journal, d.rooms.session, &d.inner, d.Log, filepath.Join(d.data, "manager"),
		relays.Sessions{Open: d.openSide, Close: d.closeSide, Owned: d.rooms.terminal.Owned, Lives: d.self.Home})
	d.listenForNotices()
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
		s, err := op.Do(ctx, &d.inner, terminal.SessionOpen, terminal.OpenIn{Agent: side.Agent, Name: name, Cwd: folder, Model: side.Model,
			Effort: side.Effort,
			Skip:   d.Settings.Bool("skip_permissions"), Relay: loop})
		return s.Session, s.Folder, err
	case "model":
		s, err := op.Do(ctx, d.gate, session.SessionCreate,
			session.CreateIn{Title: name, Directory: folder, Model: side.Model, Config: session.Config{Effort: side.Effort}})
		if err != nil {
			return "", "", err
		}
		return s.ID, folder, nil
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
	_, err = op.Do(op.WithCaller(ctx, c), d.gate, session.SessionCancel, session.TurnIn{ID: id})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
