package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/space/peer"
	"tandem/internal/space/seal"
	"tandem/internal/wholefile"
)

const spaceKey = "space.key"

// rotateSpace makes the next key of seats and starts anew: members seal with the key all the time, so it is replaced while none of
// them is at work.
func (d *Daemon) rotateSpace(context.Context) (RotateOut, error) {
	key, err := seal.NewKey()
	if err != nil {
		return RotateOut{}, err
	}
	if err := wholefile.Write(journal.NextFile(filepath.Join(d.data, spaceKey)), key); err != nil {
		return RotateOut{}, err
	}
	d.restart.Store(true)
	d.stop()
	return RotateOut{Next: "make a copy of everything: tandem server backup PATH"}, nil
}

// turnSpaceKey seals the seats of this machine under a key that waits. A crash before the end of the transaction repeats it, one after it
// leaves the file for finishSpace.
func (d *Daemon) turnSpaceKey(ctx context.Context) error {
	path := filepath.Join(d.data, spaceKey)
	next, err := os.ReadFile(journal.NextFile(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	old, err := peer.Key(path)
	if err != nil {
		return err
	}
	var n int
	err = d.db.Write(ctx, func(tx *db.Tx) error {
		if n, err = peer.Reseal(tx, old, next); err != nil {
			return err
		}
		if err := d.kept.Mark(tx, spaceKey, next); err != nil {
			return err
		}
		payload, err := json.Marshal(map[string]any{"key": spaceKey, "sealed": n})
		if err != nil {
			return err
		}
		_, err = d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "server.key_rotated", Actor: identity.System,
			Resource: op.Resource{Kind: "server", Path: "/keys"}.String(), Payload: payload})
		return err
	})
	if err != nil {
		return err
	}
	d.Log.Info("the seats in spaces are sealed under a new key", "sealed", n)
	return d.placeSpace()
}

func (d *Daemon) placeSpace() error {
	path := filepath.Join(d.data, spaceKey)
	if err := os.Rename(journal.NextFile(path), path); err != nil {
		return err
	}
	return wholefile.SyncFolder(d.data)
}

// finishSpace puts a key in its place that counts already.
func (d *Daemon) finishSpace(ctx context.Context) error {
	next, err := os.ReadFile(journal.NextFile(filepath.Join(d.data, spaceKey)))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	counts := false
	if err == nil {
		err = d.db.Read(ctx, func(tx *db.Tx) (err error) { counts, err = d.kept.Marked(tx, spaceKey, next); return err })
	}
	if err != nil || !counts {
		return err
	}
	d.Log.Warn("finished a rotation that was cut off", "key", spaceKey)
	return d.placeSpace()
}
