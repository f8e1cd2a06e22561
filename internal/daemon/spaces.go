package daemon

import (
	"context"
	"path/filepath"
	"strconv"

	"tandem/internal/board"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/host"
	"tandem/internal/space"
	"tandem/internal/space/peer"
)

// makeSpaces builds the host's and the members' side of spaces.
func (d *Daemon) makeSpaces(ctx context.Context) ([]op.Op, error) {
	if err := d.turnSpaceKey(ctx); err != nil {
		return nil, err
	}
	key, err := peer.Key(filepath.Join(d.data, spaceKey))
	if err != nil {
		return nil, err
	}
	d.rooms.space = space.New(d.db, vouched{&d.inner})
	d.rooms.board = board.New(d.db, d.rooms.space)
	wakes, err := strconv.Atoi(d.Settings.Get("wakes_per_hour"))
	if err != nil || wakes < 1 {
		return nil, fault.New(fault.Invalid, "daemon", "wakes_per_hour is %q and must be a number from 1", d.Settings.Get("wakes_per_hour")).
			WithNext("see it: tandem settings")
	}
	d.rooms.peer = peer.New(ctx, peer.Config{DB: d.db, Invoke: &d.inner, Key: key, Log: d.Log, Addr: d.reachable, Wakes: wakes,
		Server: d.rooms.remotes.Server, Open: d.identity.Open,
		Ground: peer.Ground{Lease: d.rooms.remotes.Lease, Release: d.rooms.remotes.Release}, Home: d.self.Home, Away: d.elsewhere,
		Jobs: peer.Jobs{
			Cards: func(ctx context.Context, space string) map[string]peer.TaskJob { return d.rooms.job.Cards(ctx, space) },
			Keeps: func(ctx context.Context, tenant, space, task string) bool {
				return d.rooms.job.Keeps(ctx, tenant, space, task)
			}}})
	return append(append(d.rooms.space.Ops(), d.rooms.board.Ops()...), d.rooms.peer.Ops()...), nil
}

// reachable is where other machines find this daemon, and its key: by the name
// of its tunnel, which somebody opened for that, or by its address; empty when
// it listens on this machine alone.
func (d *Daemon) reachable() (host, pin string) {
	if name := d.rooms.tunnel.Host(); name != "" {
		return name, peer.PublicPin
	}
	if a := d.address(); a != "" {
		return a, d.fingerprint()
	}
	return "", ""
}

// returnTasks gives back the tasks whose leases have run out.
func (d *Daemon) returnTasks(ctx context.Context) {
	due, err := d.rooms.board.Due(ctx)
	if err == nil && due {
		_, err = op.Do(ctx, d.gate, board.BoardExpire, struct{}{})
	}
	if err != nil {
		d.Log.Error("return tasks", "err", err)
	}
}

// leased is one of the gate's cautions: a file that a member of a space has leased is
// changed by somebody else only when a person says so.
func (d *Daemon) leased(ctx context.Context, c op.Caller, o *op.Op, in any) (string, error) {
	if changed, ok := in.(peer.ChangedIn); ok && o.Name == string(peer.SpaceChanged) {
		return peer.Caution(changed.Asked(d.rooms.peer.Held(c, changed.Files()))), nil
	}
	if cross, ok := in.(host.CrossIn); ok && o.Name == string(host.RepoCross) {
		return cross.Caution(ctx), nil
	}
	if t := o.Touch(ctx, in); t != nil && (t.Tool == "edit" || t.Tool == "write") {
		return peer.Caution(d.rooms.peer.Held(c, t.Paths)), nil
	}
	return "", nil
}
