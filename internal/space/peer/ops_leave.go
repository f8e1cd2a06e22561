package peer

import (
	"context"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// opLeave ends the caller's seat. A host that has nobody else in the space hands
// it over first.
func (r *Room) opLeave(ctx context.Context, _ Which) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	return r.leave(ctx, s)
}

// leave ends a seat. The caller holds s.mu.
func (r *Room) leave(ctx context.Context, s *seat) (Said, error) {
	summary, err := r.summary(ctx, s)
	if err != nil {
		return Said{}, err
	}
	gone := "Disconnected from workspace."
	last := false
	if s.state == active && s.host == "" && len(s.members()) > 1 {
		if last, err = r.alone(ctx, s); err != nil {
			return Said{}, err
		}
	}
	var heir seal.MemberID
	if last {
		// who is there now, and not when the log last grew
		if err := r.sync(ctx, s, 0); err != nil && !fault.Is(err, fault.Unavailable) {
			return Said{}, err
		}
		if heir = r.heirOf(s); heir == "" {
			gone += " This machine still hosts it for the others: keep tandem running, or let one of them take over: tandem space take-over"
		}
	}
	unsent, err := r.lastWords(ctx, s)
	if err != nil {
		return Said{}, err
	}
	gone += unsent
	if s.state == active {
		switch err := r.takeLeave(ctx, s, heir); {
		case fault.Is(err, fault.Unavailable):
			gone += " The host could not be told; the others see you as gone when your presence ends."
		case err != nil:
			return Said{}, err
		case heir != "":
			gone += " " + escape(s.name(heir)) + "'s machine hosts it from now on."
		}
	}
	r.freeAll(ctx, s)
	s.state, s.why = left, "you left"
	r.publish(s)
	if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) }); err != nil {
		return Said{}, err
	}
	s.ring()
	r.drop(s)
	return Said{Text: gone + "\n\n" + summary}, nil
}

// lastWords sends what a leaving member has waiting, and says what could not be
// sent: nobody sends it afterwards.
func (r *Room) lastWords(ctx context.Context, s *seat) (string, error) {
	if err := r.flush(ctx, s); err != nil {
		r.log.Warn("outbox not empty", "space", s.space, "err", err)
	}
	unsent, err := r.outbox(ctx, s, "state = 'queued' AND class = ?", space.ClassMessage)
	switch {
	case err != nil || len(unsent) == 0:
		return "", err
	case len(unsent) == 1:
		return " 1 of your messages was never sent: the host could not be reached.", nil
	}
	return fmt.Sprintf(" %d of your messages were never sent: the host could not be reached.", len(unsent)), nil
}

// takeLeave tells the host that this member goes, and who hosts next when there is an heir.
func (r *Room) takeLeave(ctx context.Context, s *seat, heir seal.MemberID) error {
	if heir != "" {
		return r.handOver(ctx, s, heir)
	}
	return r.goodbye(ctx, s, func(env *seal.Envelope) error {
		_, err := ask(ctx, s.link, space.SpacePost, space.PostIn{Envelope: env})
		return err
	})
}

// goodbye seals a leave and sends it, without following the log afterwards: a leaver may not read on.
func (r *Room) goodbye(ctx context.Context, s *seat, send func(*seal.Envelope) error) error {
	var err error
	for range 6 {
		env, serr := s.seal(thing{id: "env_leave_" + s.id, class: space.ClassLeave}, nil, nil, r.now().UnixMilli())
		if serr != nil {
			return serr
		}
		if err = send(&env); reason(err) != "epoch" && reason(err) != "sequence" {
			return err
		}
		s.said = 0
		if err := r.sync(ctx, s, 0); err != nil {
			return err
		}
	}
	return err
}
