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
	clean chan struct{} // something was revoked, perhaps
	one   sync.Mutex    // held by the import that is under way
	mu    sync.Mutex
	at    map[string]wire.Progress // of imports under way, by tenant and name
	rests map[int64]pause          // of sources whose imports failed for a reason of the machine's, by number
}

// pause is how long an import is not tried again.
type pause struct {
	until time.Time
	last  time.Duration
}

// New makes the room; its fields are set before its first use. still says why somebody who bound a folder is not let in any more.
func New(d *db.DB, still func(ctx context.Context, c op.Caller) error, log *slog.Logger) *Room {
	return &Room{DB: d, Log: log, Reads: &boxed.Reader{}, Forgot: func() {}, Inside: func(string) bool { return false }, still: still,
		wake: make(chan struct{}, 1), clean: make(chan struct{}, 1), at: map[string]wire.Progress{}, rests: map[int64]pause{}}
}

// rouse has both loops look: somebody changed a source. What failed is tried again, whatever its pause.
func (r *Room) rouse() {
	r.mu.Lock()
	clear(r.rests)
	r.mu.Unlock()
	for _, loop := range []chan struct{}{r.wake, r.clean} {
		select {
		case loop <- struct{}{}:
		default:
		}
	}
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
	why := storableWords(fault.Public(err).Msg)
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
