package daemon

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/internal/server/wire"

	"tandem/internal/op"
	owners "tandem/internal/owner"
	"tandem/internal/server/health"
)

// claims is what this daemon says of itself to other servers. A database that is a file needs no lease: whoever else works with it is
// on this machine and can be seen.
func (d *Daemon) claims() *owners.Claim {
	c := &owners.Claim{Folder: d.data, Inside: d.dsn() == "", Gone: gone}
	if strings.HasPrefix(d.dsn(), "postgres") {
		c.Lease = owners.Lease
		if d.Lease > 0 {
			c.Lease = d.Lease
		}
		c.Cluster = d.cluster()
	}
	if d.kept != nil {
		c.Home = d.kept.Home
	}
	return c
}

// alone refuses to go on while another server works with the database, before anything in it is changed.
func (d *Daemon) alone(ctx context.Context) error {
	if err := d.mayCluster(); err != nil {
		return err
	}
	d.claim = d.claims()
	told := false
	return d.claim.Wait(ctx, d.db, func(s owners.Server) {
		if !told {
			d.phase("waiting whether the server on " + s.Host + " still lives")
			d.Log.Warn("another server worked with this database; its lease may still hold", "server", s.String())
			told = true
		}
	})
}

// take makes this daemon the server of the database. From here on it writes as that, or not at all.
func (d *Daemon) take(ctx context.Context) (err error) {
	d.claim.Installation = d.kept.ID
	if d.self, err = d.claim.Take(ctx, d.db); err != nil {
		return err
	}
	for _, s := range d.self.Before {
		d.Log.Warn("took over from a server that did not end by itself", "server", s.String())
	}
	d.self.Keep(ctx, d.lose, func(err error) { d.Log.Error("the lease was not renewed", "err", err) })
	return nil
}

// recoverLeft settles what servers left that ended. Of several servers the oldest does: this one, when no other lives.
func (d *Daemon) recoverLeft(ctx context.Context) error {
	if !d.self.Elder {
		return nil
	}
	unknown, err := d.gate.Recover(op.WithCaller(ctx, d.system()), d.self.Others)
	if unknown > 0 {
		d.Log.Warn("a crash hid outcomes", "count", unknown)
	}
	return err
}

// lose ends a daemon that another one took over from.
func (d *Daemon) lose(err error) {
	d.Log.Error("ending", "err", err)
	d.lost.Store(&err)
	d.stop()
}

// closeDB says that this server ended, if it can be said soon, and closes.
func (d *Daemon) closeDB() error {
	if d.self != nil {
		ended := make(chan error, 1)
		go func() { ended <- d.self.End(context.Background()) }()
		select {
		case err := <-ended:
			if err != nil {
				d.Log.Warn("the end was not kept; another machine may take over after the lease", "err", err)
			}
		case <-time.After(health.Patience):
			d.Log.Warn("the end was not kept: the database does not answer")
		}
	}
	return d.db.Close()
}

// nobodyElse refuses a command that changes a database on which a server lives, wherever that runs.
func (d *Daemon) nobodyElse(ctx context.Context) error {
	c := d.claims()
	c.Cluster = "" // also of its own cluster
	return c.Wait(ctx, d.db, func(owners.Server) {})
}

func (d *Daemon) serving(ctx context.Context) (wire.Serving, error) {
	s := wire.Serving{ID: d.self.ID, Host: d.self.Host, Since: d.self.Started, Fence: d.self.Fence, Lease: d.claim.Lease.Seconds(),
		Cluster: d.self.Cluster}
	if s.Cluster == "" {
		return s, nil
	}
	others, err := d.self.Fellows(ctx)
	for _, o := range others {
		s.Others = append(s.Others, wire.Fellow{Host: o.Host, Data: o.Folder, Since: o.Started, Gone: o.Ended})
	}
	return s, err
}

// halfGone tells of servers of the cluster that are gone and that nobody stopped.
func (d *Daemon) halfGone(ctx context.Context) (out []Finding, err error) {
	if d.self.Cluster == "" {
		return nil, nil
	}
	others, err := d.self.Fellows(ctx)
	for _, o := range others {
		if !o.Ended.IsZero() {
			out = append(out, Finding{"cluster", "bad", fmt.Sprintf("a server of the cluster %s ended without being stopped, at %s: %s",
				d.self.Cluster, o.Ended.Local().Format(time.DateTime), o),
				"start it there: tandem up; one that stays away is told of for a week"})
		}
	}
	return out, err
}

// tookOver tells of servers that this one took the database from.
func (d *Daemon) tookOver() (out []Finding) {
	for _, s := range d.self.Before {
		if s.Folder == d.data && s.Place == d.self.Place {
			continue // this one's own crash
		}
		out = append(out, Finding{"server", "note", fmt.Sprintf("this server took over from another one, which did not end by itself: %s", s),
			"if that one still runs, it ends by itself at its next change; see there: tandem status"})
	}
	return out
}
