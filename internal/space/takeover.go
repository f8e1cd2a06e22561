package space

import (
	"context"
	"encoding/json"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space/seal"
)

// StartFacts are the facts of a space's first entry.
type StartFacts struct {
	Space     string    `json:"space"`
	Creator   seal.Card `json:"creator"`
	Members   int64     `json:"max_members"`
	PerMinute int64     `json:"messages_per_minute"`
}

// Adopt makes this daemon the host of a space whose host is gone: it plays a
// member's verified copy of the log and appends that member's take-over, which
// begins a new term. An earlier hosting of the same space here is replaced when
// its term is lower; one that is at the same entry goes on with the new term.
func (r *Room) Adopt(tx *db.Tx, tenant, space string, entries []*Entry, env *seal.Envelope) (Accepted, error) {
	var none Accepted
	if env == nil || env.Class != ClassTakeOver || len(entries) == 0 {
		return none, fault.New(fault.Invalid, "space.adopt", "a take-over needs the space's log and a member's word")
	}
	var c TakeOverClear
	if err := Clear(env, &c); err != nil {
		return none, err
	}
	last := entries[len(entries)-1]
	if c.Seq != last.Seq || c.Hash != last.Hash || c.Term <= last.Term {
		return none, fault.New(fault.Invalid, "space.adopt", "the take-over does not continue this log")
	}
	s, err := r.succeed(tx, tenant, space, entries, c)
	if err != nil {
		return none, err
	}
	from, err := r.sender(tx, tenant, s, env)
	if err != nil {
		return none, err
	}
	if err := r.fits(tx, tenant, s, from, env); err != nil {
		return none, err
	}
	s.term, s.creator = c.Term, string(env.From)
	e := &Entry{Class: ClassTakeOver, Env: env}
	if err := s.append(tx, tenant, e); err != nil {
		return none, err
	}
	// Who is there shows when they come: a host that takes whoever it saw before for present looks for no other one.
	if _, err := tx.Exec("UPDATE space_member SET seen_at = 0 WHERE tenant = ? AND space = ?", tenant, space); err != nil {
		return none, err
	}
	if _, err := tx.Exec("UPDATE space_member SET seq = ?, seen_at = ? WHERE tenant = ? AND space = ? AND id = ?", int64(env.Seq), tx.Now(),
		tenant, space, env.From); err != nil {
		return none, err
	}
	_, err = tx.Exec("UPDATE space SET creator = ? WHERE tenant = ? AND id = ?", s.creator, tenant, space)
	tx.AfterCommit(func() {
		r.unsee(tenant, space)
		r.changed(tenant, space)
	})
	return Accepted{Space: space, ID: env.ID, Seq: e.Seq, Hash: e.Hash, Epoch: s.epoch, At: e.At}, err
}

// succeed makes the space's tables ready for the term that c begins behind the
// last of entries.
func (r *Room) succeed(tx *db.Tx, tenant, space string, entries []*Entry, c TakeOverClear) (*row, error) {
	old, err := lock(tx, tenant, space)
	if fault.Is(err, fault.NotFound) {
		return r.play(tx, tenant, space, entries)
	}
	if err != nil {
		return nil, err
	}
	if old.state == stateOpen {
		if old.term >= c.Term {
			return nil, fault.New(fault.Conflict, "space.adopt", "this daemon hosts the space already, at term %d", old.term)
		}
		if old.seq == c.Seq && old.hash == c.Hash {
			return old, nil
		}
		var hash string
		err := tx.QueryRow("SELECT hash FROM space_log WHERE tenant = ? AND space = ? AND seq = ?", tenant, space, c.Seq).Scan(&hash)
		if err == nil && hash == c.Hash { // somebody was acknowledged meanwhile, and must not be cut off
			return nil, fault.New(fault.Conflict, "space.adopt", "the space has gone on to entry %d", old.seq).With("reason", "sequence")
		}
		if err != nil && !db.NoRows(err) {
			return nil, err
		}
	}
	for _, table := range []string{"space", "space_member", "space_log", "space_lease", "space_lease_above"} {
		column := "space"
		if table == "space" {
			column = "id"
		}
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND "+column+" = ?", tenant, space); err != nil {
			return nil, err
		}
	}
	return r.play(tx, tenant, space, entries)
}

