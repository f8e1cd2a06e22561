package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/wholefile"
)

// opening is what a daemon that listens beyond this machine was started with,
// by setting. It is kept beside the data while the daemon runs, and taken away
// by an orderly end: what is there at a start was left by a crash.
type opening map[string]string

// openings are the settings that make the same doors again.
var openings = []string{"listen", "hostname", "port", "hosts", "panel_public", "tls_cert", "tls_key", "repos"}

func (d *Daemon) openingFile() string { return filepath.Join(d.data, "listening.json") }

// keepOpening remembers how the doors were opened.
func (d *Daemon) keepOpening() error {
	o := opening{}
	for _, key := range openings {
		if d.Settings.Given(key) {
			o[key] = d.Settings.Get(key)
		}
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := wholefile.Write(d.openingFile(), data); err != nil {
		return fmt.Errorf("keep the address: %w", err)
	}
	return nil
}

func (d *Daemon) forgetOpening() {
	if err := os.Remove(d.openingFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Log.Warn("the kept address is still there", "err", err)
	}
}

// comeBack makes a daemon that a command started on demand listen where the
// one before it listened, when that one crashed and other machines' members
// depend on this one: they know it by that address and have nobody else to ask.
// It was a person who opened the address, and no person closed it.
func (d *Daemon) comeBack(ctx context.Context) error {
	if !d.OnDemand {
		return nil
	}
	data, err := os.ReadFile(d.openingFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the kept address: %w", err)
	}
	var o opening
	if err := json.Unmarshal(data, &o); err != nil {
		d.Log.Warn("the kept address cannot be read", "file", d.openingFile(), "err", err)
		return nil
	}
	var spaces int
	if err := d.db.QueryRow(ctx, `SELECT count(*) FROM space s WHERE s.state = 'open' AND
		(SELECT count(*) FROM space_member m WHERE m.tenant = s.tenant AND m.space = s.id AND m.left_at = 0 AND m.removed_at = 0) > 1`).Scan(&spaces); err != nil {
		return err
	}
	if spaces == 0 {
		return nil
	}
	d.Settings = d.Settings.With(o, "kept from before a crash")
	d.OnDemand, d.cameBack = false, true
	d.Log.Warn("listening again after a crash", "spaces", spaces, "listen", o["listen"])
	return nil
}
