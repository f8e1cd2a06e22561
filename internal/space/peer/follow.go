package peer

import (
	"context"
	"errors"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
)

// seek looks for the space at the other members' daemons: one of them may have
// taken over. It accepts a host of a higher term whose log continues what is
// known here, and nothing else: a member never follows two hosts.
func (r *Room) seek(ctx context.Context, s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.found(ctx, s)
}

// found is seek for a caller that holds s.mu.
func (r *Room) found(ctx context.Context, s *seat) bool {
	if s.host != "" && r.moveTo(ctx, s, "", "") { // another seat of this machine may have taken over
		return true
	}
	self, _ := r.addr()
	if s.moved != "" && s.moved != self && s.moved != s.host && r.moveTo(ctx, s, s.moved, s.pinOf(s.moved)) {
		return true
	}
	for _, p := range s.elsewhere(self) {
		if p.Host != s.host && r.moveTo(ctx, s, p.Host, p.Pin) {
			return true
		}
	}
	return false
}

// elsewhere are the other members' machines that can be reached, each once.
func (s *seat) elsewhere(self string) []Profile {
	var out []Profile
	for _, id := range s.members() {
		p := s.profiles[id]
		if id == s.me.Card().ID || p.Host == "" || p.Host == self || slices.ContainsFunc(out, func(o Profile) bool { return o.Host == p.Host }) {
			continue
		}
		out = append(out, p)
	}
	return out
}

// pinOf is the key of a daemon that a member told us about.
func (s *seat) pinOf(host string) string {
	for _, p := range s.profiles {
		if p.Host == host {
			return p.Pin
		}
	}
	return ""
}

// moveTo follows the host at that address, or this very daemon when it is
// empty, if that is the space's host now. The caller holds s.mu.
func (r *Room) moveTo(ctx context.Context, s *seat, host, pin string) bool {
	if r.current(ctx, s) != nil {
		return false
	}
	var l link = inside{invoke: r.invoke, tenant: s.tenant, as: s.id}
	if host != "" {
		l = newOutside(host, pin)
	}
	try, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	in := space.PullIn{Space: s.space, Since: s.seq, Term: s.term, Limit: 1}
	in.Proof = space.Prove(s.me, string(space.SpacePull), in, r.now())
	s.mu.Unlock()
	out, err := ask(try, l, space.SpacePull, in)
	s.mu.Lock()
	if err != nil || out.State != "open" || out.Term <= s.term || in.Since != s.seq || out.Taken == nil {
		return false
	}
	if len(out.Terms) == 0 {
		out.Terms = []*space.Entry{out.Taken} // a host of the first release tells the newest alone
	}
	old, oldLink := s.host, s.link
	if err := r.fork(ctx, s, l, place{host, pin}, out.Terms); err != nil {
		r.log.Warn("a host was not accepted", "space", s.space, "host", host, "err", err)
		if errors.Is(err, errApart) {
			r.stop(ctx, s, removed, err.Error())
		}
		return false
	}
	if s.term >= out.Term {
		s.link = l
	} else if err := r.try(ctx, s, place{host, pin}, l); err != nil || s.term < out.Term {
		return false
	}
	if old == "" { // this daemon hosted it: its own room learns it here
		if _, err := ask(ctx, oldLink, space.SpaceStepDown, s.stepDown(host)); err != nil && !fault.Is(err, fault.NotFound) &&
			!fault.Is(err, fault.Conflict) {
			r.log.Warn("not stepped down", "space", s.space, "err", err)
		}
	}
	r.log.Info("space followed to a new host", "space", s.space, "host", host, "term", s.term)
	r.tell(s, old)
	s.ring()
	return true
}

// sameHost goes on with the host of this very term at another address, because
// somebody says that it is there now: a tunnel's name changes. It must have the
// history that is known here, up to the last entry. The caller holds s.mu.
func (r *Room) sameHost(ctx context.Context, s *seat, at place) bool {
	l := newOutside(at.host, at.pin)
	try, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	in := space.PullIn{Space: s.space, Since: s.seq - 1, Limit: 1}
	in.Proof = space.Prove(s.me, string(space.SpacePull), in, r.now())
	s.mu.Unlock()
	out, err := ask(try, l, space.SpacePull, in)
	s.mu.Lock()
	if err != nil || s.host == "" || out.State != "open" || out.Term != s.term || in.Since != s.seq-1 || len(out.Entries) != 1 ||
		out.Entries[0].Hash != s.hash {
		return false
	}
	if at.pin == "" {
		at.pin = l.shown()
	}
	s.host, s.pin, s.dirty = at.host, at.pin, true
	if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.saveSeat(tx, s) }); err != nil {
		r.log.Error("seat not saved", "seat", s.id, "err", err)
		return false
	}
	s.link = r.linkTo(s)
	if s.drop != nil {
		s.drop()
	}
	return true
}

// try follows another host, and stays with it when its log brought a new term.
// The caller holds s.mu.
func (r *Room) try(ctx context.Context, s *seat, to place, l link) error {
	term, back := s.term, s.link
	s.next, s.link = &to, l
	err := r.sync(ctx, s, 0)
	s.next = nil
	if s.term == term {
		s.link = back
		if err == nil {
			err = fault.New(fault.Unavailable, "space", "%s shows no new term of this space", orElse(to.host, "this machine"))
		}
		return err
	}
	return nil
}
