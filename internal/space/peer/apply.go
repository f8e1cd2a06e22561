package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// note is one entry whose words could be opened.
type note struct {
	entry   *space.Entry
	content []byte
}

// sync follows the host's log to its end. The caller holds s.mu; wait lets the
// host hold the answer until there is something, and gives mu away meanwhile.
func (r *Room) sync(ctx context.Context, s *seat, wait int64) error {
	for {
		if err := r.current(ctx, s); err != nil {
			return err
		}
		in := space.PullIn{Space: s.space, Since: s.seq, Term: s.term, Wait: wait, Proof: space.Proof{Member: s.me.Card().ID}}
		if _, ok := s.link.(inside); !ok { // the host in this same daemon takes this room's word
			in.Proof = space.Prove(s.me, string(space.SpacePull), in, r.now())
		}
		link, key, itself := s.link, s.tenant+"/"+s.space+"/"+s.host+"/"+s.pin, s.asksItself(r.now(), wait)
		s.mu.Unlock()
		out, err := r.pulls.pull(ctx, link, key, in, itself)
		s.mu.Lock()
		if err != nil && in.Term == s.term {
			return r.pullFailed(ctx, s, err)
		}
		if err != nil || in.Since != s.seq {
			continue // somebody else followed meanwhile
		}
		s.online, s.lost = true, nil
		if out.Term < s.term || out.State != "open" {
			s.moved = out.MovedTo
			if apart, err := r.leftBehind(ctx, s, out.Ended); err != nil {
				return err
			} else if apart {
				return s.usable()
			}
			return fault.New(fault.Unavailable, "space", "the host is of term %d, which ended; the space is at term %d", out.Term, s.term).
				With("reason", "moved")
		}
		if err := r.follow(ctx, s, out.Entries); err != nil {
			return err
		}
		if out.Taken != nil && len(out.Entries) == 0 {
			if err := r.goBack(ctx, s, out); err != nil {
				return err
			}
			continue
		}
		s.hostNow = out.Now
		clear(s.here)
		for _, p := range out.Members {
			s.here[p.Member] = p
		}
		if len(out.Knocks) > 0 && !s.answering {
			// not here: admitting somebody is a commit, and a commit follows the log
			s.answering = true
			r.later(func(ctx context.Context) { r.answerKnocks(ctx, s, out.Knocks) })
		}
		if s.seq >= out.Seq {
			return nil
		}
		wait = 0
	}
}

// goBack is for a seat whose host began a term before an entry that is known
// here: that entry was said to a host that is none any more. The caller holds
// s.mu.
func (r *Room) goBack(ctx context.Context, s *seat, out space.PullOut) error {
	if s.next == nil && r.moveTo(ctx, s, s.host, s.pin) {
		return nil
	}
	return fault.New(fault.Unavailable, "space", "the host began term %d before entry %d, which is known here", out.Term, s.seq).
		With("reason", "moved")
}

func (r *Room) pullFailed(ctx context.Context, s *seat, err error) error {
	switch reason(err) {
	case "removed":
		r.stop(ctx, s, removed, "you were removed from this space")
	case "behind":
		r.stop(ctx, s, broken, "the host has lost part of the history that this member holds")
	default:
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && !fault.Is(err, fault.Unavailable) {
			err = fault.New(fault.Unavailable, "space", "the space's host did not answer in time: %w", err).With("reason", "unreachable")
		}
		if !errors.Is(ctx.Err(), context.Canceled) { // somebody who went away says nothing about the host
			s.lose(err)
		}
	}
	return err
}

// stop ends a seat in a state that a person should know about. Whoever left knows.
func (r *Room) stop(ctx context.Context, s *seat, state, why string) {
	if s.state == state || s.state == left {
		return
	}
	s.state, s.why, s.online = state, why, false
	r.publish(s)
	if err := r.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error { return r.saveSeat(tx, s) }); err != nil {
		r.log.Error("seat not saved", "seat", s.id, "err", err)
	}
	s.ring()
}

