package daemon

import (
	"context"

	"tandem/internal/op"
	sources "tandem/internal/source"
)

// makeSources gives the room of sources what it does not own.
func (d *Daemon) makeSources() {
	still := func(ctx context.Context, c op.Caller) error {
		c.Token = "" // a source outlives the sign-in by which it was bound, and not its person
		return d.identity.Still(ctx, c)
	}
	r := sources.New(d.db, still, d.Log)
	r.Vouch, r.Rooms, r.Home, r.Hidden, r.Forgot = d.journal.Vouch(), &d.inner, d.self.Home, []string{d.data}, d.forgotten
	r.Reads.Machine = d.rooms.session.Sandbox().Machine
	d.rooms.source = r
}
