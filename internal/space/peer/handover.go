package peer

import (
	"context"

	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// sitting counts the seats of this machine in each space.
func (r *Room) sitting() map[string]int {
	n := map[string]int{}
	for _, s := range r.all() {
		s.mu.Lock()
		if s.state == active {
			n[s.tenant+"/"+s.space]++
		}
		s.mu.Unlock()
	}
	return n
}

// heirOf is the member to whom a leaving host gives the space: the first who is
// there, on a machine that the others can reach.
func (r *Room) heirOf(s *seat) (seal.MemberID, bool) {
	self, _ := r.addr()
	for _, id := range s.members() {
		if h := s.profiles[id].Host; id != s.me.Card().ID && h != "" && h != self && s.here[id].Here {
			return id, true
		}
	}
	return "", false
}

// handOver names the heir in the log, as the host's own word. The heir takes
// over as soon as it reads it, and then this host steps down.
func (r *Room) handOver(ctx context.Context, s *seat, to seal.MemberID) error {
	in := space.HandOverIn{Space: s.space, To: to, Proof: space.Prove(s.me, "space.hand_over", s.space, r.now())}
	return s.link.call(ctx, "space.hand_over", in, nil)
}

// inherit makes this daemon the host when the leaving one named this member.
func (r *Room) inherit(ctx context.Context, s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if here, _ := r.addr(); s.heir != s.me.Card().ID || s.state != active || s.host == "" || here == "" {
		return
	}
	if err := r.sync(ctx, s, 0); err != nil { // what it still took in comes along
		r.log.Warn("the leaving host is gone already", "space", s.space, "err", err)
	}
	if s.heir != s.me.Card().ID || s.state != active {
		return
	}
	if err := r.host(ctx, s); err != nil {
		r.log.Error("space not inherited", "space", s.space, "err", err)
		return
	}
	r.log.Info("space inherited from a host that left", "space", s.space, "term", s.term)
}
