package peer

import (
	"context"
	"time"

	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// heirOf is the member to whom a leaving host gives the space: the first who is
// there, on a machine that the others can reach; nobody is empty.
func (r *Room) heirOf(s *seat) seal.MemberID {
	self, _ := r.addr()
	for _, id := range s.members() {
		if h := s.profiles[id].Host; id != s.me.Card().ID && h != "" && h != self && s.here[id].Here {
			return id
		}
	}
	return ""
}

// handOver leaves the space and names the heir in the log, in one step. The heir takes over as soon as it reads it, and then
// this host steps down.
func (r *Room) handOver(ctx context.Context, s *seat, to seal.MemberID) error {
	return r.goodbye(ctx, s, func(env *seal.Envelope) error {
		in := space.HandOverIn{Space: s.space, To: to, Leave: env}
		in.Proof = space.Prove(s.me, string(space.SpaceHandOver), in, r.now())
		_, err := ask(ctx, s.link, space.SpaceHandOver, in)
		return err
	})
}

// inherit makes this daemon the host when the leaving one named this member.
func (r *Room) inherit(ctx context.Context, s *seat) {
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := r.inheritNow(ctx, s)
		if err == nil {
			return
		}
		r.log.Warn("space not inherited yet", "space", s.space, "err", err, "again_in", wait)
		if !sleep(ctx, wait) {
			return
		}
	}
}

// inheritNow is one try; nil when there is nothing left to do.
func (r *Room) inheritNow(ctx context.Context, s *seat) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := func() bool {
		here, _ := r.addr()
		return s.heir == s.me.Card().ID && s.state == active && s.host != "" && here != ""
	}
	if !mine() {
		return nil
	}
	if err := r.sync(ctx, s, 0); err != nil && !fault.Is(err, fault.Unavailable) { // what it still took in comes along
		return err
	}
	if !mine() {
		return nil
	}
	if err := r.host(ctx, s, s.term+1); err != nil {
		return err
	}
	r.log.Info("space inherited from a host that left", "space", s.space, "term", s.term)
	return nil
}
