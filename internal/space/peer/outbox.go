package peer

import (
	"context"
	"errors"
	"time"

	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// Nothing that was acknowledged is lost. What a member is told to be stored or
// queued is on its own disk from then on: as its entry in this seat's copy of
// the log, or as a row of the outbox.
//
//   - A row leaves the outbox with the entry that carries it (saveOwn), with the
//     host's refusal, which is shown to its sender, or for the seat that its
//     owner takes next (carry).
//   - An entry leaves the copy of the log (rewind, part) with a row for it, if
//     this member said it.
//   - That a host stored something is no place to keep it: it may be the host
//     that loses the space. What the log does not show yet stays in the outbox
//     (keep), and is offered with the same id wherever the space goes on. A log
//     that has it already shows it, and it is not said twice.
//
// Each of these is one transaction, with mu held. And what waits is awake:
// queued is true before a row is written, and false only when the outbox was
// found empty with mu held. Whenever the host was reached, chores send it.

// wait puts a thing into the outbox, and has the loop look there when the host
// can be reached.
func (r *Room) wait(ctx context.Context, s *seat, t thing) error {
	s.queued = true
	err := r.db.Write(ctx, func(tx *db.Tx) error { return r.enqueue(tx, s, t, tx.Now()) })
	if s.online && s.drop != nil {
		s.drop()
	}
	return err
}

// keep sees to it that what a host stored is on this disk before its sender is
// told: in the copy of the log, or in the outbox until the log shows it.
func (r *Room) keep(ctx context.Context, s *seat, t thing, env *seal.Envelope, a space.Accepted) error {
	if err := r.shown(ctx, s, env, a); err != nil {
		return err
	}
	if _, ok := s.shows(t.id); ok || !repeats(t.class) {
		return nil
	}
	return r.wait(ctx, s, t)
}

// shown has an own envelope in the copy of the log, if that can be: without asking again where the host's answer was enough.
func (r *Room) shown(ctx context.Context, s *seat, env *seal.Envelope, a space.Accepted) error {
	if e := s.own(env, a); e != nil {
		return r.follow(ctx, s, []*space.Entry{e})
	}
	return r.catchUp(ctx, s, env.ID, a.Seq)
}

// repeats says whether something is said again where the log that had it is not
// the space's any more. A change of members is void elsewhere, and a claim is
// renewed by itself.
func repeats(class string) bool {
	return class != space.ClassCommit && class != "task."+string(board.KindRenew)
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
	_, err = tx.Exec(`INSERT INTO peer_outbox (tenant, seat, id, class, clear, recipient, content, state, why, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', '', ?) ON CONFLICT (tenant, seat, id) DO NOTHING`,
		s.tenant, s.id, t.id, t.class, clear, t.to, box, at)
	return err
}

// flush sends what waited, in order. What the host refuses is kept with the
// reason, for the sender to see. The caller holds s.mu.
func (r *Room) flush(ctx context.Context, s *seat) error {
	for s.flushing { // by somebody else, who gave mu away to follow the log
		bell := s.changed
		s.mu.Unlock()
		select {
		case <-bell:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			return fault.New(fault.Unavailable, "space.send", "broken off while what waits was being sent")
		}
	}
	if !s.queued {
		return nil
	}
	s.flushing = true
	defer func() {
		s.flushing = false
		s.ring()
	}()
	for s.state == active && s.queued {
		t, err := r.oldest(ctx, s)
		if db.NoRows(err) {
			s.queued = false
			return nil
		}
		if err != nil {
			return err
		}
		term := s.term
		_, err = r.send(ctx, s, t)
		if err = r.sent(ctx, s, t, term, err); err != nil {
			return err
		}
	}
	return nil
}

// oldest is what waits longest.
func (r *Room) oldest(ctx context.Context, s *seat) (t thing, err error) {
	var clear, box []byte
	if err := r.db.QueryRow(ctx, `SELECT id, class, clear, recipient, content FROM peer_outbox
		WHERE tenant = ? AND seat = ? AND state = 'queued' ORDER BY created_at, id LIMIT 1`, s.tenant, s.id).
		Scan(&t.id, &t.class, &clear, &t.to, &box); err != nil {
		return t, err
	}
	content, err := r.key.Unwrap("outbox", []byte(s.id+"/"+t.id), box)
	t.content = content
	if len(clear) > 0 {
		t.clear = clear
	}
	return t, err
}

// sent settles what became of a thing that waited, and that was tried first in
// that term: nil when the oldest that waits now may be sent. The caller holds
// s.mu, and held it since the host answered.
func (r *Room) sent(ctx context.Context, s *seat, t thing, term int64, err error) error {
	var no refusal
	if errors.As(err, &no) {
		if err := r.sync(ctx, s, 0); err != nil {
			return err // a host that stepped down or forgot the space decides nothing
		}
	}
	_, shown := s.shows(t.id)
	switch {
	case shown:
		return r.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec("DELETE FROM peer_outbox WHERE tenant = ? AND seat = ? AND id = ?", s.tenant, s.id, t.id)
			return err
		})
	case err != nil && no.error == nil:
		return err
	case s.term != term:
		return nil // it is tried again, at the host of now
	case err == nil:
		return fault.New(fault.Unavailable, "space.send", "the host has stored %s, and its log does not show it yet", t.id)
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE peer_outbox SET state = 'refused', why = ?, refused_at = ? WHERE tenant = ? AND seat = ? AND id = ?",
			fault.Public(no).Msg, tx.Now(), s.tenant, s.id, t.id)
		return err
	})
}

// refusal is a no to a thing itself, and not a failure on its way.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// refused marks an answer that is a refusal.
func refused(err error) error {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Denied, fault.NotFound, fault.Conflict:
		if reason(err) != "pin" {
			return refusal{err}
		}
	}
	return err
}
