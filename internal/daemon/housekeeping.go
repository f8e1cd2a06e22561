package daemon

import (
	"context"
	"time"

	"tandem/internal/identity"
	"tandem/internal/op"
	resourcewire "tandem/internal/resource/wire"
	"tandem/internal/space"
)

// housekeeping removes what has expired, and ends an idle daemon that was
// started on demand. It writes nothing when nothing is due.
func (d *Daemon) housekeeping(ctx context.Context) {
	ctx = op.WithCaller(ctx, d.system())
	idle, err := time.ParseDuration(d.Settings.Get("idle_exit"))
	if err != nil {
		idle = 15 * time.Minute
	}
	tick := time.NewTicker(min(30*time.Second, max(idle/4, 50*time.Millisecond)))
	defer tick.Stop()
	d.tidyCopies()
	d.tidyMove(ctx)
	witnessed := d.lastUse.Load()
	rest := time.NewTicker(15 * time.Second)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.stopping:
			return
		case <-d.forgot:
			d.shrink(ctx)
			continue
		case <-rest.C:
			d.health.Rest()
			continue
		case <-d.health.Alarms():
			d.health.Watch(ctx)
			continue
		case <-tick.C:
		}
		d.health.TellRefused(d.gate.Strangers.All(), time.Now())
		d.tellRejected(ctx)
		d.health.Turn(ctx)
		if d.db.Clock().Sure { // what has ended by one of two clocks is not written down
			d.sweepAll(ctx)
		}
		if used := d.lastUse.Load(); used != witnessed {
			if err := d.health.Keep(ctx); err != nil {
				d.Log.Error("keep the time", "err", err)
			}
			witnessed = used
		}
		if err := d.gate.Sweep(ctx, identity.LocalTenant); err != nil {
			d.Log.Error("sweep the gate", "err", err)
		}
		if d.OnDemand && d.active.Load() == 0 && !d.rooms.loop.Busy() && !d.rooms.terminal.Busy() && !d.rooms.relay.Busy() &&
			!d.rooms.automation.Busy() && !d.rooms.job.Busy() && !d.rooms.team.Busy() && !d.rooms.schedule.Busy() && !d.rooms.source.Busy() &&
			time.Since(time.Unix(0, d.lastUse.Load())) > idle && !d.rooms.remotes.Busy() {
			d.Log.Info("idle")
			d.stop()
			return
		}
	}
}

// sweepAll writes down what time alone has changed.
func (d *Daemon) sweepAll(ctx context.Context) {
	tenants, err := d.identity.Tenants(ctx)
	if err != nil {
		d.Log.Error("list the tenants", "err", err)
	}
	for _, tenant := range tenants {
		within := op.WithCaller(ctx, d.systemOf(tenant))
		d.sweep(within, string(resourcewire.Sweep), d.rooms.resource.Due)
		d.sweep(within, "approval.expire", d.rooms.approval.Due)
		d.returnTasks(within)
	}
	d.sweep(ctx, string(space.SpaceSweep), d.rooms.space.Due)
}

// sweep runs an operation that writes down what time alone has changed.
func (d *Daemon) sweep(ctx context.Context, name string, due func(context.Context) (bool, error)) {
	yes, err := due(ctx)
	if err == nil && yes {
		_, err = d.gate.Invoke(ctx, name, nil)
	}
	if err != nil {
		d.Log.Error("sweep", "op", name, "err", err)
	}
}
