package source

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/boxed"
	"tandem/internal/source/wire"
)

// Room is the service behind the operations of sources.
type Room struct {
	DB         *db.DB
	Log        *slog.Logger
	Vouch      op.Vouch
	Rooms      op.Invoker    // through which an import is asked for, as the source's owner
	Reads      *boxed.Reader // one import at a time has it
	Home       string        // this server: it imports what was bound here
	Repos      Repos         // what it serves
	Connectors Connectors
	// Inside says whether people of a tenant may have this machine speak to addresses inside it or its network.
	Inside func(tenant string) bool
	// Hidden are folders of tandem itself, which nobody binds.
	Hidden []string
	// Forgot is told that texts were deleted, so that they go from the file as well.
	Forgot func()

	still func(ctx context.Context, c op.Caller) error
	wake  chan struct{}
	one   sync.Mutex // held by the import that is under way
	mu    sync.Mutex
	at    map[string]wire.Progress // of imports under way, by tenant and name
}

// New makes the room; its fields are set before its first use. still says why somebody who bound a folder is not let in any more.
func New(d *db.DB, still func(ctx context.Context, c op.Caller) error, log *slog.Logger) *Room {
	return &Room{DB: d, Log: log, Reads: &boxed.Reader{}, Forgot: func() {}, Inside: func(string) bool { return false }, still: still,
		wake: make(chan struct{}, 1), at: map[string]wire.Progress{}}
}

func (r *Room) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// How often it looks by itself: the machine's clock may be set, and what failed is tried again.
const (
	longest = time.Minute
	follow  = 5 * time.Second // whether a bookmark moved
	again   = 10 * time.Second
)

// Run imports what is due, one source after the other, and deletes what was revoked, until ctx ends.
func (r *Room) Run(ctx context.Context) {
	defer r.Reads.Close()
	for ctx.Err() == nil {
		wait, err := r.pass(ctx)
		if err != nil && ctx.Err() == nil {
			r.Log.Error("sources are not imported", "err", err)
			wait = again
		}
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-time.After(wait):
		}
	}
}

// pass does what is due, and says when something is due again.
func (r *Room) pass(ctx context.Context) (wait time.Duration, err error) {
	rows, err := r.DB.Query(ctx, "SELECT "+columns+" FROM source "+
		"WHERE home = ? AND (wanted > 0 OR every > 0 OR origin <> '' OR state = 'revoked')", r.Home)
	all, err := db.Collect(rows, err, scanRow)
	if err != nil {
		return again, err
	}
	wait = longest
	for _, s := range all {
		if s.State == wire.Revoked {
			if err := r.clear(ctx, s); err != nil {
				return again, err
			}
			continue
		}
		next := s.lookedAt.Add(time.Duration(s.Every) * time.Minute)
		switch now := r.DB.Now(); {
		case s.State != wire.Active:
		case s.Waiting || s.Every > 0 && !now.Before(next) || r.moved(ctx, s):
			if err := r.importNow(ctx, s); err != nil && ctx.Err() == nil { // the others are not to wait for it
				r.Log.Error("a source is not imported yet", "source", s.Name, "err", err)
				wait = min(wait, again)
			}
		case s.Repo != "":
			wait = min(wait, follow)
		case s.Every > 0:
			wait = min(wait, max(time.Second, next.Sub(now)))
		}
	}
	return wait, nil
}

// importNow asks for the import as the source's owner. One that is refused is not tried again by itself: the reason is shown. What failed
// for a reason of the machine's is.
func (r *Room) importNow(ctx context.Context, s *binding) error {
	var owner op.Caller
	err := json.Unmarshal(s.owner, &owner)
	if err == nil {
		err = r.still(ctx, owner)
	}
	if fault.Is(err, fault.Unauthenticated) {
		err = fault.New(fault.Unauthenticated, "source", "%s, who bound it, is not let in any more", s.Owner)
	}
	if err == nil {
		_, err = op.Do(op.WithCaller(ctx, owner), r.Rooms, wire.Import, wire.NameIn{Name: s.Name})
	}
	elsewhere := (s.URL != "" || s.Connector != "") && fault.Is(err, fault.Unavailable)
	if err == nil || ctx.Err() != nil || fault.Is(err, fault.Internal) || fault.Is(err, fault.Unavailable) && !elsewhere {
		return err
	}
	why := fault.Public(err).Msg
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		now, err := load(tx, s.tenant, s.Name)
		if err != nil || now == nil || now.State != wire.Active {
			return err
		}
		now.Reason, now.Waiting, now.lookedAt = why, false, tx.Now()
		if !elsewhere { // what another server does not answer today is not wrong, and it is not asked again and again
			now.State = wire.Quarantined
		}
		return store(tx, now)
	})
}

// clear deletes a source that was revoked, some files at a time.
func (r *Room) clear(ctx context.Context, s *binding) error {
	for {
		left := 0
		err := r.DB.Write(ctx, func(tx *db.Tx) error {
			rows, err := tx.Query("SELECT "+fileColumns+" FROM source_file WHERE tenant = ? AND place = ? LIMIT 20", s.tenant, s.nr)
			files, err := db.Collect(rows, err, scanFile)
			if err != nil {
				return err
			}
			left = len(files)
			for _, f := range files {
				if err := drop(tx, s.tenant, s.nr, f); err != nil {
					return err
				}
			}
			if left == 0 {
				_, err = tx.Exec("DELETE FROM source WHERE tenant = ? AND name = ? AND nr = ? AND state = 'revoked'", s.tenant, s.Name, s.nr)
			}
			return err
		})
		if err != nil || left == 0 {
			r.Forgot()
			return err
		}
	}
}

// Busy reports whether an import is under way.
func (r *Room) Busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.at) > 0
}

func (r *Room) progress(tenant, name string, p *wire.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p == nil {
		delete(r.at, tenant+"/"+name)
	} else {
		r.at[tenant+"/"+name] = *p
	}
}
