package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/client"
	"tandem/internal/settings"
	"tandem/internal/wholefile"
)

// opening is how a daemon opened its doors. It is kept beside the data while
// the daemon runs, and taken away by an orderly end: what is there at a start
// was left by a crash.
type opening struct {
	Listens []string          `json:"listens"` // where it listened, and the one before it that crashed, until somebody says otherwise
	Set     map[string]string `json:"set"`     // what made it so and may outlive the start
	Files   map[string]string `json:"files"`   // what the data folder's files said then
}

// openings are the settings that make the same doors again.
var openings = []string{"listen", "hostname", "port", "hosts", "panel_public", "tls_cert", "tls_key"}

var addressed = []string{"listen", "hostname", "port"}

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

// addressLasts says whether where it listens outlives this start.
func (d *Daemon) addressLasts() bool {
	return !slices.ContainsFunc(addressed, func(key string) bool { return !d.lasts(key) })
}

// keepOpening remembers how the doors were opened: where on loopback whoever said so, beyond it as far as a person approved.
func (d *Daemon) keepOpening() error {
	o := opening{Listens: append(slices.Clone(d.listens), d.closed...), Set: map[string]string{}}
	for _, key := range openings {
		if d.Settings.Given(key) && d.lasts(key) {
			o.Set[key] = d.Settings.Get(key)
		}
	}
	if d.fingerprint() == "" || !d.addressLasts() {
		o.Set["listen"] = d.near
	}
	var err error
	if o.Files, err = inFiles(d.data); err != nil {
		return err
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

// lastFile is what an orderly end makes of it: nobody opens these doors again unasked, and the next start says where they were.
func (d *Daemon) lastFile() string { return filepath.Join(d.data, "listened.json") }

func (d *Daemon) forgetOpening() {
	if err := os.Rename(d.openingFile(), d.lastFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Log.Warn("the kept address is still there", "err", err)
	}
}

// leftDoors are where the one before listened that ended in order, and this one does not, because nobody told it to: workspaces and phones
// still know that address.
func (d *Daemon) leftDoors() []string {
	for _, key := range addressed {
		if d.Settings.Given(key) {
			return nil
		}
	}
	var o opening
	if data, err := os.ReadFile(d.lastFile()); err != nil || json.Unmarshal(data, &o) != nil {
		return nil
	}
	return slices.DeleteFunc(o.Listens, func(l string) bool {
		return slices.Contains(d.listens, l) || d.taken != nil && d.taken.Address == l
	})
}

// comeBack makes a daemon listen where the one before it listened, when that one crashed or was replaced: panels, phones, programs
// and other machines know it by that address and have nobody else to ask. One that a command started on demand takes all of it; one
// that a person starts takes what the command line and the environment leave open.
func (d *Daemon) comeBack() error {
	data, err := os.ReadFile(d.openingFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var o opening
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil || len(o.Set) == 0 {
		d.Log.Warn("the kept address cannot be read", "file", d.openingFile(), "err", err)
		return nil
	}
	set := o.Set
	if !d.OnDemand {
		if set, err = o.open(d.Settings, d.data); err != nil || len(set) == 0 {
			return err
		}
	}
	d.asked = d.Settings
	d.Settings = d.Settings.With(set, beforeCrash)
	d.cameBack, d.OnDemand = d.OnDemand, false
	if listen := set["listen"]; listen != "" && near(listen) {
		for _, l := range o.Listens {
			if !near(l) {
				d.closed = append(d.closed, l)
			}
		}
	}
	d.Log.Warn("listening where the one before did", "listen", strings.Join(o.Listens, " "), "not_reopened", strings.Join(d.closed, " "))
	return nil
}

// inFiles is what the files of the data folder say about doors.
func inFiles(data string) (map[string]string, error) {
	s, err := settings.Load(map[string]string{"data": data}, nil)
	if err != nil {
		return nil, err
	}
	said := map[string]string{}
	for _, key := range openings {
		said[key] = s.Get(key)
	}
	return said, nil
}

// open is what a start that a person made takes over: what this command line and the environment do not say, and nobody changed in a
// file since. The address is one thing, though three settings make it.
func (o opening) open(now *settings.Settings, data string) (map[string]string, error) {
	files, err := inFiles(data)
	if err != nil || o.Files == nil {
		return nil, err
	}
	set := maps.Clone(o.Set)
	for _, key := range openings {
		from := now.Source(key)
		if from != "flag" && !strings.HasPrefix(from, "environment") && files[key] == o.Files[key] {
			continue
		}
		delete(set, key)
		if slices.Contains(addressed, key) {
			maps.DeleteFunc(set, func(k, _ string) bool { return slices.Contains(addressed, k) })
		}
	}
	return set, nil
}

func near(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && client.Loopback(host)
}

// Reopening remembers how a running daemon opened its doors, and lets the start that takes its place open them again: an orderly
// end forgets it.
func Reopening(data string) (reopen func() error) {
	d := &Daemon{data: data}
	kept, err := os.ReadFile(d.openingFile())
	return func() error {
		if err != nil { // it opened none
			return nil
		}
		return wholefile.Write(d.openingFile(), kept)
	}
}