// follow checks entries and takes them in: once it returns they are on the disk,
// and with them what this seat has of its own of them. An entry that does not
// hold ends the seat rather than being skipped.
func (r *Room) follow(ctx context.Context, s *seat, entries []*space.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var notes []note
	for i, e := range entries {
		var content []byte
		err := r.forked(ctx, s, entries[:i], e)
		if err != nil && !errors.Is(err, errForked) {
			return errors.Join(err, r.reload(ctx, s)) // it could not be read, which says nothing about the host
		}
		if err == nil {
			content, err = s.take(e)
		}
		if err != nil {
			if rerr := r.reload(ctx, s); rerr != nil {
				return rerr
			}
			if errors.Is(err, errRemoved) {
				r.stop(ctx, s, removed, "you were removed from this space")
				return s.usable()
			}
			r.stop(ctx, s, broken, err.Error())
			return fault.New(fault.Conflict, "space", "this space's history does not hold: %v", err).
				WithNext("nothing more is accepted from this host; compare safety phrases with the others, then leave or take over")
		}
		notes = append(notes, note{e, content})
	}
	err := r.file(context.WithoutCancel(ctx), s, entries, r.withSeat(s, r.own(s, notes)))
	if err != nil {
		// what is in memory is ahead of the disk: go back to what is stored
		if rerr := r.reload(ctx, s); rerr != nil {
			return errors.Join(err, rerr)
		}
		return err
	}
	for _, n := range notes {
		if s.mail(n) {
			s.unread.add(n.entry.Seq)
		}
		r.arrived(s, n)
	}
	s.heard = s.seq
	s.ring()
	return nil
}

// A seat is saved after so many changes of the group and so many entries: that much is taken in again when it is read.
const (
	savedMoves   = 16
	savedEntries = 512
)

// withSeat adds the seat to what is written, when it is time to save it. What
// the log cannot tell is saved with the entry: the group after an own commit,
// and a host that was found.
func (r *Room) withSeat(s *seat, own func(*db.Tx) error) func(*db.Tx) error {
	if !s.keep && s.moves < savedMoves && s.seq-s.saved < savedEntries {
		return own
	}
	return func(tx *db.Tx) error {
		if own != nil {
			if err := own(tx); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() { s.keep = false })
		return r.saveSeat(tx, s)
	}
}

// take verifies one entry against everything this seat knows, moves the group
// when it is a commit, opens what it can, and folds it in.
func (s *seat) take(e *space.Entry) ([]byte, error) {
	if err := e.Follow(s.seq, s.hash, s.term); err != nil {
		return nil, err
	}
	var content []byte
	if e.Term != s.term {
		var c space.TakeOverClear
		if err := space.Clear(e.Env, &c); err != nil {
			return nil, err
		}
		if c.Term != e.Term || c.Seq != s.seq || c.Hash != s.hash {
			return nil, fmt.Errorf("entry %d begins term %d, but its signer did not say so", e.Seq, e.Term)
		}
	}
	if e.Env != nil {
		var err error
		if content, err = s.open(e); err != nil {
			return nil, err
		}
		if e.Class == space.ClassCommit && e.Seq > s.joined {
			if err := s.move(e); err != nil {
				return nil, err
			}
		}
	}
	if err := s.fold(e, content); err != nil {
		return nil, err
	}
	if e.Term != s.term {
		s.keep = true
		if s.next != nil {
			s.host, s.pin, s.dirty = s.next.host, s.next.pin, true // the new term and its host are one fact
		}
	}
	s.seq, s.hash, s.term = e.Seq, e.Hash, e.Term
	s.trail.add(e)
	if e.Seq == s.joined {
		if e.Hash != s.sec.Joined {
			return nil, fmt.Errorf("entry %d is not the one the inviter saw: the host shows another history", e.Seq)
		}
		s.base()
	}
	return content, nil
}

