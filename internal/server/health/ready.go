package health

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/installation"
	"tandem/internal/secret"
)

// Reason is something that keeps the server from its work, and which part of it. One that hangs does not even refuse.
type Reason struct {
	Part, Text, Next string
	Hangs            bool
}

// look remembers the last one: whoever asks often does not make the server write often.
type look struct {
	looking sync.Mutex // one looks at a time, which may take a while; it guards all but reasons
	at      time.Time
	keys    []string   // files that were there
	writing chan error // a write that has not come back yet

	mu      sync.Mutex
	reasons []Reason
}

// parts are what is looked at.
var parts = []string{"clock", "database", "disk", "keys"}

func because(part string, err error) Reason {
	r := Reason{Part: part, Text: err.Error()}
	var f *fault.Error
	if errors.As(err, &f) {
		r.Text, r.Next, r.Hangs = f.Msg, f.Next, f.Data[client.Hangs] != ""
	}
	return r
}

// Texts is what all reasons say, in one line.
func Texts(reasons []Reason) string {
	var all []string
	for _, r := range reasons {
		all = append(all, r.Text)
	}
	return strings.Join(all, "; ")
}

const (
	lookAgain = 2 * time.Second
	// Patience is how long a database is waited for that may be away.
	Patience = 3 * time.Second
)

// Bad says whether something was wrong at the last look.
func (h *Health) Bad() bool {
	h.look.mu.Lock()
	defer h.look.mu.Unlock()
	return len(h.look.reasons) > 0
}

// Look finds what keeps the server from its work, and logs when that changes.
func (h *Health) Look(ctx context.Context) []Reason {
	l := &h.look
	l.looking.Lock()
	defer l.looking.Unlock()
	if !l.at.IsZero() && time.Since(l.at) < lookAgain {
		return l.reasons // only whoever looks changes them
	}
	var found []Reason
	if err := h.writable(ctx); err != nil {
		found = append(found, because("database", err))
	}
	if err := Room(h.house.Data); err != nil {
		found = append(found, because("disk", err))
	}
	found = append(found, h.missingKeys(ctx)...)
	state := h.house.DB.Clock()
	if !state.Sure {
		found = append(found, clockReason(state))
	}
	if state.Sure == (h.clock.off.Load() != 0) { // the journal does not know yet
		h.Alarm()
	}
	h.trouble.Store(false)
	switch {
	case len(found) > 0 && !slices.Equal(found, l.reasons):
		h.house.Log.Error("not ready", "reasons", Texts(found))
	case len(found) == 0 && len(l.reasons) > 0:
		h.house.Log.Info("ready again")
	}
	l.at = time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reasons = found
	return found
}

// missingKeys are the keys that this server uses and that are not in its folder any more: it goes on with what it read, and the next
// start would not.
func (h *Health) missingKeys(ctx context.Context) (found []Reason) {
	l, data := &h.look, h.house.Data
	there := installation.Present(data)
	for _, f := range installation.Keys {
		switch was := slices.Contains(l.keys, f.Name); {
		case slices.Contains(there, f.Name):
			if !was {
				l.keys = append(l.keys, f.Name)
			}
		case f.Name == "secret.key" && !h.secretsLost(ctx): // a rotation may have taken them into the keyring
		case was || f.Always:
			found = append(found, Reason{Part: "keys", Text: f.Name + " is missing in the data folder", Next: f.Lost(data).Next})
		}
	}
	return found
}

// secretsLost says whether a secret's master key is in no keeper any more.
func (h *Health) secretsLost(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
	defer cancel()
	gone, err := secret.Missing(ctx, h.house.DB, h.house.Keepers)
	return err == nil && len(gone) > 0
}

// writable writes a row anew and waits a moment for it. A database that does not come back is asked once, not each time.
func (h *Health) writable(ctx context.Context) error {
	l := &h.look
	if l.writing == nil {
		l.writing = make(chan error, 1)
		go func(done chan error) {
			done <- h.house.DB.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
				_, err := tx.Exec("UPDATE installation SET made_at = made_at WHERE one = 1")
				return err
			})
		}(l.writing)
	}
	select {
	case err := <-l.writing:
		l.writing = nil
		return err
	case <-time.After(Patience):
		return fault.New(fault.Unavailable, "db", "the database does not answer").With(client.Hangs, "database").
			WithNext("look at the database and at the network to it; what waits goes on by itself when it answers")
	}
}
