package peer

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"tandem/internal/db"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// errApart is for a member whose part of the history came to nothing, and who is
// unknown in the one that goes on.
var errApart = errors.New("the space went on from before you joined; what you said since waits here, " +
	"and goes out when you have joined again")

// leftBehind ends a seat whose host stepped down for one that does not know its
// member. Members signed the take-overs that lead to the host of now; where they
// and those of this seat's own history part, this member had not joined yet. The
// caller holds s.mu.
func (r *Room) leftBehind(ctx context.Context, s *seat, line []*seal.Envelope) (bool, error) {
	known := map[[32]byte]bool{}
	for _, e := range s.terms {
		known[e.Env.Hash()] = true
	}
	to, term := s.seq, int64(0) // the last entry of both histories, as far as is seen yet
	for _, env := range line {
		var c space.TakeOverClear
		if env == nil {
			return false, nil
		}
		card, ok := s.cards[env.From]
		if !ok || env.Class != space.ClassTakeOver || space.Clear(env, &c) != nil || env.Verify(s.space, card) != nil {
			return false, nil
		}
		if !known[env.Hash()] {
			to = min(to, c.Seq)
		}
		delete(known, env.Hash())
		term = max(term, c.Term)
	}
	for _, e := range s.terms {
		if known[e.Env.Hash()] { // and not in the line
			to = min(to, e.Seq-1)
		}
	}
	if to >= min(s.joined, s.seq) || term <= s.term {
		return false, nil
	}
	entries, err := r.entries(ctx, s)
	if err != nil {
		return false, err
	}
	err = r.part(ctx, s, entries[s.joined:])
	if !errors.Is(err, errApart) {
		return false, err
	}
	r.stop(ctx, s, removed, err.Error())
	return true, nil
}

// part is for a seat that cannot follow: its member joined in the half of a split
// space that stepped down. What it said there was acknowledged, so it is kept
// for the seat that its owner takes next. The caller holds s.mu.
func (r *Room) part(ctx context.Context, s *seat, undone []*space.Entry) error {
	said, err := s.unsaid(undone)
	if err != nil {
		return err
	}
	var keep []thing
	for _, t := range said {
		switch {
		case t.class == space.ClassMessage, t.class == space.ClassVar, t.class == space.ClassFinding, strings.HasPrefix(t.class, "task."):
			keep = append(keep, t)
		}
	}
	if err := r.db.Write(ctx, func(tx *db.Tx) error { return r.sayAgain(tx, s, keep) }); err != nil {
		return err
	}
	return errApart
}

// carry takes along what this seat's owner said in an earlier seat of the same
// space that came to nothing: it goes out from here. The caller holds s.mu.
func (r *Room) carry(ctx context.Context, s *seat) error {
	type waiting struct {
		seat  string
		clear []byte
		box   []byte
		thing
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(`SELECT o.seat, o.id, o.class, o.clear, o.recipient, o.content FROM peer_outbox o JOIN peer_seat p
			ON p.tenant = o.tenant AND p.id = o.seat
			WHERE p.tenant = ? AND p.owner = ? AND p.space = ? AND p.state = ? AND o.state = 'queued' ORDER BY o.created_at, o.id`, s.tenant,
			s.owner, s.space, removed)
		all, err := db.Collect(rows, err, func(rows *sql.Rows) (w waiting, err error) {
			return w, rows.Scan(&w.seat, &w.id, &w.class, &w.clear, &w.to, &w.box)
		})
		if err != nil {
			return err
		}
		// Their attachments are kept for the new seat, whose host has none of them yet.
		for _, q := range []string{"UPDATE peer_piece SET seat = ?, term = 0 WHERE", "UPDATE peer_attachment SET seat = ? WHERE"} {
			if _, err := tx.Exec(q+" tenant = ? AND seat IN (SELECT id FROM peer_seat WHERE tenant = ? AND owner = ? AND space = ? AND state = ?)",
				s.id, s.tenant, s.tenant, s.owner, s.space, removed); err != nil {
				return err
			}
		}
		var again []thing
		for _, w := range all {
			content, err := r.key.Unwrap("outbox", []byte(w.seat+"/"+w.id), w.box)
			if err != nil {
				return err
			}
			w.content = content
			if len(w.clear) > 0 {
				w.thing.clear = w.clear
			}
			again = append(again, w.thing)
			if _, err := tx.Exec("DELETE FROM peer_outbox WHERE tenant = ? AND seat = ? AND id = ?", s.tenant, w.seat, w.id); err != nil {
				return err
			}
		}
		return r.sayAgain(tx, s, again)
	})
}
