package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/settings"
	"tandem/internal/wholefile"
)

// opening is how a daemon opened its doors. It is kept beside the data while
// the daemon runs, and taken away by an orderly end: what is there at a start
// was left by a crash.
type opening struct {
	Listens []string          `json:"listens"` // where it listened
	Set     map[string]string `json:"set"`     // what made it so and may outlive the start
}

// openings are the settings that make the same doors again.
var openings = []string{"listen", "hostname", "port", "hosts", "panel_public", "tls_cert", "tls_key"}

const beforeCrash = "kept from before a crash"

func (d *Daemon) openingFile() string { return filepath.Join(d.data, "listening.json") }

// lasts says whether a setting outlives the start it was given to. What guards this
// machine does only when a person approved it, and then it is in a file of the data
// folder: anybody who runs as this user can say it on a command line.
func (d *Daemon) lasts(key string) bool {
	s := settings.Known(key)
	from := d.Settings.Source(key)
	return s == nil || !s.Guard || d.approved[key] || from == "default" || from == beforeCrash || d.inFolder(key)
}

// keepOpening remembers how the doors were opened: where on loopback whoever said so, beyond it as far as a person approved.
func (d *Daemon) keepOpening() error {
	o := opening{Listens: d.listens, Set: map[string]string{}}
	for _, key := range openings {
		if d.Settings.Given(key) && d.lasts(key) {
			o.Set[key] = d.Settings.Get(key)
		}
	}
	if d.fingerprint() == "" || !d.lasts("listen") || !d.lasts("hostname") || !d.lasts("port") {
		o.Set["listen"] = d.near
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := wholefile.Write(d.openingFile(), data); err != nil {
		return d.db.Explain(fmt.Errorf("keep the address: %w", err))
	}
	return nil
}

func (d *Daemon) forgetOpening() {
	if err := os.Remove(d.openingFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Log.Warn("the kept address is still there", "err", err)
	}
}

// comeBack makes a daemon that a command started on demand listen where the
// one before it listened, when that one crashed: panels, phones, programs and
// other machines know it by that address and have nobody else to ask.
func (d *Daemon) comeBack() error {
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
	if err := json.Unmarshal(data, &o); err != nil || len(o.Set) == 0 {
		d.Log.Warn("the kept address cannot be read", "file", d.openingFile(), "err", err)
		return nil
	}
	d.Settings = d.Settings.With(o.Set, beforeCrash)
	d.OnDemand, d.cameBack = false, true
	if host, _, err := net.SplitHostPort(o.Set["listen"]); err == nil && loopback(host) {
		for _, l := range o.Listens {
			if h, _, err := net.SplitHostPort(l); err == nil && !loopback(h) {
				d.closed = append(d.closed, l)
			}
		}
	}
	d.Log.Warn("listening again after a crash", "listen", strings.Join(o.Listens, " "), "not_reopened", strings.Join(d.closed, " "))
	return nil
}
