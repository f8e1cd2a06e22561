package daemon

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/op"
	owners "tandem/internal/owner"
	"tandem/internal/secret"
)

// noCluster is what people write to leave a cluster.
const noCluster = "none"

var clusterName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// cluster is the name that this server says to serve its database together with others; "" to serve it alone.
func (d *Daemon) cluster() string {
	if name := d.Settings.Get("cluster"); name != noCluster {
		return name
	}
	return ""
}

// mayCluster refuses a cluster on a database that is a file of one machine.
func (d *Daemon) mayCluster() error {
	name := d.cluster()
	switch {
	case name == "":
		return nil
	case !clusterName.MatchString(name):
		return fault.New(fault.Invalid, "server", "%q is no name of a cluster: small letters, digits, dots and dashes, at most 63", name).
			WithNext("tandem up --cluster NAME")
	case !strings.HasPrefix(d.dsn(), "postgres"):
		return fault.New(fault.Invalid, "server", "a cluster's servers share a PostgreSQL, and this server's data is in a file").
			WithNext("move it there first: tandem server move postgres://…; or start without --cluster")
	}
	return nil
}

// joinCluster begins to live with other servers: their entries are taken in, they are looked after, and what they write wakes whoever
// waits here.
func (d *Daemon) joinCluster(ctx context.Context) {
	if d.self.Cluster == "" {
		return
	}
	d.journal.Share()
	d.rooms.space.Sequence = d.journal.Latest
	d.rooms.secret.Alone = func(ctx context.Context) error { return d.together(ctx, "a key cannot be replaced") }
	d.rooms.schedule.Ours, d.rooms.automation.Ours, d.rooms.automation.Shared = d.self.Oldest, d.self.Oldest, true
	d.gate.Elsewhere = d.findHome(slices.Concat(d.rooms.terminal.Ops(), d.rooms.relay.Ops()))
	d.self.Watch(ctx, d.recoverDead, func(err error) { d.Log.Error("look after the other servers", "err", err) })
}

// recoverDead settles what other servers of the cluster left, and goes on with what is theirs no longer. What lives on their machines
// waits for them.
func (d *Daemon) recoverDead(ctx context.Context, left []owners.Server) error {
	for _, s := range left {
		if s.By != "" {
			d.Log.Warn("a server of the cluster ended without being stopped", "server", s.String())
		}
		d.Log.Info("settling what a server left that ended", "server", s.String())
	}
	unknown, err := d.gate.Recover(op.WithCaller(ctx, d.system()), d.self.Others)
	if unknown > 0 {
		d.Log.Warn("a server that ended hid outcomes", "count", unknown)
	}
	if err != nil {
		return err
	}
	living, err := owners.Living(ctx, d.db)
	if err != nil {
		return err
	}
	for _, s := range left {
		if slices.ContainsFunc(living, func(l owners.Server) bool { return l.Home == s.Home }) {
			continue // it has begun anew, and tells its own
		}
		if err := d.rooms.notify.TakeOver(ctx, s.Home); err != nil {
			return err
		}
	}
	return d.rooms.loop.TakeOver(ctx)
}

// stir wakes whoever waits for what another server may have written.
func (d *Daemon) stir(ctx context.Context) {
	if d.self.Cluster == "" {
		return
	}
	var learned secret.Stand
	for head, now := d.journal.Latest(), int64(0); ctx.Err() == nil; head = now {
		now = head
		if err := d.journal.Wait(ctx, head); err != nil {
			if ctx.Err() == nil {
				d.Log.Error("hear of other servers", "err", err)
			}
			select { // a database that is gone is not asked again at once
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			continue
		}
		now = d.journal.Latest() // what comes during the work is looked at in the next round
		if err := errors.Join(d.journal.CatchUp(ctx), d.learnSecrets(ctx, &learned)); err != nil && ctx.Err() == nil {
			d.Log.Error("take in what other servers wrote", "err", err)
		}
		d.rooms.approval.Stir()
		d.rooms.space.Stir()
		d.rooms.session.Stir()
		d.rooms.loop.Stir()
		d.rooms.schedule.Stir()
	}
}

// learnSecrets has secrets that were stored since kept out of what this server records, whoever stored them and by which operation.
func (d *Daemon) learnSecrets(ctx context.Context, learned *secret.Stand) error {
	now, err := d.rooms.secret.Stand(ctx)
	if err != nil || now == *learned {
		return err
	}
	if err := d.rooms.secret.Learn(ctx); err != nil {
		return err
	}
	*learned = now
	return nil
}

// together refuses what changes keys or tables that other living servers work with.
func (d *Daemon) together(ctx context.Context, what string) error {
	if d.self == nil || d.self.Cluster == "" {
		return nil
	}
	living, err := owners.Living(ctx, d.db)
	if err != nil {
		return err
	}
	for _, s := range living {
		if s.ID != d.self.ID {
			return fault.New(fault.Conflict, "server", "%s while another server of the cluster works with the same: %s", what, s).
				WithNext("stop it there (tandem down), do this again, and give it the keys anew before it starts: tandem server key copy PATH")
		}
	}
	return nil
}

// shareable refuses a start that would replace all rows or a key under other servers of the cluster.
func (d *Daemon) shareable(ctx context.Context) error {
	_, err := os.Lstat(d.pending())
	if err != nil && len(d.Without) == 0 {
		return nil
	}
	return d.unshared(ctx)
}

// unshared waits until no other server lives that a change of all tables or keys would pull the floor from, or is refused.
func (d *Daemon) unshared(ctx context.Context) error {
	if d.cluster() == "" {
		return nil
	}
	return d.nobodyElse(ctx)
}

// findHome looks, before a call, whether what it is about lives on another machine. There are operations that need the machine whatever
// they do; of sessions and jobs only what changes them does, and a diff, which is read from files.
func (d *Daemon) findHome(local []op.Op) func(context.Context, *op.Op, op.Resource) error {
	names := map[string]bool{}
	for _, o := range local {
		names[o.Name] = true
	}
	return func(ctx context.Context, o *op.Op, r op.Resource) error {
		id, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
		tenant := op.CallerFrom(ctx).Tenant
		var home string
		var found bool
		var err error
		switch {
		case r.Kind == "tunnel":
			found = true // the first server's
		case id == "":
		case r.Kind == "relay":
			home, found, err = d.rooms.relay.LivesAt(ctx, tenant, id)
		case r.Kind == "job" && strings.HasPrefix(id, "team_"):
			if o.Changes() {
				home, found, err = d.rooms.team.LivesAt(ctx, tenant, id)
			}
		case r.Kind == "job" && (o.Name == string(job.Diff) || o.Changes()):
			home, found, err = d.rooms.job.LivesAt(ctx, tenant, id)
		case r.Kind == "session" && (names[o.Name] || o.Changes()):
			home, found, err = d.rooms.terminal.LivesAt(ctx, tenant, id)
		}
		if err != nil || !found || home == d.self.Home {
			return err
		}
		return d.elsewhere(ctx, o.Name, r.Kind+" "+id, home)
	}
}

// elsewhere names the server where a thing of another machine lives.
func (d *Daemon) elsewhere(ctx context.Context, where, what, home string) error {
	s, known, err := owners.At(ctx, d.db, home)
	if err != nil {
		return err
	}
	at := "on another server of the cluster, which does not run"
	if known {
		at = "on the server at " + s.String()
	}
	return fault.New(fault.Unavailable, where, "%s lives %s", what, at).With("reason", "elsewhere").WithNext("call that server")
}
