package owner

import (
	"context"
	"os"
	"time"

	"tandem/internal/db"
	"tandem/internal/id"
)

// Claim is who wants to work with a database, and what it sees of others.
type Claim struct {
	Installation string
	Folder       string // its data folder, whose lock it holds
	Inside       bool   // the database is a file of that folder: nobody else lives on it
	Lease        time.Duration
	Cluster      string             // the name that its servers say; "" to work alone
	Home         string             // which of the cluster's folders it has
	Gone         func(pid int) bool // whether this machine has no such process

	place   string
	watched map[string]sight // as they were seen first
}

// sight is a server as it was seen first, and when.
type sight struct {
	renewed int64
	at      time.Time
}

type verdict int

const (
	unsure verdict = iota // it may be alive on another machine: watch whether it renews its lease
	lives
	dead
)

// judge says what is known of another server without waiting for it.
func (c *Claim) judge(s Server, now time.Time) verdict {
	here := s.Place != "" && s.Place == c.place
	switch {
	case c.Inside, here && s.Folder == c.Folder: // the lock of the folder is ours
		return dead
	case here && c.Gone(s.PID):
		return dead
	case here && !s.Until.IsZero() && !now.Before(s.Until): // another machine's clock may be wrong, or this one's
		return dead
	case here:
		return lives
	case s.Until.IsZero(): // a file, whose other users would be on this machine
		return dead
	}
	return unsure
}

// Wait returns once no other server lives on the database but those of the same cluster, and refuses when one does. It changes nothing.
// Of a server on another machine it only sees whether the lease is renewed, by no clock but this process's own.
func (c *Claim) Wait(ctx context.Context, d *db.DB, waiting func(Server)) error {
	c.place, c.watched = place(), map[string]sight{}
	for {
		living, err := Living(ctx, d)
		if err != nil {
			return err
		}
		var doubt *Server
		for _, s := range living {
			switch v := c.weigh(s, d.Now()); {
			case c.together(s): // whether it lives is found out later
			case v == lives:
				return c.refuse(s)
			case v == unsure:
				doubt = &s
			}
		}
		if doubt == nil {
			return nil
		}
		waiting(*doubt)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// weigh is judge, and what watching told.
func (c *Claim) weigh(s Server, now time.Time) verdict {
	v := c.judge(s, now)
	if v != unsure {
		return v
	}
	was, seen := c.watched[s.ID]
	switch {
	case !seen:
		c.watched[s.ID] = sight{s.Renewed, time.Now()}
	case was.renewed != s.Renewed:
		c.watched[s.ID] = sight{s.Renewed, time.Now()}
		return lives
	case time.Since(was.at) > c.Lease:
		return dead
	}
	return unsure
}

// Take ends the servers that are dead and makes the row of this one, in one transaction. What the dead were about to write is cut off
// before and after, so that nothing of theirs comes later.
func (c *Claim) Take(ctx context.Context, d *db.DB) (*Held, error) {
	living, err := Living(ctx, d)
	if err != nil {
		return nil, err
	}
	for _, s := range living {
		if c.weigh(s, d.Now()) == dead {
			if err := d.CutOff(ctx, s.Link); err != nil {
				return nil, err
			}
		}
	}
	h := &Held{db: d, claim: c, lease: c.Lease, alone: c.Inside}
	if err := d.Write(ctx, func(tx *db.Tx) error { h.Before, h.Elder = nil, true; return c.take(tx, h) }); err != nil {
		return nil, err
	}
	for _, s := range h.Before {
		if err := d.CutOff(ctx, s.Link); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (c *Claim) take(tx *db.Tx, h *Held) error {
	living, err := lockLiving(tx)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	h.Server = Server{ID: id.New("srv"), Installation: c.Installation, Host: host, Place: c.place, Folder: c.Folder, PID: os.Getpid(),
		Link: h.db.Link(), Started: tx.Now(), Cluster: c.Cluster, Home: c.Home}
	if c.Lease > 0 {
		h.Until = tx.Now().Add(c.Lease)
	}
	for _, s := range living {
		if c.weigh(s, tx.Now()) != dead {
			if !c.together(s) {
				return c.refuse(s)
			}
			h.Elder = false
			continue
		}
		if err := end(tx, s, h.ID); err != nil {
			return err
		}
		h.Before = append(h.Before, s)
	}
	if err := tx.QueryRow("SELECT COALESCE(MAX(fence), 0) + 1 FROM server").Scan(&h.Fence); err != nil {
		return err
	}
	if n, err := tx.Changed("INSERT INTO server (id, fence, installation, host, place, folder, pid, link, started_at, lease_until, renewed, "+
		"ended_at, ended_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '') ON CONFLICT DO NOTHING",
		h.ID, h.Fence, h.Installation, h.Host, h.Place, h.Folder, h.PID, h.Link, h.Started, h.Until); err != nil || n == 0 {
		return again(err)
	}
	if c.Cluster != "" {
		if _, err := tx.Exec("INSERT INTO server_cluster (server, cluster, home) VALUES (?, ?, ?)", h.ID, c.Cluster, c.Home); err != nil {
			return err
		}
	}
	return forgetOld(tx, h.Fence-remembered)
}

// lockLiving are the servers that have not ended, and end by nobody else's word before the transaction does.
func lockLiving(tx *db.Tx) ([]Server, error) {
	if suffix := tx.ForUpdate(); suffix != "" { // of an outer join nothing can be locked
		if _, err := ids(tx.Query("SELECT id FROM server WHERE ended_at = 0 ORDER BY fence" + suffix)); err != nil {
			return nil, err
		}
	}
	rows, err := tx.Query(columns + "WHERE s.ended_at = 0 ORDER BY s.fence")
	return db.Collect(rows, err, scan)
}

func end(tx *db.Tx, s Server, by string) error {
	_, err := tx.Exec("UPDATE server SET ended_at = ?, ended_by = ? WHERE id = ? AND ended_at = 0", tx.Now(), by, s.ID)
	return err
}

// forgetOld drops the oldest servers that ended. One of a cluster stays until what it left is settled.
func forgetOld(tx *db.Tx, before int64) error {
	if _, err := tx.Exec("DELETE FROM server_cluster WHERE server IN (SELECT id FROM server WHERE ended_at > 0 AND "+
		"settled_at > 0 AND fence < ?)",
		before); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM server WHERE ended_at > 0 AND fence < ? AND id NOT IN (SELECT server FROM server_cluster)", before)
	return err
}

// remembered is how many ended servers stay, for people who look what happened.
const remembered = 20

// again has a claim made anew that met another one at the same moment.
func again(err error) error {
	if err == nil {
		return db.ErrAgain
	}
	return err
}
