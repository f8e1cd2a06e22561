package daemon

import (
	"context"

	"tandem/internal/server/health"
)

// shrinkable makes the file of an older program one that gives room back. That it
// could not, for lack of room, is no reason not to start.
func (d *Daemon) shrinkable(ctx context.Context) {
	if health.Room(d.data) != nil {
		return
	}
	changed, err := d.db.Shrinkable(ctx)
	switch {
	case err != nil:
		d.Log.Warn("the database cannot give room back", "err", err)
	case changed:
		d.Log.Info("the database was written anew, so that it can give room back")
	}
}

// shrink gives back the room of what was forgotten, and moves what is left of it
// out of the file.
func (d *Daemon) shrink(ctx context.Context) {
	freed, err := d.db.Shrink(ctx)
	if err != nil {
		d.Log.Error("what was forgotten may still be in the file", "err", err)
		return
	}
	d.Log.Info("what was forgotten is gone from the file", "bytes", freed, "database", d.db.Name())
}

// forgotten has housekeeping do so next.
func (d *Daemon) forgotten() {
	select {
	case d.forgot <- struct{}{}:
	default: // it will
	}
}
