package peer

import (
	"context"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// commit offers a change of the group and, when the host takes it, moves there.
// The group after the change is stored before the host sees the commit: after a
// crash in between, the log says whether it counts. It returns the number of
// the entry. The caller holds s.mu.
func (r *Room) commit(ctx context.Context, s *seat, offer func(*seal.Group) (seal.Change, space.CommitClear, error)) (seal.Change, int64,
	error) {
	done, err := s.alone(ctx)
	if err != nil {
		return seal.Change{}, 0, err
	}
	defer done()
	var last error
	for range 6 {
		if err := s.usable(); err != nil {
			return seal.Change{}, 0, err
		}
		if s.sec.Pending != nil { // an earlier offer was never answered: the log says whether it counts
			if err := r.sync(ctx, s, 0); err != nil {
				return seal.Change{}, 0, err
			}
		}
		c, said, err := offer(s.group)
		if err != nil {
			return c, 0, err
		}
		said.Commit = c.Commit
		t := thing{id: id.New("env"), class: space.ClassCommit, clear: said}
		s.sec.Pending, s.sec.Commit, s.dirty = c.Next.Bytes(), t.id, true
		if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) }); err != nil {
			return c, 0, err
		}
		epoch := s.group.Epoch()
		err = r.once(ctx, s, t)
		if err == nil && s.group.Epoch() > epoch {
			return c, s.posted.at[t.id], nil
		}
		if err == nil { // stored by a host that went away or lost the space before it could be read
			err = fault.New(fault.Unavailable, "space", "whether the change of members counts is not known yet").
				WithNext("wait a moment, look who is there with intandem_peers, and try again if it is not done")
		}
		if reason(err) != "epoch" && reason(err) != "sequence" && reason(err) != "seen" {
			return c, 0, err
		}
		last = err
		if err := r.sync(ctx, s, 0); err != nil {
			return c, 0, err
		}
	}
	return seal.Change{}, 0, fmt.Errorf("the group kept changing: %w", last)
}

// alone waits until no other commit of this seat is under way. Following the
// log gives s.mu away for a while, and there is one place for the group that
// waits for the host's answer: a second offer would take it from the first, and
// the seat could no longer follow its own commit.
func (s *seat) alone(ctx context.Context) (done func(), err error) {
	for s.committing {
		bell := s.changed
		s.mu.Unlock()
		select {
		case <-bell:
		case <-ctx.Done():
			err = fault.New(fault.Unavailable, "space", "broken off while another change of members was under way")
		}
		s.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	s.committing = true
	return func() {
		s.committing = false
		s.ring()
	}, nil
}

// once sends without sealing again: a commit is made for one epoch and is void
// in the next.
func (r *Room) once(ctx context.Context, s *seat, t thing) error {
	clear, err := asJSON(t.clear)
	if err != nil {
		return err
	}
	env, err := s.seal(t, clear, nil, r.now().UnixMilli())
	if err != nil {
		return err
	}
	a, err := ask(ctx, s.link, space.SpacePost, space.PostIn{Envelope: &env})
	if err != nil {
		s.said = 0
		return err
	}
	s.said = env.Seq
	return r.shown(ctx, s, &env, a)
}

// removeLeft commits the removal of those who left. Every member that is there
// tries after a while of its own, the first one wins, the rest find it done.
func (r *Room) removeLeft(ctx context.Context, s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for try := range 20 {
		due := s.due()
		if len(due) == 0 || s.state != active {
			return
		}
		rank := s.rank()
		s.mu.Unlock()
		slept := sleep(ctx, time.Duration(rank)*time.Second+time.Duration(try)*500*time.Millisecond)
		s.mu.Lock()
		if !slept {
			return
		}
		if due = s.due(); len(due) == 0 || s.state != active {
			return
		}
		_, _, err := r.commit(ctx, s, func(g *seal.Group) (seal.Change, space.CommitClear, error) {
			c, err := g.Remove(due[0])
			return c, space.CommitClear{Remove: due[:1]}, err
		})
		if err != nil {
			r.log.Warn("removal not committed yet", "space", s.space, "member", due[0], "err", err)
		}
	}
}

// due lists members who left and are still in the group, and those whose removal did not hold.
func (s *seat) due() []seal.MemberID {
	going := len(s.sec.Void) > 0
	for _, how := range s.gone {
		going = going || how == left
	}
	if !going {
		return nil // the usual case, and reading the group costs
	}
	roster, err := s.group.Roster()
	if err != nil {
		return nil
	}
	var out []seal.MemberID
	for _, c := range roster {
		if s.gone[c.ID] != "" {
			out = append(out, c.ID)
		}
	}
	return out
}

// rank is this member's place among those who are there.
func (s *seat) rank() int {
	n := 0
	for _, id := range s.members() {
		if id == s.me.Card().ID {
			break
		}
		if s.here[id].Here {
			n++
		}
	}
	return n
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// removeMember puts a member out. Only the creator may; the host checks.
func (r *Room) removeMember(ctx context.Context, s *seat, who seal.MemberID) error {
	if who == s.me.Card().ID {
		return fault.New(fault.Invalid, "space.remove", "you cannot remove yourself").WithNext("call intandem_leave")
	}
	_, _, err := r.commit(ctx, s, func(g *seal.Group) (seal.Change, space.CommitClear, error) {
		in, err := g.Has(who)
		if err != nil {
			return seal.Change{}, space.CommitClear{}, err
		}
		out := g.Refresh // whom a commit added that did not hold is a member for the host alone
		if in {
			out = func() (seal.Change, error) { return g.Remove(who) }
		}
		c, err := out()
		return c, space.CommitClear{Remove: []seal.MemberID{who}}, err
	})
	return err
}
