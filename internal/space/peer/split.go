package peer

import (
	"cmp"
	"context"
	"time"

	"tandem/internal/space"
)

// When two people take over in two halves of a cut network, there are two hosts
// of one term, each with members who refuse the other. Once the halves reach
// each other again, both hosts compare the take-overs that parted them and come
// to the same answer: one of them begins a higher term, the other steps down and
// follows it with its members. What was acknowledged on that side is said again
// by those who said it; what no longer fits is refused, and shown to them.

// lookEvery is how often a host that took over looks for another one, while
// somebody of the space is away.
const lookEvery = 5 * time.Second

// apart reports whether there may be another host of this space: this daemon
// hosts it because this member took it over, and somebody is not here. The
// caller holds s.mu.
func (s *seat) apart() bool {
	if s.host != "" || s.term < 2 || s.state != active || s.creator != s.me.Card().ID {
		return false
	}
	for _, id := range s.members() {
		if !s.here[id].Here {
			return true
		}
	}
	return false
}

// rivals looks for another host of this space at the machines of its members.
func (r *Room) rivals(ctx context.Context, s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	self, _ := r.addr()
	for _, p := range s.elsewhere(self) {
		if !s.apart() {
			return
		}
		if err := r.meet(ctx, s, place{p.Host, p.Pin}); err != nil {
			r.log.Warn("another host of a space was met", "space", s.space, "host", p.Host, "err", err)
		}
	}
}

// meet compares this host with one that may be at that place. The caller holds
// s.mu.
func (r *Room) meet(ctx context.Context, s *seat, at place) error {
	try, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	in := space.PullIn{Space: s.space, Terms: true, Limit: 1}
	in.Proof = space.Prove(s.me, string(space.SpacePull), in, r.now())
	s.mu.Unlock()
	out, err := ask(try, newOutside(at.host, at.pin), space.SpacePull, in)
	s.mu.Lock()
	if err != nil || out.State != "open" || !s.apart() {
		return nil // nobody hosts it there
	}
	if out.Term > s.term {
		r.moveTo(ctx, s, at.host, at.pin)
		return nil
	}
	mine, theirs := parted(s.terms, out.Terms)
	if out.Term == s.term && !outranks(mine, theirs) {
		return nil // the other one begins the next term, and is followed then
	}
	if out.Term == s.term {
		if err := r.host(ctx, s, s.term+1); err != nil {
			return err
		}
		r.log.Info("two hosts of one term met; this one goes on", "space", s.space, "term", s.term)
	}
	r.tell(s, at.host)
	return nil
}

// outranks decides between two take-overs of which only one can stay: the one
// that continues more of what the old host had acknowledged, and between equals
// the one with the smaller hash. Both hosts decide alike.
func outranks(mine, theirs *space.Entry) bool {
	if mine == nil || theirs == nil {
		return mine != nil
	}
	return cmp.Or(cmp.Compare(mine.Seq, theirs.Seq), cmp.Compare(theirs.Hash, mine.Hash)) > 0
}
