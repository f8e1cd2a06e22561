package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"tandem/internal/db"
)

// step is one thing that a start does. What it opens it leaves to opened, also when it fails later.
type step struct {
	name string
	do   func(ctx context.Context) error
}

// opened is what a start has opened: it is closed in the other order on every way out.
type opened struct{ close []func() }

func (o *opened) closes(f func()) { o.close = append(o.close, f) }

func (o *opened) closeAll() {
	for len(o.close) > 0 {
		last := len(o.close) - 1
		f := o.close[last]
		o.close = o.close[:last]
		f()
	}
}

// through does one step after the other, up to the first that fails.
func (d *Daemon) through(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if d.before != nil {
			if err := d.before(s.name); err != nil {
				return err
			}
		}
		if err := s.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// opening brings storage and rooms up, and settles what a crash left behind.
func (d *Daemon) opening() []step {
	return []step{
		{"settle the folder", func(context.Context) error { return d.settle() }},
		{"look for what is absent", func(context.Context) error { return d.absent() }},
		{"open the database", d.openDB},
		{"be alone", d.alone},
		{"may it be shared", d.shareable},
		{"finish a restore", d.finishRestore},
		{"recognise the database", d.recognise},
		{"back up before migrating", d.backupBeforeMigrating},
		{"migrate", d.migrate},
		{"take the database", d.take},
		{"let the database shrink", func(ctx context.Context) error { d.shrinkable(ctx); return nil }},
		{"check the keys", d.checkKeys},
		{"come back", func(context.Context) error { return d.comeBack() }},
		{"construct the rooms", d.construct},
		{"bind folder and database", d.bind},
		{"follow a replica", d.follow},
		{"join the cluster", func(ctx context.Context) error { d.joinCluster(ctx); return nil }},
		{"settle the clock", explained("settle the clock", func(ctx context.Context) error { return d.health.Settle(ctx) })},
		{"tell of a restore", d.afterRestore},
		{"tell of seals", d.tellSeals},
		{"may this mode be served", d.modeParts},
		{"keep the mode", d.keepMode},
		{"recover", explained("settle what a crash left", d.recoverLeft)},
	}
}

// explained says what a failure kept from being done.
func explained(what string, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
}

func (d *Daemon) openDB(ctx context.Context) (err error) {
	dsn := d.dsn()
	if dsn == "" {
		dsn = filepath.Join(d.data, "tandem.db")
	}
	if d.db, err = db.Open(ctx, dsn, clock(ahead)); err != nil {
		return err
	}
	d.opened.closes(func() {
		if err := d.closeDB(); err != nil {
			d.Log.Error("close the database", "err", err)
		}
	})
	d.opened.closes(d.closeRooms)
	d.db.Told = func(err error) { d.Log.Error("after a commit", "err", err) }
	return nil
}

func (d *Daemon) migrate(ctx context.Context) error {
	ran, err := d.db.Migrate(ctx, migrations...)
	if err == nil && ran > 0 {
		d.Log.Info("migrated", "steps", ran, "database", d.db.Name())
	}
	return err
}

// closeRooms closes what those rooms hold open that were made.
func (d *Daemon) closeRooms() {
	if d.sockets != nil {
		d.sockets.closeAll()
	}
	if d.rooms.remotes != nil {
		d.rooms.remotes.Stop()
	}
	if d.rooms.peer != nil {
		d.rooms.peer.Stop()
	}
	if d.rooms.connector != nil {
		d.rooms.connector.Close() //nolint:errcheck // what it ends has nobody left to tell
	}
	if d.rooms.repo != nil {
		d.rooms.repo.Close()
	}
}

// ended is how a start that came through ends: stopped, taken over from, or to begin anew.
func (d *Daemon) ended() error {
	d.db.FenceTold() // a room may have failed by it first, and stopped us
	if lost := d.lost.Load(); lost != nil {
		return *lost
	}
	if d.restart.Load() {
		return ErrRestart
	}
	return nil
}

// ErrRestart is how Run ends when the daemon should begin anew.
var ErrRestart = errors.New("restart")
