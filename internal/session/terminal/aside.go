package terminal

import (
	"context"

	"tandem/internal/session/aside"
	"tandem/internal/tool/box"
)

// work is what a session's program does in its folder, for as long as it runs.
func (r *row) work(turn string) aside.Work {
	return aside.Work{Tenant: r.Tenant, Session: r.Session, Turn: turn, ID: r.Session}
}

// watch notes what version control would run in the working folder before the program starts. What one that ran before left there is found
// first.
func (s *seat) watch(ctx context.Context, b *box.Box) error {
	if s.stage != nil {
		return nil // a probe works in a folder of tandem's own
	}
	if _, err := s.d.room.Aside.Settle(ctx, s.row.work(""), true); err != nil {
		return err
	}
	return s.d.room.Aside.Look(ctx, s.row.work(""), []string{s.row.Folder}, b)
}

// settle takes out of the working folder what appeared there and would run outside of the box later, before anybody is told that the turn
// ended. over says that the program is gone.
func (d *Driver) settle(ctx context.Context, r *row, turn string, over bool) {
	if r.Probe {
		return
	}
	if _, err := d.room.Aside.Settle(ctx, r.work(turn), over); err != nil {
		d.log.Error("look for what version control would run later", "session", r.Session, "folder", r.Folder, "err", err)
	}
}
