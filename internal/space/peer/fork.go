package peer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// errApart is for a member whose part of the history came to nothing.
var errApart = errors.New("the space went on from before you joined; ask a member for a new code")

// fork leaves the history of an old host for that of a new one. They part where
// one of them has a take-over that the other lacks. What this member itself said
// beyond that point is queued again: it was acknowledged and must not be lost.
// theirs are the new host's take-overs. A seat that only lags behind is left as
// it is. The caller holds s.mu.
func (r *Room) fork(ctx context.Context, s *seat, l link, at place, theirs []*space.Entry) error {
	ours, err := r.takeOvers(ctx, s)
	if err != nil {
		return err
	}
	mine, next := parted(ours, theirs)
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
	if to < s.joined {
		return errApart
	}
	entries, err := r.entries(ctx, s)
	if err != nil {
		return err
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
	if err := r.rewind(ctx, s, to, last.Hash); err != nil {
		return err
	}
	s.next = &at
	err = r.follow(ctx, s, ahead)
	s.next = nil
	return err
}

// ahead is what a host has behind an entry.
func (r *Room) ahead(ctx context.Context, s *seat, l link, to int64) ([]*space.Entry, error) {
	var all []*space.Entry
	for {
		in := space.PullIn{Space: s.space, Since: to + int64(len(all)), Proof: space.Prove(s.me, "space.pull", s.space, r.now())}
		var out space.PullOut
		if err := l.call(ctx, "space.pull", in, &out); err != nil {
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

func (r *Room) rewind(ctx context.Context, s *seat, to int64, hash string) error {
	entries, err := r.entries(ctx, s)
	if err != nil {
		return err
	}
	epoch, term := s.group.Epoch(), int64(1)
	var again []thing
	for _, e := range entries {
		if e.Seq <= to {
			term = e.Term
			continue
		}
		if e.Class == space.ClassCommit {
			epoch--
		}
		if e.Env == nil || e.Env.From != s.me.Card().ID || e.Class == space.ClassCommit || e.Class == "task."+string(board.KindRenew) {
			continue
		}
		t, err := r.unsay(ctx, s, e)
		if err != nil {
			return err
		}
		again = append(again, t)
	}
	state, ok := s.sec.Past[epoch]
	if epoch == s.group.Epoch() {
		state, ok = s.sec.Group, true
	}
	if !ok {
		return fmt.Errorf("the members changed too often since then: %w", errApart)
	}
	g, err := seal.OpenGroup(s.me, state)
	if err != nil {
		return err
	}
	s.queued, s.said = true, 0
	keys := s.sec.Keys[:0:0]
	for _, k := range s.sec.Keys {
		if k.Epoch <= epoch {
			keys = append(keys, k)
		}
	}
	s.sec.Keys, s.seq, s.hash, s.term = keys, to, hash, term
	if err := s.enter(g); err != nil {
		return err
	}
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		for i, t := range again { // in the order in which they were said
			if err := r.enqueue(tx, s, t, tx.Now().Add(time.Duration(i)*time.Microsecond)); err != nil {
				return err
			}
		}
		for _, table := range []string{"peer_log", "peer_note"} {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND seat = ? AND seq > ?", s.tenant, s.id, to); err != nil {
				return err
			}
		}
		return r.saveSeat(tx, s)
	})
	if err != nil {
		return err
	}
	return r.reload(ctx, s)
}

// unsay turns an own entry back into what was to be said.
func (r *Room) unsay(ctx context.Context, s *seat, e *space.Entry) (thing, error) {
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
