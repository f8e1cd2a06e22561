package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"tandem/internal/board"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// thing is something to say: what the host may see, and the words.
type thing struct {
	id      string // made when empty; a retry keeps it
	class   string
	clear   any
	to      seal.MemberID
	content any
}

func opFor(class string) op.Def[space.PostIn, space.Accepted] {
	if strings.HasPrefix(class, "task.") {
		return board.BoardChange
	}
	return space.SpacePost
}

func asJSON(v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	if b, ok := v.([]byte); ok {
		return b, nil
	}
	return json.Marshal(v)
}

// send seals t for the current epoch and has the host store it. When the group
// moved on or the sequence was used, it follows the log and seals again. It
// returns once the host has acknowledged. The caller holds s.mu.
func (r *Room) send(ctx context.Context, s *seat, t thing) (space.Accepted, error) {
	var none space.Accepted
	if err := s.usable(); err != nil {
		return none, err
	}
	if s.away() {
		return none, s.lost
	}
	if t.id == "" {
		t.id = id.New("env")
	}
	clear, err := asJSON(t.clear)
	if err != nil {
		return none, err
	}
	content, err := asJSON(t.content)
	if err != nil {
		return none, err
	}
	if t.class == space.ClassMessage {
		if err := r.bring(ctx, s, content); err != nil {
			if fault.Is(err, fault.Unavailable) {
				s.lose(err)
			}
			return none, refused(err)
		}
	}
	var last error
	for range 6 {
		if seq, ok := s.shows(t.id); ok { // an earlier try got through and only its answer was lost
			return space.Accepted{Space: s.space, ID: t.id, Seq: seq, Again: true}, nil
		}
		env, err := s.seal(t, clear, content, r.now().UnixMilli())
		if err != nil {
			return none, refused(err)
		}
		a, err := ask(ctx, s.link, opFor(t.class), space.PostIn{Envelope: &env})
		switch {
		case err == nil:
			s.online, s.lost, s.said = true, nil, env.Seq
			return a, r.keep(ctx, s, t, &env, a)
		case reason(err) == "epoch" || reason(err) == "sequence" || reason(err) == "seen":
			last, s.said = err, 0
			if err := r.sync(ctx, s, 0); err != nil {
				return none, err
			}
		default:
			if fault.Is(err, fault.Unavailable) {
				s.lose(err)
			}
			return none, refused(err)
		}
	}
	return none, fmt.Errorf("the space kept changing while sending: %w", last)
}

// sendOrQueue sends; when the host cannot be reached the thing is kept and goes
// out later. queued tells which.
func (r *Room) sendOrQueue(ctx context.Context, s *seat, t thing) (a space.Accepted, queued bool, err error) {
	switch {
	case t.id != "":
	case t.class != space.ClassMessage:
		t.id = id.New("env")
	default:
		t.id = id.New("m") // short: it travels through models' contexts
	}
	if s.queued { // what waits goes first, or the order would change
		if err := r.flush(ctx, s); err != nil {
			r.log.Debug("outbox not empty", "space", s.space, "err", err)
		}
	}
	if err := s.usable(); err != nil {
		return a, false, err
	}
	if !s.queued {
		a, err = r.send(ctx, s, t)
		if err == nil || !fault.Is(err, fault.Unavailable) {
			return a, false, err
		}
	}
	a.ID = t.id
	return a, true, r.wait(ctx, s, t)
}

// own is the entry that the host made of an envelope, when its answer tells all
// of it: it stands right behind what is known here and has no facts of the
// host's. Its hash shows that.
func (s *seat) own(env *seal.Envelope, a space.Accepted) *space.Entry {
	e := &space.Entry{Seq: a.Seq, Term: s.term, At: a.At, Class: env.Class, Env: env, Hash: a.Hash}
	if a.Again || a.Seq != s.seq+1 || e.Chain(s.hash) != a.Hash {
		return nil
	}
	return e
}

// catchUp follows the log as far as an entry of our own, so that what was sent
// is in our own picture before the caller is told. It may come to nothing: the
// host went away, or another one is followed by now.
func (r *Room) catchUp(ctx context.Context, s *seat, id string, seq int64) error {
	for term := s.term; s.seq < seq && s.term == term && s.state == active; {
		if err := r.sync(ctx, s, 0); err != nil {
			if fault.Is(err, fault.Unavailable) {
				return nil // it is stored; the loop follows when the host is back
			}
			return err
		}
		if _, ok := s.shows(id); ok {
			return nil
		}
	}
	return nil
}

// shows is the number of an own envelope in this seat's copy of the log.
func (s *seat) shows(id string) (int64, bool) {
	seq, ok := s.posted.at[id]
	return seq, ok
}

func (s *seat) seal(t thing, clear, content []byte, at int64) (seal.Envelope, error) {
	key, ok := s.key(s.epoch())
	if !ok {
		return seal.Envelope{}, fmt.Errorf("seat %s has no key for epoch %d", s.id, s.epoch())
	}
	var to *seal.Card
	if t.to != "" {
		c, ok := s.cards[t.to]
		if !ok {
			return seal.Envelope{}, fault.New(fault.NotFound, "space.send", "%s is not a member of this space", t.to)
		}
		to = &c
	}
	env, err := key.Seal(s.me, to, seal.Envelope{Space: s.space, Seq: max(s.window[s.me.Card().ID], s.said) + 1, ID: t.id, Class: t.class,
		At: at, Clear: clear, SeenSeq: s.seq, Seen: s.hash}, content)
	if err != nil {
		return env, fault.New(fault.Invalid, "space.send", "%s", err).WithNext("say less, or share a file piece by piece")
	}
	return env, nil
}

// lose remembers that the host was not reached. From then on only the loop that
// follows the log tries to reach it, so that nobody else waits in vain: what is
// said is queued at once. A wait for news on a line that is dead is given up.
func (s *seat) lose(err error) {
	s.online, s.lost = false, err
	if s.drop != nil {
		s.drop()
	}
}

// away reports whether the host was not reached when it was last tried, and
// asks for another try.
func (s *seat) away() bool {
	if s.online || s.lost == nil {
		return false
	}
	select {
	case s.poke <- struct{}{}:
	default:
	}
	return true
}

// usable says why a seat cannot be used.
func (s *seat) usable() error {
	switch s.state {
	case active:
		return nil
	case removed, left:
		return fault.New(fault.Denied, "space", "you are no longer in this space: %s", orElse(s.why, "you left")).With("reason", "removed").
			WithNext("ask a member for a new code and call intandem_join")
	}
	return fault.New(fault.Conflict, "space", "this space is stopped here: %s", s.why).
		WithNext("compare safety phrases with the other members; then intandem_leave, or tandem space take-over")
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
