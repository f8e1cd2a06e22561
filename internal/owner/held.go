package owner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// Held is this process's own row.
type Held struct {
	Server
	Before []Server // those that it ended
	Elder  bool     // no other server lived when it began

	db     *db.DB
	claim  *Claim
	lease  time.Duration
	oldest atomic.Bool
	alone  bool // the lock of the data folder keeps everybody else out, as long as this process is there
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// Keep has every write refused from the moment that another server took over, and renews the lease until End. lost is called once with
// what happened, trouble with what kept a renewal from being made.
func (h *Held) Keep(ctx context.Context, lost func(error), trouble func(error)) {
	base := context.WithoutCancel(ctx) // it lives as long as the row, not as a start
	if !h.alone {
		h.db.Fence(db.Fence{Live: "SELECT 1 FROM server WHERE id = '" + h.ID + "' AND ended_at = 0", Lost: func() { lost(h.taken(base)) }})
	}
	ctx, cancel := context.WithCancel(base)
	if h.stop = cancel; h.lease == 0 {
		return
	}
	h.done.Go(func() {
		tick := time.NewTicker(h.lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := h.renew(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, db.ErrFenced) {
				trouble(err)
			}
		}
	})
}

func (h *Held) renew(ctx context.Context) error {
	return h.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE server SET lease_until = ?, renewed = renewed + 1 WHERE id = ? AND ended_at = 0", tx.Now().Add(h.lease), h.ID)
		return err
	})
}

// Oldest says whether no server that lives began before this one, as far as it saw: of several it does what one of them does.
func (h *Held) Oldest() bool { return h.Cluster == "" || h.oldest.Load() }

// End says that this server works with the database no longer.
func (h *Held) End(ctx context.Context) error {
	if h.stop != nil {
		h.stop()
		h.done.Wait()
	}
	err := h.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE server SET ended_at = ? WHERE id = ? AND ended_at = 0", tx.Now(), h.ID)
		return err
	})
	if errors.Is(err, db.ErrFenced) {
		return nil // another one said so
	}
	return err
}

// taken tells who took over.
func (h *Held) taken(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	rows, err := h.db.Query(ctx, columns+"WHERE s.id = (SELECT ended_by FROM server WHERE id = ?)", h.ID)
	by, err := db.Collect(rows, err, scan)
	who := "the content of the database was replaced"
	if err == nil && len(by) == 1 {
		who = fmt.Sprintf("another server took it over: %s", by[0])
	}
	return fault.New(fault.Unavailable, "server", "this server works with its database no longer: %s", who).
		WithNext("if that one is to serve, leave this one down; else stop it there (tandem down), then start here: tandem up")
}
