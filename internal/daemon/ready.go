package daemon

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/installation"
	"tandem/internal/op"
)

// Ready says that the server can do its work.
type Ready struct {
	Ready bool `json:"ready"`
}

// readiness remembers the last look: whoever asks often does not make the server write often.
type readiness struct {
	mu      sync.Mutex
	at      time.Time
	reasons []string
	writing chan error // a write that has not come back yet
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
	if op.CallerFrom(ctx).Known() {
		f = fault.New(fault.Unavailable, "server.ready", "the server is not ready: %s", strings.Join(reasons, "; ")).WithNext("see: tandem doctor")
	}
	return Ready{}, f
}

// look finds what keeps the server from its work, and logs when that changes.
func (d *Daemon) look() []string {
	r := &d.readiness
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < lookAgain {
		return r.reasons
	}
	var found []string
	if err := d.writable(); err != nil {
		found = append(found, err.Error())
	}
	if err := Room(d.data); err != nil {
		found = append(found, err.Error())
	}
	there := installation.Present(d.data)
	for _, name := range []string{"journal.key", "space.key"} {
		if !slices.Contains(there, name) {
			found = append(found, name+" is missing in the data folder")
		}
	}
	switch {
	case len(found) > 0 && !slices.Equal(found, r.reasons):
		d.Log.Error("not ready", "reasons", strings.Join(found, "; "))
	case len(found) == 0 && len(r.reasons) > 0:
		d.Log.Info("ready again")
	}
	r.reasons, r.at = found, time.Now()
	return found
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
		return fault.New(fault.Unavailable, "db", "the database does not answer")
	}
}
