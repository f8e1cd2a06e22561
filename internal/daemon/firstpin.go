package daemon

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// firstPIN takes the PIN's hash from the settings, on a machine that is set up without a person. It counts once: where a PIN was ever
// set, it is not even looked at.
func (d *Daemon) firstPIN(ctx context.Context) error {
	hash, err := d.given("pin_hash")
	if err != nil || hash == "" {
		return err
	}
	set, err := d.identity.FirstPIN(ctx, identity.LocalTenant, identity.WellKnown(identity.Owner), hash,
		func(tx *db.Tx, row op.Sealed) error {
			_, err := d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "pin.set", Actor: identity.System,
				Resource: "server:/pin", Seals: journal.SealsOf([]op.Sealed{row})})
			return err
		})
	if set {
		d.Log.Info("the PIN was set by its hash; make recovery codes with: tandem recover codes")
	}
	return err
}
