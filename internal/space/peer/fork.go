package peer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tandem/internal/db"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// fork leaves the history of an old host for that of a new one. They part where
// one of them has a take-over that the other lacks. What this member itself said
// beyond that point is queued again: it was acknowledged and must not be lost.
// theirs are the new host's take-overs. A seat that only lags behind is left as
// it is. The caller holds s.mu.
func (r *Room) fork(ctx context.Context, s *seat, l link, at place, theirs []*space.Entry) error {
	mine, next := parted(s.terms, theirs)
	if next == nil {
		return fmt.Errorf("it shows no take-over that is not known here")
	}
	if err := s.began(next); err != nil {
		return err
	}
	head, to := s.seq, min(s.seq, next.Seq-1)
	if mine != nil {
		to = min(to, mine.Seq-1)
	}
	if to == head {
		return nil
	}
	entries, err := r.entries(ctx, s)
	if err != nil {
		return err
	}
	if to < s.joined {
		return r.part(ctx, s, entries[to:])
	}
	last := entries[to-1]
	// All of it is fetched first: nobody sees a seat between two histories.
	s.mu.Unlock()
	ahead, err := r.ahead(ctx, s, l, to)
	s.mu.Lock()
	if err != nil {
		return err
	}
	if s.seq != head || s.hash != entries[head-1].Hash {
		return fmt.Errorf("this seat went on meanwhile")
	}
	if err := ahead[0].Follow(to, last.Hash, last.Term); err != nil {
		return err
	}
	if err := r.rewind(ctx, s, last, entries[to:], ahead); err != nil {
		return err
	}
	ahead = ahead[min(s.seq-to, int64(len(ahead))):] // another seat filed some of it, up to the new term
	s.next = &at
	err = r.follow(ctx, s, ahead)
	s.next = nil
	return err
}

// ahead is what a host has behind an entry.
func (r *Room) ahead(ctx context.Context, s *seat, l link, to int64) ([]*space.Entry, error) {
	var all []*space.Entry
	for {
		in := space.PullIn{Space: s.space, Since: to + int64(len(all))}
		in.Proof = space.Prove(s.me, string(space.SpacePull), in, r.now())
		out, err := ask(ctx, l, space.SpacePull, in)
		if err != nil {
			return nil, err
		}
		all = append(all, out.Entries...)
		switch {
		case len(all) == 0:
			return nil, fmt.Errorf("the new host shows nothing behind entry %d", to)
		case len(out.Entries) == 0 || all[len(all)-1].Seq >= out.Seq:
			return all, nil
		}
	}
}

// parted are the first take-overs of two histories that the other does not
// have; nil when it has all of them.
func parted(ours, theirs []*space.Entry) (mine, other *space.Entry) {
	lacks := func(in, of []*space.Entry) *space.Entry {
		for _, e := range of {
			if !slices.ContainsFunc(in, func(o *space.Entry) bool { return o.Hash == e.Hash }) {
				return e
			}
		}
		return nil
	}
	return lacks(theirs, ours), lacks(ours, theirs)
}

// began checks that a member who is known here began a term with an entry.
func (s *seat) began(taken *space.Entry) error {
	if taken.Class != space.ClassTakeOver || taken.Env == nil {
		return fmt.Errorf("the new term does not begin with a take-over")
	}
	card, ok := s.cards[taken.Env.From]
	if !ok {
		return fmt.Errorf("the take-over is by %s, who is not a member", taken.Env.From)
	}
	if err := taken.Env.Verify(s.space, card); err != nil {
		return err
	}
	var c space.TakeOverClear
	if err := space.Clear(taken.Env, &c); err != nil {
		return err
	}
	if c.Term != taken.Term || c.Seq != taken.Seq-1 {
		return fmt.Errorf("the take-over does not say where it begins")
	}
	return nil
}

// rewind goes back to an entry. The log goes on from there on a line that has what is ahead, or on one of its own: other seats may still
// be on this one.
func (r *Room) rewind(ctx context.Context, s *seat, last *space.Entry, undone, ahead []*space.Entry) error {
	epoch, void := s.group.Epoch(), slices.DeleteFunc(slices.Clone(s.sec.Void), func(seq int64) bool { return seq > last.Seq })
	for _, e := range undone {
		if e.Class == space.ClassCommit && !slices.Contains(s.sec.Void, e.Seq) {
			epoch--
		}
	}
	state, ok := s.sec.Past[epoch]
	if epoch == s.group.Epoch() {
		state, ok = s.sec.Group, true
	}
	if !ok { // the members changed too often since then
		return r.part(ctx, s, undone)
	}
	again, err := s.unsaid(undone)
	if err != nil {
		return err
	}
	g, err := seal.OpenGroup(s.me, state)
	if err != nil {
		return err
	}
	s.queued, s.said = true, 0
	s.sec.Void = void
	s.sec.Keys = slices.DeleteFunc(slices.Clone(s.sec.Keys), func(k seal.EpochKey) bool { return k.Epoch > epoch+uint64(len(void)) })
	s.seq, s.hash, s.term = last.Seq, last.Hash, last.Term
	on := s.log
	if err = s.enter(g); err == nil {
		err = r.db.Write(ctx, func(tx *db.Tx) error {
			s.log = on
			if err := r.sayAgain(tx, s, again); err != nil {
				return err
			}
			if err := r.branch(tx, s, ahead); err != nil {
				return err
			}
			for _, table := range []string{"peer_mark", "peer_said"} {
				if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND seat = ? AND seq > ?", s.tenant, s.id, last.Seq); err != nil {
					return err
				}
			}
			return r.saveSeat(tx, s)
		})
	}
	if err != nil {
		s.log = on
	} else {
		s.heard = last.Seq
	}
	return errors.Join(err, r.reload(ctx, s)) // what is stored counts, either way
}

// sayAgain queues things in the order in which they were said, before what
// waits already: that was said later.
func (r *Room) sayAgain(tx *db.Tx, s *seat, again []thing) error {
	var first int64
	if err := tx.QueryRow("SELECT coalesce(min(created_at), ?) FROM peer_outbox WHERE tenant = ? AND seat = ? AND state = 'queued'", tx.Now(),
		s.tenant, s.id).Scan(&first); err != nil {
		return err
	}
	for i, t := range again {
		if err := r.enqueue(tx, s, t, db.Time(first-int64(len(again)-i))); err != nil {
			return err
		}
	}
	return nil
}

// unsaid are this member's own of some entries, as what is to be said again.
func (s *seat) unsaid(undone []*space.Entry) ([]thing, error) {
	var out []thing
	for _, e := range undone {
		if e.Env == nil || e.Env.From != s.me.Card().ID || !repeats(e.Class) {
			continue
		}
		t, err := s.unsay(e)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// unsay turns an own entry back into what was to be said.
func (s *seat) unsay(e *space.Entry) (thing, error) {
	t := thing{id: e.Env.ID, class: e.Class, to: e.Env.To, clear: e.Env.Clear}
	key, ok := s.key(e.Env.Epoch)
	if !ok {
		return t, fmt.Errorf("the key of epoch %d is missing", e.Env.Epoch)
	}
	var to *seal.Card
	if c, ok := s.cards[e.Env.To]; ok {
		to = &c
	}
	content, err := key.Open(s.me, s.me.Card(), to, e.Env)
	t.content = content
	return t, err
}
