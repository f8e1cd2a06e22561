package space

import (
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space/seal"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this room.
var Migrations = db.Migrations{Room: "space", FS: schema}

// The states of a hosted space.
const (
	stateOpen    = "open"
	stateStepped = "stepped_down"
)

// row is a space as stored.
type row struct {
	id, hash, creator, state, moved string
	ended                           string // the take-overs that ended this hosting, as JSON
	epoch, term, seq                int64
	max, perMinute                  int64
}

const spaceColumns = "id, hash, creator, state, moved_to, ended, epoch, term, seq, max_members, per_minute"

type scanner interface{ Scan(...any) error }

func scanSpace(s scanner) (*row, error) {
	var r row
	err := s.Scan(&r.id, &r.hash, &r.creator, &r.state, &r.moved, &r.ended, &r.epoch, &r.term, &r.seq, &r.max, &r.perMinute)
	return &r, err
}

func notFound(space string) error {
	return fault.New(fault.NotFound, "space", "there is no space %s here", space).WithNext("list the spaces you are in: tandem space list")
}

// lock reads a space for change.
func lock(tx *db.Tx, tenant, space string) (*row, error) {
	r, err := scanSpace(tx.QueryRow("SELECT "+spaceColumns+" FROM space WHERE tenant = ? AND id = ?"+tx.ForUpdate(), tenant, space))
	if db.NoRows(err) {
		return nil, notFound(space)
	}
	return r, err
}

// Member is a member as the host knows it.
type Member struct {
	seal.Card
	Seq     uint64     `json:"seq"`
	Joined  time.Time  `json:"joined_at"`
	Left    *time.Time `json:"left_at,omitempty"`
	Removed *time.Time `json:"removed_at,omitempty"`
	Seen    *time.Time `json:"seen_at,omitempty"`
}

// Present reports whether the member was heard of lately.
func (m *Member) Present(now time.Time) bool {
	return m.Left == nil && m.Removed == nil && m.Seen != nil && now.Sub(*m.Seen) < PresentFor
}

const memberColumns = "id, sign, box, seq, joined_at, left_at, removed_at, seen_at"

func scanMember(s scanner) (*Member, error) {
	var m Member
	var seq, joined, left, removed, seen int64
	if err := s.Scan(&m.ID, &m.Sign, &m.Box, &seq, &joined, &left, &removed, &seen); err != nil {
		return nil, err
	}
	m.Seq, m.Joined = uint64(seq), db.Time(joined)
	m.Left, m.Removed, m.Seen = optional(left), optional(removed), optional(seen)
	return &m, nil
}

func optional(micros int64) *time.Time {
	if micros == 0 {
		return nil
	}
	t := db.Time(micros)
	return &t
}

func member(tx *db.Tx, tenant, space string, id seal.MemberID) (*Member, error) {
	m, err := scanMember(tx.QueryRow("SELECT "+memberColumns+" FROM space_member WHERE tenant = ? AND space = ? AND id = ?"+tx.ForUpdate(),
		tenant, space, id))
	if db.NoRows(err) {
		return nil, nil
	}
	return m, err
}

func scanEntry(s scanner) (*Entry, error) {
	var e Entry
	var env, facts string
	if err := s.Scan(&e.Seq, &e.Term, &e.At, &e.Class, &env, &facts, &e.Hash); err != nil {
		return nil, err
	}
	if facts != "" {
		e.Facts = json.RawMessage(facts)
	}
	if env != "" {
		e.Env = new(seal.Envelope)
		if err := json.Unmarshal([]byte(env), e.Env); err != nil {
			return nil, fmt.Errorf("read stored envelope %d: %w", e.Seq, err)
		}
	}
	return &e, nil
}

const entryColumns = "seq, term, at, class, envelope, facts, hash"

// append writes e as the space's next entry and moves its head.
func (r *row) append(tx *db.Tx, tenant string, e *Entry) error {
	e.Seq, e.Term, e.At = r.seq+1, r.term, db.Micros(tx.Now())
	e.Hash = e.Chain(r.hash)
	return r.keep(tx, tenant, e)
}

// keep stores an entry that is complete, and moves the head to it.
func (r *row) keep(tx *db.Tx, tenant string, e *Entry) error {
	var env, sender string
	id := fmt.Sprintf("host/%d", e.Seq)
	if e.Env != nil {
		b, err := json.Marshal(e.Env)
		if err != nil {
			return fmt.Errorf("write envelope: %w", err)
		}
		env, sender, id = string(b), string(e.Env.From), e.Env.ID
	}
	if _, err := tx.Exec("INSERT INTO space_log (tenant, space, seq, term, at, class, sender, env, envelope, facts, hash) VALUES (?, ?, "+
		"?, ?, ?, ?, ?, ?, ?, ?, ?)",
		tenant, r.id, e.Seq, e.Term, e.At, e.Class, sender, id, env, string(e.Facts), e.Hash); err != nil {
		return err
	}
	r.seq, r.hash = e.Seq, e.Hash
	_, err := tx.Exec("UPDATE space SET seq = ?, hash = ?, epoch = ?, term = ? WHERE tenant = ? AND id = ?", r.seq, r.hash, r.epoch, r.term,
		tenant, r.id)
	return err
}

func entryByEnv(tx *db.Tx, tenant, space, env string) (*Entry, error) {
	e, err := scanEntry(tx.QueryRow("SELECT "+entryColumns+" FROM space_log WHERE tenant = ? AND space = ? AND env = ?", tenant, space, env))
	if db.NoRows(err) {
		return nil, nil
	}
	return e, err
}

func collectMembers(rows *sql.Rows, err error) ([]*Member, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (*Member, error) { return scanMember(rows) })
}
