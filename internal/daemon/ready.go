package daemon

import (
	"context"
	"net"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/server/health"
)

// Ready says that the server can do its work.
type Ready struct {
	Ready bool `json:"ready"`
}

// readyOp is for load balancers: strangers are told yes or no, whoever is known is told why.
func (d *Daemon) readyOp(ctx context.Context, _ nothing) (Ready, error) {
	reasons := d.health.Look(ctx)
	if len(reasons) == 0 {
		return Ready{true}, nil
	}
	f := fault.New(fault.Unavailable, "server.ready", "the server is not ready")
	if op.CallerFrom(ctx).Known() || nearby(ctx) {
		f = fault.New(fault.Unavailable, "server.ready", "the server is not ready: %s", health.Texts(reasons)).WithNext("see: tandem doctor")
		for _, r := range reasons {
			f = f.With(client.Part+r.Part, r.Text)
			if r.Hangs {
				f = f.With(client.Hangs, r.Part)
			}
		}
	}
	return Ready{}, f
}

// nearby says whether a program of this user asks over a local socket, which the kernel knows without the database.
func nearby(ctx context.Context) bool {
	c, ok := connOf(ctx).(*net.UnixConn)
	return ok && sameUser(c) == nil
}
