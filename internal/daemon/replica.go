package daemon

import (
	"context"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/installation"
)

// follow lets large reads ask a read-only replica, where the settings name one. They can always ask the database itself, so one that
// cannot be used is told and keeps nobody from starting.
func (d *Daemon) follow(ctx context.Context) error {
	host := d.Settings.Get("database_replica")
	if host == "" {
		return nil
	}
	err := d.db.Follow(ctx, d.dsn(), host, func(replica *db.DB) error {
		id, _, err := installation.In(ctx, replica)
		if err == nil && id != d.kept.ID {
			err = fmt.Errorf("what answers at %s is the database of another installation", host)
		}
		return err
	})
	if err != nil {
		d.Log.Warn("the replica is not used: large reads ask the database itself until the next start", "replica", host, "err", err)
		return nil
	}
	d.Log.Info("large reads ask a replica", "replica", host)
	return nil
}
