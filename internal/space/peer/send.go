package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
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

func opFor(class string) string {
	if strings.HasPrefix(class, "task.") {
		return "board.change"
	}
	return "space.post"
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
	var last error
	for range 6 {
		if seq, ok := s.posted.at[t.id]; ok { // an earlier try got through and only its answer was lost
			return space.Accepted{Space: s.space, ID: t.id, Seq: seq, Again: true}, nil
		}
		env, err := s.seal(t, clear, content, r.now().UnixMilli())
		if err != nil {
			return none, err
		}
		var a space.Accepted
		err = s.link.call(ctx, opFor(t.class), space.PostIn{Envelope: &env}, &a)
		switch {
		case err == nil:
			s.online, s.lost, s.said = true, nil, env.Seq
			return a, r.catchUp(ctx, s, a.Seq)
		case reason(err) == "epoch" || reason(err) == "sequence" || reason(err) == "seen":
			last, s.said = err, 0
			if err := r.sync(ctx, s, 0); err != nil {
				return none, err
			}
		default:
			if fault.Is(err, fault.Unavailable) {
				s.lose(err)
			}
			return none, err
		}
	}
	return none, fmt.Errorf("the space kept changing while sending: %w", last)
}

// catchUp follows the log as far as an entry of our own, so that what was sent
// is in our own picture before the caller is told.
func (r *Room) catchUp(ctx context.Context, s *seat, seq int64) error {
	for s.seq < seq && s.state == active {
		if err := r.sync(ctx, s, 0); err != nil {
			if fault.Is(err, fault.Unavailable) {
				return nil // it is stored; the loop follows when the host is back
			}
			return err
		}
	}
	return nil
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
	if s.queued && r.flush(ctx, s) == nil { // what waits goes first, or the order would change
		s.queued = false
	}
	if !s.queued {
		a, err = r.send(ctx, s, t)
		if err == nil || !fault.Is(err, fault.Unavailable) {
			return a, false, err
		}
	}
	s.queued = true
	a.ID = t.id
	return a, true, r.db.Write(ctx, func(tx *db.Tx) error { return r.enqueue(tx, s, t, tx.Now()) })
}

// enqueue keeps a thing to be said later; what was queued earlier goes first.
func (r *Room) enqueue(tx *db.Tx, s *seat, t thing, at time.Time) error {
	clear, err := asJSON(t.clear)
	if err != nil {
		return err
	}
	content, err := asJSON(t.content)
	if err != nil {
		return err
	}
	box, err := r.key.Wrap("outbox", []byte(s.id+"/"+t.id), content)
	if err != nil {
		return err
	}
	if clear == nil {
		clear = []byte{}
	}
	_, err = tx.Exec("INSERT INTO peer_outbox (tenant, seat, id, class, clear, recipient, content, state, why, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', '', ?) ON CONFLICT (tenant, seat, id) DO NOTHING",
		s.tenant, s.id, t.id, t.class, clear, t.to, box, at)
	return err
}

// flush sends what waited, in order. What the host refuses is kept with the
// reason, for the sender to see. The caller holds s.mu.
func (r *Room) flush(ctx context.Context, s *seat) error {
	for s.state == active && s.queued {
		var t thing
		var clear, box []byte
		err := r.db.QueryRow(ctx, "SELECT id, class, clear, recipient, content FROM peer_outbox WHERE tenant = ? AND seat = ? AND state = 'queued' ORDER BY created_at, id LIMIT 1", s.tenant, s.id).
			Scan(&t.id, &t.class, &clear, &t.to, &box)
		if db.NoRows(err) {
			s.queued = false
			return nil
		}
		if err != nil {
			return err
		}
		content, err := r.key.Unwrap("outbox", []byte(s.id+"/"+t.id), box)
		if err != nil {
			return err
		}
		t.content = content
		if len(clear) > 0 {
			t.clear = clear
		}
		_, sent := r.send(ctx, s, t)
		if fault.Is(sent, fault.Unavailable) || fault.Is(sent, fault.Exhausted) {
			return sent
		}
		if err := r.db.Write(ctx, func(tx *db.Tx) error {
			if sent == nil {
				_, err := tx.Exec("DELETE FROM peer_outbox WHERE tenant = ? AND seat = ? AND id = ?", s.tenant, s.id, t.id)
				return err
			}
			_, err := tx.Exec("UPDATE peer_outbox SET state = 'refused', why = ?, refused_at = ? WHERE tenant = ? AND seat = ? AND id = ?",
				fault.Public(sent).Msg, tx.Now(), s.tenant, s.id, t.id)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
