package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tandem/internal/board"
	"tandem/internal/fault"
	"tandem/internal/space"
)

// takeOver makes this daemon the space's host because a person says that the
// old one is gone: only while it does not answer. The caller holds s.mu.
func (r *Room) takeOver(ctx context.Context, s *seat) error {
	if s.state != active && s.state != broken {
		return s.usable()
	}
	gone := s.away() // the loop has tried a moment ago
	if !gone {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		gone = r.sync(try, s, 0) != nil
		cancel()
	}
	if !gone {
		return fault.New(fault.Conflict, "space.take_over", "the space's host answers; there is nothing to take over").
			WithNext("ask its owner to stop it first: tandem down")
	}
	if s.state == removed {
		return s.usable()
	}
	if r.found(ctx, s) {
		return fault.New(fault.Conflict, "space.take_over", "somebody else has taken over already, and this machine follows: %s, term %d", s.host,
			s.term).WithNext("see it: tandem space list")
	}
	return r.host(ctx, s, s.term+1)
}

// host makes this daemon the space's host at a new term, from this seat's copy
// of the log. A daemon that hosts it already goes on with the new term. The
// caller holds s.mu.
func (r *Room) host(ctx context.Context, s *seat, term int64) error {
	old, here := s.host, inside{invoke: r.invoke, tenant: s.tenant, as: s.id}
	var err error
	for range 6 {
		if err = r.adopt(ctx, s, here, term); reason(err) != "sequence" {
			break
		}
		// The old host took a word of ours that this copy of the log does not show;
		// where it is gone, the copy is all there is.
		s.said = 0
		if err := r.sync(ctx, s, 0); err != nil && !fault.Is(err, fault.Unavailable) {
			return err
		}
	}
	if err != nil && !fault.Is(err, fault.Conflict) { // a conflict: an earlier try got that far, and is followed now
		return err
	}
	if s.state == broken {
		s.state, s.why = active, ""
		r.goOn(s)
	}
	// This seat may have read on at the old host meanwhile; then it goes back.
	if err := r.try(ctx, s, place{}, here); err != nil && !r.moveTo(ctx, s, "", "") {
		return err
	}
	if err := r.profile(ctx, s, s.profiles[s.me.Card().ID]); err != nil {
		return err
	}
	r.tell(s, old)
	return nil
}

func (r *Room) adopt(ctx context.Context, s *seat, here inside, term int64) error {
	entries, err := r.entries(ctx, s)
	if err != nil {
		return err
	}
	said := space.TakeOverClear{Term: term, Seq: s.seq, Hash: s.hash}
	clear, err := json.Marshal(said)
	if err != nil {
		return err
	}
	env, err := s.seal(thing{id: fmt.Sprintf("env_takeover_%d_%s", said.Term, s.id), class: space.ClassTakeOver}, clear, nil,
		r.now().UnixMilli())
	if err != nil {
		return err
	}
	_, err = ask(ctx, here, board.BoardAdopt, board.AdoptIn{Space: s.space, Entries: entries, Envelope: &env})
	return err
}

// tell lets a host of an earlier term know that it is over, as soon as it can be
// reached, so that no member meets it first. The caller holds s.mu.
func (r *Room) tell(s *seat, old string) {
	if old == "" {
		return
	}
	if len(s.terms) == 0 {
		return
	}
	host, _ := r.reach(s)
	in := s.stepDown(host)
	r.later(func(ctx context.Context) {
		l := newOutside(old, "")
		for wait := time.Second; ctx.Err() == nil; wait = min(wait*2, 10*time.Second) {
			_, err := ask(ctx, l, space.SpaceStepDown, in)
			if err == nil || !fault.Is(err, fault.Unavailable) {
				return
			}
			if !sleep(ctx, wait) {
				return
			}
		}
	})
}

// stepDown is the word that ends a hosting: the take-over of this seat's term,
// those before it, and where the host is now.
func (s *seat) stepDown(host string) space.StepDownIn {
	last := len(s.terms) - 1
	in := space.StepDownIn{Envelope: s.terms[last].Env, Host: host}
	for _, e := range s.terms[:last] {
		in.Earlier = append(in.Earlier, e.Env)
	}
	return in
}

// tellAgain is for a host that restarted: whoever hosted an earlier term may
// still not know that it ended.
func (r *Room) tellAgain(s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host != "" || s.term < 2 || s.creator != s.me.Card().ID {
		return
	}
	self, _ := r.addr()
	for _, p := range s.elsewhere(self) {
		r.tell(s, p.Host)
	}
}
