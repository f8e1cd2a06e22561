package peer

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this room.
var Migrations = db.Migrations{Room: "peer", FS: schema}

// saveSeat writes what a seat is; its secrets are one sealed value, which is
// written only when it changed. How far it came is also told by its log.
func (r *Room) saveSeat(tx *db.Tx, s *seat) error {
	if !s.dirty {
		_, err := tx.Exec("UPDATE peer_seat SET owner = ?, folder = ?, state = ?, why = ?, host = ?, pin = ?, seq = ?, hash = ?, term = ?, "+
			"updated_at = ? WHERE tenant = ? AND id = ?",
			s.owner, s.folder, s.state, s.why, s.host, s.pin, s.seq, s.hash, s.term, tx.Now(), s.tenant, s.id)
		return err
	}
	tx.AfterCommit(func() { s.dirty = false })
	plain, err := json.Marshal(s.sec)
	if err != nil {
		return fmt.Errorf("write seat: %w", err)
	}
	box, err := r.key.Wrap("seat", []byte(s.id), plain)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO peer_seat (tenant, id, owner, space, folder, state, why, host, pin, seq, hash, term, joined_seq,
		secrets, created_at, updated_at, home)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, id) DO UPDATE SET owner = excluded.owner, folder = excluded.folder, state = excluded.state,
		why = excluded.why, host = excluded.host,
		pin = excluded.pin, seq = excluded.seq, hash = excluded.hash, term = excluded.term, secrets = excluded.secrets,
		updated_at = excluded.updated_at`,
		s.tenant, s.id, s.owner, s.space, s.folder, s.state, s.why, s.host, s.pin, s.seq, s.hash, s.term, s.joined, box, tx.Now(), tx.Now(),
		r.home)
	return err
}

// saveNote keeps an entry and, sealed, the words that could be opened: one row,
// since every seat writes one for each message. What is not a message to this
// member counts as read.
func (r *Room) saveNote(tx *db.Tx, s *seat, n note) error {
	e := n.entry
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write entry: %w", err)
	}
	env, from, to := fmt.Sprintf("host/%d", e.Seq), "", ""
	if e.Env != nil {
		env, from, to = e.Env.ID, string(e.Env.From), string(e.Env.To)
	}
	var box []byte
	if n.content != nil {
		if box, err = r.key.Wrap("note", []byte(s.id+"/"+env), n.content); err != nil {
			return err
		}
	}
	read := e.At
	if s.mail(n) {
		read = 0
	}
	if _, err := tx.Exec("INSERT INTO peer_entry (tenant, seat, seq, env, class, sender, recipient, at, entry, content, surfaced_at, "+
		"read_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		s.tenant, s.id, e.Seq, env, e.Class, from, to, e.At, string(text), box, read, read); err != nil {
		return err
	}
	if from == string(s.me.Card().ID) {
		return r.saveOwn(tx, s, e)
	}
	return r.keepMarks(tx, s, n.marks())
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
	_, err := tx.Exec("INSERT INTO peer_said (tenant, seat, env, seq, recipient) VALUES (?, ?, ?, ?, ?)", s.tenant, s.id, e.Env.ID, e.Seq,
		e.Env.To)
	return err
}

const seatColumns = "tenant, id, owner, space, folder, state, why, host, pin, seq, hash, term, joined_seq, secrets, created_at"

// readSeat restores a seat by playing its own verified copy of the log.
func (r *Room) readSeat(ctx context.Context, row interface{ Scan(...any) error }) (*seat, error) {
	s := newSeat("", "", "", "")
	var box []byte
	var created int64
	if err := row.Scan(&s.tenant, &s.id, &s.owner, &s.space, &s.folder, &s.state, &s.why, &s.host, &s.pin, &s.seq, &s.hash, &s.term, &s.joined,
		&box, &created); err != nil {
		return nil, err
	}
	s.created = db.Time(created)
	plain, err := r.key.Unwrap("seat", []byte(s.id), box)
	if err != nil {
		return nil, fmt.Errorf("open the keys of seat %s: %w", s.id, err)
	}
	if err := json.Unmarshal(plain, &s.sec); err != nil {
		return nil, fmt.Errorf("read the keys of seat %s: %w", s.id, err)
	}
	if s.me, err = seal.IdentityFromSeed(s.sec.Seed); err != nil {
		return nil, err
	}
	if s.group, err = seal.OpenGroup(s.me, s.sec.Group); err != nil {
		return nil, err
	}
	s.link = r.linkTo(s)
	return s, r.replay(ctx, s)
}

// replay folds the stored log. It was verified when it was stored.
func (r *Room) replay(ctx context.Context, s *seat) error {
	rows, err := r.db.Query(ctx, "SELECT entry, env, content, surfaced_at, read_at FROM peer_entry WHERE tenant = ? AND seat = ? ORDER BY seq",
		s.tenant, s.id)
	if err != nil {
		return err
	}
	defer rows.Close()
	var said []mark
	for rows.Next() {
		var text, env string
		var box, content []byte
		var surfaced, read int64
		if err := rows.Scan(&text, &env, &box, &surfaced, &read); err != nil {
			return err
		}
		var e space.Entry
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return fmt.Errorf("read a stored entry: %w", err)
		}
		if box != nil {
			if content, err = r.key.Unwrap("note", []byte(s.id+"/"+env), box); err != nil {
				return err
			}
		}
		if e.Env != nil {
			s.window[e.Env.From] = e.Env.Seq
		}
		if err := s.fold(&e, content); err != nil {
			return err
		}
		if e.Class == space.ClassReceipt {
			said = append(said, note{entry: &e}.marks()...)
		}
		if read == 0 {
			s.unread.add(e.Seq)
			if surfaced == 0 { // nobody was woken for it yet, or it is forgotten
				s.wakes.add(env)
			}
		}
		s.trail.add(&e)
		s.seq, s.hash, s.term = e.Seq, e.Hash, e.Term // the log itself says how far this seat came
		if e.Seq == s.joined {
			s.base()
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := rows.Close(); err != nil {
		return err
	}
	return r.fillMarks(ctx, s, said)
}

// reload throws away what is in memory and reads the seat again.
func (r *Room) reload(ctx context.Context, s *seat) error {
	fresh, err := r.readSeat(context.WithoutCancel(ctx),
		r.db.QueryRow(context.WithoutCancel(ctx), "SELECT "+seatColumns+" FROM peer_seat WHERE tenant = ? AND id = ?", s.tenant, s.id))
	if err != nil {
		return fmt.Errorf("read seat %s again: %w", s.id, err)
	}
	s.state, s.why, s.seq, s.hash, s.term, s.sec, s.group = fresh.state, fresh.why, fresh.seq, fresh.hash, fresh.term, fresh.sec, fresh.group
	s.host, s.pin, s.trail, s.keyed, s.brought = fresh.host, fresh.pin, fresh.trail, fresh.keyed, fresh.brought
	s.cards, s.order, s.gone, s.creator, s.terms, s.heir, s.window, s.board, s.words = fresh.cards, fresh.order, fresh.gone, fresh.creator,
		fresh.terms, fresh.heir, fresh.window, fresh.board, fresh.words
	s.vars, s.paths, s.profiles, s.findings, s.posted, s.unread = fresh.vars, fresh.paths, fresh.profiles, fresh.findings, fresh.posted,
		fresh.unread
	return nil
}

// item is a stored message, opened.
type item struct {
	Seq              int64
	ID, From, To     string
	At               int64
	Surfaced, ReadAt int64
	Words            Words
}

func (r *Room) messages(ctx context.Context, s *seat, where string, limit int, args ...any) ([]item, error) {
	rows, err := r.db.Query(ctx, "SELECT seq, env, sender, recipient, at, surfaced_at, read_at, content FROM peer_entry WHERE tenant = ? "+
		"AND seat = ? AND class = ? AND content IS NOT NULL AND "+where+" LIMIT ?",
		append(append([]any{s.tenant, s.id, space.ClassMessage}, args...), limit)...)
	return db.Collect(rows, err, func(rows *sql.Rows) (item, error) {
		var i item
		var box []byte
		if err := rows.Scan(&i.Seq, &i.ID, &i.From, &i.To, &i.At, &i.Surfaced, &i.ReadAt, &box); err != nil {
			return i, err
		}
		content, err := r.key.Unwrap("note", []byte(s.id+"/"+i.ID), box)
		i.Words = wordsOf(content)
		return i, err
	})
}

// hashAt is the hash of an entry in this seat's copy of the log.
func (r *Room) hashAt(ctx context.Context, s *seat, seq int64) (string, error) {
	var text string
	if err := r.db.QueryRow(ctx, "SELECT entry FROM peer_entry WHERE tenant = ? AND seat = ? AND seq = ?", s.tenant, s.id, seq).
		Scan(&text); err != nil {
		return "", fmt.Errorf("read entry %d: %w", seq, err)
	}
	var e space.Entry
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return "", fmt.Errorf("read entry %d: %w", seq, err)
	}
	return e.Hash, nil
}
