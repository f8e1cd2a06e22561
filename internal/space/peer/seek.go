package peer

import (
	"context"
	"time"

	"tandem/internal/db"
	"tandem/internal/space"
)

// seek looks for the space at the other members' daemons: one of them may have
// taken over. It accepts a host of a higher term whose log continues what is
// known here, and nothing else: a member never follows two hosts.
func (r *Room) seek(ctx context.Context, s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.members() {
		p := s.profiles[id]
		if id == s.me.Card().ID || p.Host == "" || p.Host == s.host {
			continue
		}
		if self, _ := r.addr(); p.Host == self {
			continue
		}
		if r.moveTo(ctx, s, p.Host, p.Pin) {
			return
		}
	}
}

// moveTo follows the host at that address if it is the space's host now. The
// caller holds s.mu.
func (r *Room) moveTo(ctx context.Context, s *seat, host, pin string) bool {
	l := newOutside(host, pin)
	try, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	in := space.PullIn{Space: s.space, Since: s.seq, Proof: space.Prove(s.me, "space.pull", s.space, r.now())}
	var out space.PullOut
	s.mu.Unlock()
	err := l.call(try, "space.pull", in, &out)
	s.mu.Lock()
	if err != nil || out.State != "open" || out.Term <= s.term || in.Since != s.seq || len(out.Entries) == 0 {
		return false
	}
	if out.Entries[0].Follow(s.seq, s.hash, s.term) != nil {
		return false
	}
	old, oldPin := s.host, s.pin
	s.host, s.pin, s.link = host, pin, l
	if err := r.follow(ctx, s, out.Entries); err != nil {
		s.host, s.pin = old, oldPin
		s.link = r.linkTo(s)
		return false
	}
	if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) }); err != nil {
		r.log.Error("seat not saved", "seat", s.id, "err", err)
	}
	r.log.Info("space followed to a new host", "space", s.space, "host", host, "term", s.term)
	return true
}