// play rebuilds a space's tables from its log, checking chain and signatures.
func (r *Room) play(tx *db.Tx, tenant, space string, entries []*Entry) (*row, error) {
	var f StartFacts
	if err := json.Unmarshal(entries[0].Facts, &f); err != nil || entries[0].Class != "host.start" || f.Space != space {
		return nil, fault.New(fault.Invalid, "space.adopt", "the log does not begin with the space's start")
	}
	s := &row{id: space, creator: string(f.Creator.ID), state: stateOpen, term: 1, max: f.Members, perMinute: f.PerMinute}
	if _, err := tx.Exec("INSERT INTO space (tenant, id, epoch, term, seq, hash, creator, max_members, per_minute, state, moved_to, "+
		"created_at) VALUES (?, ?, 0, 1, 0, '', ?, ?, ?, ?, '', ?)",
		tenant, s.id, s.creator, s.max, s.perMinute, s.state, db.Time(entries[0].At)); err != nil {
		return nil, err
	}
	if err := r.add(tx, tenant, s, f.Creator); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := e.Follow(s.seq, s.hash, s.term); err != nil {
			return nil, err
		}
		s.term = e.Term
		if e.Env != nil {
			m, err := r.sender(tx, tenant, s, e.Env)
			if err != nil {
				return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
			}
			if e.Env.Seq != m.Seq+1 {
				return nil, fault.New(fault.Invalid, "space.adopt", "entry %d is out of its sender's order", e.Seq)
			}
			if err := r.replayed(tx, tenant, s, e); err != nil {
				return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
			}
			if _, err := tx.Exec("UPDATE space_member SET seq = ? WHERE tenant = ? AND space = ? AND id = ?", int64(e.Env.Seq), tenant, s.id,
				e.Env.From); err != nil {
				return nil, err
			}
		}
		if err := s.keep(tx, tenant, e); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// replayed does to the tables what an entry did when it was accepted.
func (r *Room) replayed(tx *db.Tx, tenant string, s *row, e *Entry) error {
	switch e.Class {
	case ClassCommit:
		return r.commit(tx, tenant, s, e.Env)
	case ClassLeave:
		_, err := tx.Exec("UPDATE space_member SET left_at = ? WHERE tenant = ? AND space = ? AND id = ?", db.Time(e.At), tenant, s.id,
			e.Env.From)
		if err == nil {
			_, err = tx.Exec("DELETE FROM space_lease WHERE tenant = ? AND space = ? AND holder = ?", tenant, s.id, e.Env.From)
		}
		return err
	case ClassReserve, ClassShared:
		var f LeaseFacts
		if err := json.Unmarshal(e.Facts, &f); err != nil {
			return err
		}
		var c LeaseClear
		if err := Clear(e.Env, &c); err != nil {
			return err
		}
		return keepLease(tx, tenant, e.Env, f, c.Above)
	case ClassRelease:
		_, err := release(tx, tenant, e.Env)
		return err
	case ClassTakeOver:
		s.creator = string(e.Env.From)
	}
	return nil
}

// HandOverIn names the member whose machine is to host the space next, and takes the leave of who names it.
type HandOverIn struct {
	Space string         `json:"space"`
	To    seal.MemberID  `json:"to"`
	Leave *seal.Envelope `json:"leave"`
	Proof Proof          `json:"proof"`
}

// HandOverFacts are the host's word about who is next.
type HandOverFacts struct {
	To seal.MemberID `json:"to"`
}

// handOver writes into the log that a member leaves and who hosts next. The leave comes first: the heir may take over from
// the very entry that names it, and what the old host writes behind that is cut off.
func (r *Room) handOver(ctx context.Context, tx *db.Tx, in HandOverIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	s, err := lock(tx, tenant, in.Space)
	if err != nil {
		return OK{}, err
	}
	if err := proven(tx, tenant, in.Space, "space.hand_over", in.Proof, in); err != nil {
		return OK{}, err
	}
	if m, err := member(tx, tenant, in.Space, in.To); err != nil {
		return OK{}, err
	} else if m == nil || m.Removed != nil || m.Left != nil || in.To == in.Proof.Member {
		return OK{}, fault.New(fault.NotFound, "space.hand_over", "%s is not another member of this space", clip(string(in.To)))
	}
	if in.Leave == nil || in.Leave.Class != ClassLeave || in.Leave.From != in.Proof.Member || in.Leave.Space != in.Space {
		return OK{}, fault.New(fault.Invalid, "space.hand_over", "whoever hands a space over leaves it, and the leave is missing")
	}
	if _, err := r.post(ctx, tx, PostIn{Envelope: in.Leave}); err != nil {
		return OK{}, err
	}
	op.Note(ctx, "to", in.To)
	return OK{true}, r.HostEntry(tx, tenant, s.id, ClassHandOver, HandOverFacts{To: in.To})
}

// StepDownIn shows an old host that a member took over.
type StepDownIn struct {
	Envelope *seal.Envelope   `json:"envelope"`
	Host     string           `json:"host,omitempty" jsonschema:"where the new host is"`
	Earlier  []*seal.Envelope `json:"earlier,omitempty" jsonschema:"the take-overs before it: one of them began at an entry that this host has"`
}

// maxEnded is how much of the take-overs that ended a hosting is kept: some fifty of them. It goes out with every pull, and a
// member may add to it what it likes.
const maxEnded = 64 << 10

// stepDown ends a hosting whose term is over. The proof is a member's signed
// take-over of a higher term.
func (r *Room) stepDown(ctx context.Context, tx *db.Tx, in StepDownIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	if in.Envelope == nil || in.Envelope.Class != ClassTakeOver {
		return OK{}, fault.New(fault.Invalid, "space.step_down", "a take-over is missing")
	}
	if len(in.Host) > 300 { // a name and a port
		return OK{}, fault.New(fault.Invalid, "space.step_down", "%s is not an address", clip(in.Host))
	}
	s, err := lock(tx, tenant, in.Envelope.Space)
	if err != nil {
		return OK{}, err
	}
	if _, err := r.sender(tx, tenant, s, in.Envelope); err != nil {
		return OK{}, err
	}
	var c TakeOverClear
	if err := Clear(in.Envelope, &c); err != nil {
		return OK{}, err
	}
	if c.Term <= s.term {
		return OK{}, fault.New(fault.Conflict, "space.step_down", "term %d is not higher than %d", c.Term, s.term)
	}
	// A seat of this very daemon has followed the new host, entry by entry.
	if c := op.CallerFrom(ctx); c.Door != op.DoorInside || c.Kind != op.Service {
		if err := r.leadsFrom(tx, tenant, s, append(in.Earlier, in.Envelope)); err != nil {
			return OK{}, err
		}
	}
	op.Note(ctx, "term", c.Term)
	op.Note(ctx, "moved_to", in.Host)
	ended, err := json.Marshal(append(in.Earlier, in.Envelope))
	if err != nil {
		return OK{}, err
	}
	if len(ended) > maxEnded {
		ended = nil
	}
	_, err = tx.Exec("UPDATE space SET state = ?, moved_to = ?, ended = ? WHERE tenant = ? AND id = ?", stateStepped, in.Host, string(ended),
		tenant, s.id)
	tx.AfterCommit(func() { r.changed(tenant, s.id) })
	return OK{err == nil}, err
}

// leadsFrom checks that one of a line of take-overs began at an entry of this
// host's own history; otherwise the word is not about this space.
func (r *Room) leadsFrom(tx *db.Tx, tenant string, s *row, line []*seal.Envelope) error {
	for _, env := range line {
		var c TakeOverClear
		if env == nil || env.Class != ClassTakeOver || Clear(env, &c) != nil {
			continue
		}
		if _, err := r.sender(tx, tenant, s, env); err != nil {
			continue
		}
		var hash string
		err := tx.QueryRow("SELECT hash FROM space_log WHERE tenant = ? AND space = ? AND seq = ?", tenant, s.id, c.Seq).Scan(&hash)
		if err == nil && hash == c.Hash {
			return nil
		}
		if err != nil && !db.NoRows(err) {
			return err
		}
	}
	return fault.New(fault.Conflict, "space.step_down", "the take-over does not continue this host's history")
}

// Log is a hosted space's whole log, for package board to play.
func (r *Room) Log(tx *db.Tx, tenant, space string, each func(*Entry) error) error {
	for after := int64(0); ; {
		rows, err := tx.Query("SELECT "+entryColumns+" FROM space_log WHERE tenant = ? AND space = ? AND seq > ? ORDER BY seq LIMIT 1000", tenant,
			space, after)
		if err != nil {
			return err
		}
		var page []*Entry
		for rows.Next() {
			e, err := scanEntry(rows)
			if err != nil {
				rows.Close()
				return err
			}
			page = append(page, e)
		}
		if err := rows.Close(); err != nil {
			return err
		}
		for _, e := range page {
			if err := each(e); err != nil {
				return err
			}
			after = e.Seq
		}
		if len(page) < 1000 {
			return nil
		}
	}
}
