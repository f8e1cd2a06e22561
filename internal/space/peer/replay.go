package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"tandem/internal/db"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

const seatColumns = "tenant, id, owner, space, folder, state, why, host, pin, seq, hash, term, joined_seq, line, secrets, created_at"

// readSeat restores a seat by playing its log, which was verified when it was stored: folded as far as the seat was saved, taken in again
// behind that.
func (r *Room) readSeat(ctx context.Context, row interface{ Scan(...any) error }) (s *seat, behind []note, err error) {
	s = newSeat("", "", "", "")
	var box []byte
	var created int64
	if err := row.Scan(&s.tenant, &s.id, &s.owner, &s.space, &s.folder, &s.state, &s.why, &s.host, &s.pin, &s.seq, &s.hash, &s.term, &s.joined,
		&s.log, &box, &created); err != nil {
		return nil, nil, err
	}
	s.created = db.Time(created)
	plain, err := r.key.Unwrap("seat", []byte(s.id), box)
	if err != nil {
		return nil, nil, fmt.Errorf("open the keys of seat %s: %w", s.id, err)
	}
	if err := json.Unmarshal(plain, &s.sec); err != nil {
		return nil, nil, fmt.Errorf("read the keys of seat %s: %w", s.id, err)
	}
	if s.me, err = seal.IdentityFromSeed(s.sec.Seed); err != nil {
		return nil, nil, err
	}
	if s.group, err = seal.OpenGroup(s.me, s.sec.Group); err != nil {
		return nil, nil, err
	}
	s.link = r.linkTo(s)
	if err := r.countInvites(ctx, s); err != nil {
		return nil, nil, err
	}
	behind, err = r.replay(ctx, s)
	s.heard = s.seq
	return s, behind, err
}

// replay folds the stored log. What it took in behind what the seat was saved with is the answer.
func (r *Room) replay(ctx context.Context, s *seat) (behind []note, err error) {
	saved := s.seq
	s.saved, s.seq = saved, 0
	until := saved
	if s.state == active {
		until = math.MaxInt64
	}
	rows, err := r.db.Query(ctx, "SELECT l.entry, coalesce(m.surfaced_at, 0), coalesce(m.read_at, 0) FROM peer_log l LEFT JOIN peer_mark m "+
		"ON m.tenant = l.tenant AND m.seat = ? AND m.seq = l.seq WHERE l.tenant = ? AND l.space = ? AND l.line = ? AND l.seq <= ? "+
		"ORDER BY l.seq", s.id, s.tenant, s.space, s.log, until)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var said []mark
	for rows.Next() {
		var surfaced, read int64
		e, err := scanEntry(rows, &surfaced, &read)
		if err != nil {
			return nil, err
		}
		if e.Seq > saved && e.Term != s.term {
			break // a new term and its host are one fact: the host shows it again, or another one is looked for
		}
		n := note{entry: e}
		if e.Class == space.ClassReceipt {
			said = append(said, n.marks()...)
		}
		if e.Seq > saved {
			if n.content, err = s.taken(e); err != nil {
				break // the host shows it again, and what is wrong is said then
			}
			behind = append(behind, n)
		} else if err := s.again(&n); err != nil {
			return nil, err
		}
		if s.mail(n) && read == 0 {
			s.unread.add(e.Seq)
			if surfaced == 0 { // nobody was woken for it yet, or it is forgotten
				s.wakes.add(e.Env.ID)
			}
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	if s.seq < saved {
		return nil, fmt.Errorf("the log ends at entry %d, and the seat had come to %d", s.seq, saved)
	}
	if own := r.own(s, behind); own != nil { // the daemon may have stopped between the log and this
		if err := r.db.Write(ctx, own); err != nil {
			return nil, err
		}
	}
	return behind, r.fillMarks(ctx, s, said)
}

// taken takes an entry in, or leaves the count of its sender's envelopes as it was.
func (s *seat) taken(e *space.Entry) ([]byte, error) {
	if e.Env == nil {
		return s.take(e)
	}
	before := s.window[e.Env.From]
	content, err := s.take(e)
	if err != nil {
		s.window[e.Env.From] = before
	}
	return content, err
}

// again folds an entry that this seat was saved with, or after.
func (s *seat) again(n *note) (err error) {
	e := n.entry
	if e.Seq != s.seq+1 {
		return fmt.Errorf("the stored log has entry %d behind entry %d", e.Seq, s.seq)
	}
	if e.Env != nil {
		s.window[e.Env.From] = e.Env.Seq
		n.content = s.reopen(e)
	}
	if err := s.fold(e, n.content); err != nil {
		return err
	}
	s.trail.add(e)
	s.seq, s.hash, s.term = e.Seq, e.Hash, e.Term
	if e.Seq == s.joined {
		s.base()
	}
	return nil
}

// reopen are the words of an entry that was checked when it was stored; nil when they are not for this seat: from before it joined, for
// somebody else, or for nobody.
func (s *seat) reopen(e *space.Entry) []byte {
	if e.Env == nil || e.Seq <= s.joined || !e.Env.ForMe(s.me.Card().ID) {
		return nil
	}
	key, ok := s.key(e.Env.Epoch)
	if !ok {
		return nil
	}
	var to *seal.Card
	if c, ok := s.cards[e.Env.To]; ok {
		to = &c
	}
	content, err := key.Reopen(s.me, s.cards[e.Env.From], to, e.Env)
	if err != nil {
		return nil
	}
	return content
}

// current reads a seat again that could not be read when it had to be.
func (r *Room) current(ctx context.Context, s *seat) error {
	if !s.reread {
		return nil
	}
	return r.reload(ctx, s)
}

// reload throws away what is in memory and reads the seat again. It runs, so what others filed for it meanwhile is acted on.
func (r *Room) reload(ctx context.Context, s *seat) error {
	s.reread = true
	fresh, behind, err := r.readSeat(context.WithoutCancel(ctx),
		r.db.QueryRow(context.WithoutCancel(ctx), "SELECT "+seatColumns+" FROM peer_seat WHERE tenant = ? AND id = ?", s.tenant, s.id))
	if err != nil {
		return fmt.Errorf("read seat %s again: %w", s.id, err)
	}
	s.state, s.why, s.seq, s.hash, s.term, s.sec, s.group = fresh.state, fresh.why, fresh.seq, fresh.hash, fresh.term, fresh.sec, fresh.group
	s.host, s.pin, s.trail, s.keyed, s.brought = fresh.host, fresh.pin, fresh.trail, fresh.keyed, fresh.brought
	s.log, s.saved, s.moves, s.dirty = fresh.log, fresh.saved, fresh.moves, fresh.dirty
	s.cards, s.order, s.gone, s.creator, s.terms, s.heir = fresh.cards, fresh.order, fresh.gone, fresh.creator, fresh.terms, fresh.heir
	s.window, s.board, s.words, s.newer = fresh.window, fresh.board, fresh.words, fresh.newer
	s.vars, s.paths, s.profiles, s.findings, s.posted, s.unread = fresh.vars, fresh.paths, fresh.profiles, fresh.findings, fresh.posted,
		fresh.unread
	s.reread = false
	for _, n := range behind {
		if n.entry.Seq > s.heard {
			r.arrived(s, n)
		}
	}
	s.heard = s.seq
	return nil
}
