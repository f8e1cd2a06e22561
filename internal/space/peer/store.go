package peer

import (
	"embed"
	"encoding/json"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this room.
var Migrations = db.Migrations{Room: "peer", FS: schema}

// saveSeat writes what a seat is; its secrets are one sealed value, which is
// written only when it changed. They belong to the entry that it came to.
func (r *Room) saveSeat(tx *db.Tx, s *seat) error {
	if s.reread {
		return fault.New(fault.Unavailable, "space", "seat %s could not be read again, and is not saved until it is", s.id)
	}
	seq := s.seq
	tx.AfterCommit(func() { s.saved, s.moves = seq, 0 })
	if !s.dirty {
		_, err := tx.Exec("UPDATE peer_seat SET owner = ?, folder = ?, state = ?, why = ?, host = ?, pin = ?, seq = ?, hash = ?, term = ?, "+
			"line = ?, updated_at = ? WHERE tenant = ? AND id = ?",
			s.owner, s.folder, s.state, s.why, s.host, s.pin, s.seq, s.hash, s.term, s.log, tx.Now(), s.tenant, s.id)
		return err
	}
	tx.AfterCommit(func() { s.dirty = false })
	box, err := r.wrapSecrets(s)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO peer_seat (tenant, id, owner, space, folder, state, why, host, pin, seq, hash, term, joined_seq,
		line, secrets, created_at, updated_at, home)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, id) DO UPDATE SET owner = excluded.owner, folder = excluded.folder, state = excluded.state,
		why = excluded.why, host = excluded.host,
		pin = excluded.pin, seq = excluded.seq, hash = excluded.hash, term = excluded.term, line = excluded.line, secrets = excluded.secrets,
		updated_at = excluded.updated_at`,
		s.tenant, s.id, s.owner, s.space, s.folder, s.state, s.why, s.host, s.pin, s.seq, s.hash, s.term, s.joined, s.log, box, tx.Now(),
		tx.Now(), r.home)
	return err
}

func (r *Room) wrapSecrets(s *seat) ([]byte, error) {
	plain, err := json.Marshal(s.sec)
	if err != nil {
		return nil, fmt.Errorf("write seat: %w", err)
	}
	return r.key.Wrap("seat", []byte(s.id), plain)
}

// savePlace writes how far a seat came, and nothing that somebody else may have changed.
func (r *Room) savePlace(tx *db.Tx, s *seat) error {
	box, err := r.wrapSecrets(s)
	if err != nil {
		return err
	}
	seq := s.seq
	tx.AfterCommit(func() { s.saved, s.moves, s.dirty = seq, 0, false })
	_, err = tx.Exec("UPDATE peer_seat SET seq = ?, hash = ?, term = ?, line = ?, secrets = ? WHERE tenant = ? AND id = ?",
		s.seq, s.hash, s.term, s.log, box, s.tenant, s.id)
	return err
}

// own is what a seat keeps of entries beside the log; nil is nothing. Doing it again changes nothing.
func (r *Room) own(s *seat, notes []note) func(*db.Tx) error {
	var mine, dark []*space.Entry
	var said []mark
	for _, n := range notes {
		e := n.entry
		switch {
		case e.Env == nil:
		case e.Env.From == s.me.Card().ID:
			mine = append(mine, e)
		case e.Class == space.ClassMessage && n.content == nil && e.Seq > s.joined && e.Env.ForMe(s.me.Card().ID):
			dark = append(dark, e)
		case e.Class == space.ClassReceipt:
			said = append(said, s.aboutMine(n.marks())...)
		}
	}
	if len(mine)+len(dark)+len(said) == 0 {
		return nil
	}
	return func(tx *db.Tx) error {
		for _, e := range mine {
			if err := r.saveOwn(tx, s, e); err != nil {
				return err
			}
		}
		for _, e := range dark { // nobody can read it, so nobody is told of it
			if err := r.setMark(tx, s, e.Seq, db.Time(e.At), db.Time(e.At)); err != nil {
				return err
			}
		}
		return r.keepMarks(tx, s, said)
	}
}

// mail reports whether an entry is a message of somebody else to this member.
func (s *seat) mail(n note) bool {
	return n.entry.Class == space.ClassMessage && n.content != nil && n.entry.Env.From != s.me.Card().ID
}

// saveOwn is for what this member said itself: it waits no longer, and receipts
// will speak of it.
func (r *Room) saveOwn(tx *db.Tx, s *seat, e *space.Entry) error {
	if _, err := tx.Exec("DELETE FROM peer_outbox WHERE tenant = ? AND seat = ? AND id = ?", s.tenant, s.id, e.Env.ID); err != nil ||
		e.Class != space.ClassMessage {
		return err
	}
	_, err := tx.Exec("INSERT INTO peer_said (tenant, seat, env, seq, recipient) VALUES (?, ?, ?, ?, ?) "+
		"ON CONFLICT (tenant, seat, env) DO UPDATE SET seq = excluded.seq", s.tenant, s.id, e.Env.ID, e.Seq, e.Env.To)
	return err
}

// setMark says how far a message to this seat came. It never goes back.
func (r *Room) setMark(tx *db.Tx, s *seat, seq int64, surfaced, read time.Time) error {
	at := func(t time.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return db.Micros(t)
	}
	_, err := tx.Exec(`INSERT INTO peer_mark (tenant, seat, seq, surfaced_at, read_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (tenant, seat, seq) DO UPDATE SET
		surfaced_at = CASE WHEN peer_mark.surfaced_at = 0 THEN excluded.surfaced_at ELSE peer_mark.surfaced_at END,
		read_at = CASE WHEN peer_mark.read_at = 0 THEN excluded.read_at ELSE peer_mark.read_at END`,
		s.tenant, s.id, seq, at(surfaced), at(read))
	return err
}
