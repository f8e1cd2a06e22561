package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/notify"
	"tandem/internal/settings"
)

// modes are all of them; each lets in fewer than the one before it.
var modes = []authMode{localSingleTenant, hostedSingleTenant, enterpriseRequired}

// served is the mode that this house was served in last.
func (d *Daemon) served() authMode { return cmp.Or(authMode(d.kept.Mode), localSingleTenant) }

// lower refuses a mode that lets in more than the one that was served last: a command line and an environment are anybody's who runs as
// this user. What stands in the data folder's own files is a person's word.
func (d *Daemon) lower() error {
	if slices.Index(modes, d.mode) >= slices.Index(modes, d.served()) {
		return nil
	}
	files, err := settings.Load(map[string]string{"data": d.data}, nil)
	if err != nil {
		return err
	}
	if files.Given("auth_mode") && files.Fits("auth_mode") == nil &&
		slices.Index(modes, authMode(files.Get("auth_mode"))) <= slices.Index(modes, d.mode) {
		return nil
	}
	return fault.New(fault.Denied, "daemon", "the mode %s lets in more than %s, in which this server was last, and nobody kept that", d.mode,
		d.served()).With("reason", "auth mode").WithNext("%s", d.lowers(d.mode))
}

// lowers says how a person has the server let in more than it did.
func (d *Daemon) lowers(m authMode) string {
	return fmt.Sprintf("start it without saying a mode, and keep the other one, with your PIN: tandem settings set auth_mode %s; where it "+
		"does not start, write auth_mode = %q into %s", m, m, filepath.Join(d.data, "config.toml"))
}

// keepMode keeps the mode with the house, and tells people when it, or the key ring of the settings, is not as at the last start.
func (d *Daemon) keepMode(ctx context.Context) error {
	was := d.served()
	if was == d.mode && d.kept.Ring == d.ring {
		return nil
	}
	keys := slices.Sorted(maps.Keys(d.identity.Takes.Ring))
	payload, err := json.Marshal(map[string]any{"mode": d.mode, "was": was, "from": d.Settings.Source("auth_mode"), "keys": keys,
		"ring_changed": d.kept.Ring != d.ring})
	if err != nil {
		return err
	}
	said := fmt.Sprintf("The server is in the mode %s; at the last start it was %s.", d.mode, was)
	if was == d.mode {
		said = fmt.Sprintf("The key ring that signs assertions is not the one of the last start; it has %d keys now.", len(keys))
	}
	err = d.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "server.mode", Actor: identity.System,
			Resource: "server:/mode", Payload: payload}); err != nil {
			return err
		}
		return d.rooms.notify.Put(tx, identity.LocalTenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "authority", Status: "mode",
			ID: string(d.mode), Summary: said, Reason: "If that was not you, a program of this user started it so: it may speak for anybody."},
			Next: "See what it was told: tandem audit log --type server.mode", Push: notify.Urgent, Page: "/panel/journal?type=server.mode"})
	})
	if err != nil {
		return err
	}
	d.kept.Mode, d.kept.Ring = string(d.mode), d.ring
	return d.db.Explain(d.kept.Write(d.data))
}
