package owner

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"tandem/internal/db"
)

// Others is what a server knows of the owners of what it finds.
type Others struct {
	Living map[string]bool // they are at work, this server among them: what is theirs is left to them
	Far    map[string]bool // they have, or had, another machine's data folder: nothing here tells how far they came
}

// Others are asked after what they may own was read: what a server made that began meanwhile is then its own.
func (h *Held) Others(ctx context.Context) (Others, error) {
	out := Others{map[string]bool{}, map[string]bool{}}
	living, err := Living(ctx, h.db)
	if err != nil {
		return out, err
	}
	for _, s := range living {
		out.Living[s.ID] = true
	}
	rows, err := h.db.Query(ctx, "SELECT server FROM server_cluster WHERE home <> ?", h.Home)
	far, err := ids(rows, err)
	for _, id := range far {
		out.Far[id] = true
	}
	return out, err
}

// Lives reports whether a server has not ended, in the eyes of a change under way.
func Lives(tx *db.Tx, id string) (bool, error) {
	var one int
	err := tx.QueryRow("SELECT 1 FROM server WHERE id = ? AND ended_at = 0", id).Scan(&one)
	if db.NoRows(err) {
		return false, nil
	}
	return err == nil, err
}

func ids(rows *sql.Rows, err error) ([]string, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
}

// Watch looks after the other servers of the cluster until End. One whose lease has ended is ended. What ended servers left is settled
// by the oldest one that lives, and by no other: settle does that, and is told which they are.
func (h *Held) Watch(ctx context.Context, settle func(ctx context.Context, left []Server) error, trouble func(error)) {
	if h.Cluster == "" {
		return
	}
	h.oldest.Store(h.Elder)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	before := h.stop
	h.stop = func() { cancel(); before() }
	h.done.Go(func() {
		tick := time.NewTicker(h.lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := h.look(ctx, settle); err != nil && ctx.Err() == nil && !errors.Is(err, db.ErrFenced) {
				trouble(err)
			}
		}
	})
}

func (h *Held) look(ctx context.Context, settle func(ctx context.Context, left []Server) error) error {
	living, err := Living(ctx, h.db)
	if err != nil {
		return err
	}
	eldest := ""
	for _, s := range living {
		if s.ID != h.ID && h.claim.weigh(s, h.db.Now()) == dead {
			if err := h.retire(ctx, s); err != nil {
				return err
			}
			continue
		}
		if eldest == "" {
			eldest = s.ID
		}
	}
	h.oldest.Store(eldest == h.ID)
	if eldest != h.ID {
		return nil
	}
	left, err := h.unsettled(ctx)
	if err != nil || len(left) == 0 {
		return err
	}
	if err := settle(ctx, left); err != nil {
		return err
	}
	return h.settled(ctx, left)
}

// retire ends another server whose lease has ended, and what it was about to write is cut off before and after.
func (h *Held) retire(ctx context.Context, s Server) error {
	if err := h.db.CutOff(ctx, s.Link); err != nil {
		return err
	}
	if err := h.db.Write(ctx, func(tx *db.Tx) error { return end(tx, s, h.ID) }); err != nil {
		return err
	}
	return h.db.CutOff(ctx, s.Link)
}

// unsettled are the servers that ended and whose work nobody has settled.
func (h *Held) unsettled(ctx context.Context) ([]Server, error) {
	rows, err := h.db.Query(ctx, columns+"WHERE s.ended_at > 0 AND s.settled_at = 0")
	return db.Collect(rows, err, scan)
}

// settled remembers that what these servers left is settled.
func (h *Held) settled(ctx context.Context, left []Server) error {
	return h.db.Write(ctx, func(tx *db.Tx) error {
		for _, s := range left {
			if _, err := tx.Exec("UPDATE server SET settled_at = ? WHERE id = ?", tx.Now(), s.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// At is the newest server that has a home, for people who look for what lives there; false when none is known.
func At(ctx context.Context, d *db.DB, home string) (Server, bool, error) {
	rows, err := d.Query(ctx, columns+"WHERE COALESCE(c.home, '') = ? ORDER BY s.fence DESC LIMIT 1", home)
	found, err := db.Collect(rows, err, scan)
	if err != nil || len(found) == 0 {
		return Server{}, false, err
	}
	return found[0], true, nil
}

// missed is how long a server of the cluster that is gone without having been stopped is told of.
const missed = 7 * 24 * time.Hour

// Fellows are the cluster's other servers, the newest start of each data folder: those that live, and those that are gone and were not
// stopped, which have the time when that was found out.
func (h *Held) Fellows(ctx context.Context) (out []Server, err error) {
	rows, err := h.db.Query(ctx, columns+"WHERE c.cluster = ? AND c.home <> ? ORDER BY s.fence DESC LIMIT 1000", h.Cluster, h.Home)
	all, err := db.Collect(rows, err, scan)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Home] {
			continue
		}
		seen[s.Home] = true
		if s.Ended.IsZero() || s.By != "" && h.db.Now().Sub(s.Ended) < missed {
			out = append(out, s)
		}
	}
	return out, nil
}