// open checks sender, signature and sequence, and opens the box when this seat
// is entitled to it.
func (s *seat) open(e *space.Entry) ([]byte, error) {
	env := e.Env
	card, ok := s.cards[env.From]
	if !ok || s.gone[env.From] != "" {
		return nil, fmt.Errorf("entry %d is from %s, who is not a member", e.Seq, env.From)
	}
	if err := env.Verify(s.space, card); err != nil {
		return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	if err := s.window.Advance(env.From, env.Seq); err != nil {
		return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	key, have := s.key(env.Epoch)
	if e.Seq <= s.joined || !have || !env.ForMe(s.me.Card().ID) {
		if e.Seq > s.joined && !have {
			return nil, fmt.Errorf("entry %d is sealed for epoch %d, which this member never saw", e.Seq, env.Epoch)
		}
		return nil, nil
	}
	var to *seal.Card
	if c, ok := s.cards[env.To]; ok {
		to = &c
	}
	content, err := key.Open(s.me, card, to, env)
	if err != nil { // signed by a member and in its place, so the history holds: what it sealed is its own fault, and stops nobody
		s.unreadable[env.From]++
		return nil, nil
	}
	return content, nil
}

// keeper is who may remove others, as the host has it, too.
func (s *seat) keeper() seal.MemberID {
	if s.gone[s.creator] == "" {
		return s.creator
	}
	for _, id := range s.order {
		if s.gone[id] == "" {
			return id
		}
	}
	return ""
}

var errRemoved = errors.New("this commit removes us")

// move brings the group to the epoch a commit makes, and checks that the host
// told the truth about who came and went.
func (s *seat) move(e *space.Entry) error {
	var c space.CommitClear
	if err := space.Clear(e.Env, &c); err != nil {
		return err
	}
	for _, id := range c.Remove {
		if s.gone[id] == "" && e.Env.From != s.keeper() {
			return fmt.Errorf("entry %d: %s removes %s, and only %s may", e.Seq, e.Env.From, id, s.keeper())
		}
	}
	if slices.Contains(c.Remove, s.me.Card().ID) {
		return errRemoved
	}
	next, err := s.after(e, c)
	if errors.Is(err, seal.ErrRefused) {
		return s.skip(e, err)
	}
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	s.settled()
	return s.enter(next)
}

// settled is for a seat that knows what became of its own commit.
func (s *seat) settled() {
	s.keep = s.keep || s.sec.Pending != nil
	s.sec.Pending, s.sec.Commit = nil, ""
}

// after is the group that a commit makes. It refuses one that does not hold, or does something else than its clear part says.
func (s *seat) after(e *space.Entry, c space.CommitClear) (*seal.Group, error) {
	before, err := s.group.Roster()
	if err != nil {
		return nil, err
	}
	var next *seal.Group
	if e.Env.ID == s.sec.Commit && s.sec.Pending != nil {
		next, err = seal.OpenGroup(s.me, s.sec.Pending)
	} else {
		next, err = s.group.Apply(c.Commit)
	}
	if err != nil {
		return nil, err
	}
	if next.Epoch() != s.group.Epoch()+1 {
		return nil, fmt.Errorf("%w: a commit from epoch %d to %d", seal.ErrRefused, s.group.Epoch(), next.Epoch())
	}
	after, err := next.Roster()
	if err != nil {
		return nil, err
	}
	want := slices.DeleteFunc(slices.Clone(before), func(x seal.Card) bool { return slices.Contains(c.Remove, x.ID) })
	want = append(want, c.Add...)
	if !sameCards(want, after) {
		return nil, fmt.Errorf("%w: the commit does something else than its sender says", seal.ErrRefused)
	}
	return next, nil
}

// skip goes on after a commit that does not hold. It was signed by a member and stands in its place, so the history holds: what is
// wrong is its sender's fault, and stops nobody. The host has counted an epoch; the group stays as it is, and so does its key.
func (s *seat) skip(e *space.Entry, why error) error {
	s.sec.Void = append(s.sec.Void, e.Seq)
	s.settled()
	s.unreadable[e.Env.From]++
	s.tellLater(fmt.Sprintf("%s sent a change of members that does not hold, and nothing came of it (entry %d: %s); %s may remove it",
		escape(s.name(e.Env.From)), e.Seq, clip(why.Error()), escape(s.name(s.keeper()))))
	return s.enter(s.group)
}

func sameCards(a, b []seal.Card) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if !slices.ContainsFunc(b, x.Equal) {
			return false
		}
	}
	return true
}

// arrived starts what an entry calls for.
func (r *Room) arrived(s *seat, n note) {
	s.hear(n)
	switch n.entry.Class {
	case space.ClassHandOver:
		if s.heir == s.me.Card().ID {
			r.later(func(ctx context.Context) { r.inherit(ctx, s) })
		}
	case space.ClassReserve, space.ClassShared, space.ClassRelease, space.ClassCommit:
		r.publish(s)
	case space.ClassLeave:
		r.publish(s)
		r.later(func(ctx context.Context) { r.removeLeft(ctx, s) })
	case space.ClassMessage:
		if s.mail(n) {
			s.wakes.add(n.entry.Env.ID)
			r.wakesUsedUp(s)
			r.rouse(s)
		}
	}
}

func wordsOf(content []byte) Words {
	var w Words
	if json.Unmarshal(content, &w) != nil {
		return Words{Type: "chat", Text: string(content)}
	}
	return w
}
