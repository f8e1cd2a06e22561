package daemon

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/installation"
	"tandem/internal/op"
	"tandem/internal/secret"
)

// Ready says that the server can do its work.
type Ready struct {
	Ready bool `json:"ready"`
}

// readiness remembers the last look: whoever asks often does not make the server write often.
type readiness struct {
	looking sync.Mutex // one looks at a time, which may take a while; it guards all but reasons
	at      time.Time
	keys    []string   // files that were there
	writing chan error // a write that has not come back yet

	mu      sync.Mutex
	reasons []reason
}

// reason is something that keeps the server from its work, and which part of it. One that hangs does not even refuse.
type reason struct {
	part, text, next string
	hangs            bool
}

// parts are what readiness looks at.
var parts = []string{"clock", "database", "disk", "keys"}

func because(part string, err error) reason {
	r := reason{part: part, text: err.Error()}
	var f *fault.Error
	if errors.As(err, &f) {
		r.text, r.next, r.hangs = f.Msg, f.Next, f.Data[client.Hangs] != ""
	}
	return r
}

func texts(reasons []reason) string {
	var all []string
	for _, r := range reasons {
		all = append(all, r.text)
	}
	return strings.Join(all, "; ")
}

// bad says whether something was wrong at the last look.
func (r *readiness) bad() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.reasons) > 0
}

const (
	lookAgain = 2 * time.Second
	writeTime = 3 * time.Second
)

// readyOp is for load balancers: strangers are told yes or no, whoever is known is told why.
func (d *Daemon) readyOp(ctx context.Context, _ nothing) (Ready, error) {
	reasons := d.look()
	if len(reasons) == 0 {
		return Ready{true}, nil
	}
	f := fault.New(fault.Unavailable, "server.ready", "the server is not ready")
	if op.CallerFrom(ctx).Known() || nearby(ctx) {
		f = fault.New(fault.Unavailable, "server.ready", "the server is not ready: %s", texts(reasons)).WithNext("see: tandem doctor")
		for _, r := range reasons {
			f = f.With(client.Part+r.part, r.text)
			if r.hangs {
				f = f.With(client.Hangs, r.part)
			}
		}
	}
	return Ready{}, f
}

// nearby says whether a program of this user asks over a local socket, which the kernel knows without the database.
func nearby(ctx context.Context) bool {
	c, ok := connOf(ctx).(*net.UnixConn)
	return ok && sameUser(c) == nil
}

// look finds what keeps the server from its work, and logs when that changes.
func (d *Daemon) look() []reason {
	r := &d.readiness
	r.looking.Lock()
	defer r.looking.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < lookAgain {
		return r.reasons // only whoever looks changes them
	}
	var found []reason
	if err := d.writable(); err != nil {
		found = append(found, because("database", err))
	}
	if err := Room(d.data); err != nil {
		found = append(found, because("disk", err))
	}
	found = append(found, d.missingKeys()...)
	if c := d.db.Clock(); !c.Sure {
		found = append(found, d.clockReason(c))
	}
	if sure := d.db.Clock().Sure; sure == (d.clockWatch.off.Load() != 0) { // the journal does not know yet
		d.alarmed()
	}
	d.watch.troubled.Store(false)
	switch {
	case len(found) > 0 && !slices.Equal(found, r.reasons):
		d.Log.Error("not ready", "reasons", texts(found))
	case len(found) == 0 && len(r.reasons) > 0:
		d.Log.Info("ready again")
	}
	r.at = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons = found
	return found
}

// missingKeys are the keys that this server uses and that are not in its folder any more: it goes on with what it read, and the next
// start would not.
func (d *Daemon) missingKeys() (found []reason) {
	there := installation.Present(d.data)
	for _, f := range installation.Keys {
		switch was := slices.Contains(d.readiness.keys, f.Name); {
		case slices.Contains(there, f.Name):
			if !was {
				d.readiness.keys = append(d.readiness.keys, f.Name)
			}
		case f.Name == "secret.key" && !d.secretsLost(): // a rotation may have taken them into the keyring
		case was || f.Always:
			found = append(found, reason{part: "keys", text: f.Name + " is missing in the data folder", next: f.Lost(d.data).Next})
		}
	}
	return found
}

// secretsLost says whether a secret's master key is in no keeper any more.
func (d *Daemon) secretsLost() bool {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	gone, err := secret.Missing(ctx, d.db, d.keepers)
	return err == nil && len(gone) > 0
}

// writable writes a row anew and waits a moment for it. A database that does not come back is asked once, not each time.
func (d *Daemon) writable() error {
	r := &d.readiness
	if r.writing == nil {
		r.writing = make(chan error, 1)
		go func(done chan error) {
			done <- d.db.Write(context.Background(), func(tx *db.Tx) error {
				_, err := tx.Exec("UPDATE installation SET made_at = made_at WHERE one = 1")
				return err
			})
		}(r.writing)
	}
	select {
	case err := <-r.writing:
		r.writing = nil
		return err
	case <-time.After(writeTime):
		return fault.New(fault.Unavailable, "db", "the database does not answer").With(client.Hangs, "database").
			WithNext("look at the database and at the network to it; what waits goes on by itself when it answers")
	}
}
