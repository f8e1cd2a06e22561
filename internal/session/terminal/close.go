package terminal

import (
	"context"
	"os"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
)

func (d *Driver) interruptOp(ctx context.Context, in NameIn) (SendOut, error) {
	r, err := d.drivable(ctx, in.Name)
	if err != nil {
		return SendOut{}, err
	}
	t, err := d.room.Next(ctx, r.Tenant, r.Session)
	if err != nil {
		return SendOut{}, err
	}
	if d.present(ctx, r.Session) == nil {
		return SendOut{}, fault.New(fault.Conflict, "session.interrupt", "%s is not live", in.Name)
	}
	s, err := d.room.AsItIs(ctx, r.Tenant, r.Session)
	if err != nil {
		return SendOut{}, err
	}
	if t == nil {
		return d.report(ctx, r.Session, in.Name, nil, s.Events, "")
	}
	// Only what runs: prompts that wait are not this caller's to drop. They are stopped one by one, or all with session.cancel.
	if _, err := op.Do(ctx, d.gate, session.SessionCancel, session.TurnIn{ID: r.Session, Turn: t.ID}); err != nil {
		return SendOut{}, err
	}
	if t, err = d.await(ctx, r.Tenant, r.Session, t.ID, 15*time.Second); err != nil {
		return SendOut{}, err
	}
	return d.report(ctx, r.Session, in.Name, t, s.Events, "")
}

func (d *Driver) closeOp(ctx context.Context, in NameIn) (Seat, error) {
	r, err := d.drivable(ctx, in.Name)
	if err != nil {
		return Seat{}, err
	}
	if !r.ClosedAt.IsZero() {
		return r.Seat, nil
	}
	if err := d.driven(ctx, r); err != nil {
		return Seat{}, err
	}
	return d.Shut(ctx, r.Session)
}

// Shut ends a session's program and its terminal. What it said and did stays. Of a row that somebody wrote past tandem no more is done: the
// folders that it names may be another's.
func (d *Driver) Shut(ctx context.Context, id string) (Seat, error) {
	rows, err := d.rows(ctx, "session = ?", id)
	if err != nil || len(rows) == 0 {
		return Seat{}, fault.New(fault.NotFound, "session.close", "there is no session %.64s", id)
	}
	r := rows[0]
	s, changed := d.present(ctx, id), false
	if s != nil {
		s.stop()
		s.dropWaits("the session was closed")
		<-s.done
		d.mu.Lock()
		delete(d.seats, id)
		d.mu.Unlock()
		s.mu.Lock()
		was := s.row // as it counted when it began
		s.mu.Unlock()
		r = &was
	} else {
		s, err = d.seat(r), d.weigh(ctx, r)
		if changed = fault.Is(err, fault.Denied); err != nil && !changed {
			return Seat{}, err
		}
	}
	if err := d.end(ctx, s.row.Name); err != nil {
		return Seat{}, err
	}
	if !changed {
		d.settle(ctx, r, "", true)
	}
	for {
		t, err := d.room.Next(ctx, r.Tenant, id)
		if err != nil {
			return Seat{}, err
		}
		if t == nil {
			break
		}
		if _, err := d.room.End(ctx, t, session.Cancelled, "the session was closed"); err != nil && !fault.Is(err, fault.Conflict) {
			return Seat{}, err
		}
	}
	d.CloseSocket(id)
	if !changed {
		s.carryOut()
	}
	s.update(func(r *row) bool {
		r.State, r.Signal, r.Detail, r.ClosedAt = Closed, "request", "", d.db.Now()
		return true
	})
	if changed { // it names no folders
		return s.view(), nil
	}
	for _, left := range []string{s.folder(), s.secluded(), s.ownHome()} {
		if err := os.RemoveAll(left); err != nil {
			d.log.Warn("remove a session's folder", "session", id, "err", err)
		}
	}
	return s.view(), nil
}

// end closes a terminal, and makes sure that its program is gone.
func (d *Driver) end(ctx context.Context, name string) error {
	p, err := d.tmux.Pane(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := d.tmux.Kill(ctx, name); err != nil {
		return err
	}
	return reap(p.PID)
}
