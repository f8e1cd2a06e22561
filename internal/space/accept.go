package space

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space/seal"
)

// Accepted is the host's answer to an envelope.
type Accepted struct {
	Space string `json:"space"`
	ID    string `json:"id"`
	Seq   int64  `json:"seq"`
	Hash  string `json:"hash"`
	Epoch int64  `json:"epoch"`
	At    int64  `json:"at"`
	Again bool   `json:"again,omitempty"` // it was here already; nothing was done twice
}

// Accept checks an envelope of one of the given classes and appends it to the
// log, in the caller's transaction. rules runs between the check and the append
// and may refuse; what it returns becomes the entry's facts. An envelope that
// is in the log already is answered as it was the first time.
func (r *Room) Accept(tx *db.Tx, tenant string, env *seal.Envelope, classes []string, rules func(at time.Time) (any, error)) (Accepted,
	error) {
	var none Accepted
	if env == nil {
		return none, fault.New(fault.Invalid, "space.post", "the envelope is missing")
	}
	if !slices.Contains(classes, env.Class) {
		return none, fault.New(fault.Invalid, "space.post", "an envelope of class %q does not belong here", clip(env.Class))
	}
	s, err := lock(tx, tenant, env.Space)
	if err != nil {
		return none, err
	}
	from, err := r.sender(tx, tenant, s, env)
	if err != nil {
		return none, err
	}
	hash := env.Hash()
	if old, err := entryByEnv(tx, tenant, s.id, env.ID); err != nil {
		return none, err
	} else if old != nil {
		if old.Env == nil || old.Env.Hash() != hash {
			return none, fault.New(fault.Conflict, "space.post", "%s was used for another envelope", clip(env.ID))
		}
		return Accepted{s.id, env.ID, old.Seq, old.Hash, s.epoch, old.At, true}, nil
	}
	if err := r.fits(tx, tenant, s, from, env); err != nil {
		return none, err
	}
	e := &Entry{Class: env.Class, Env: env}
	if rules != nil {
		facts, err := rules(tx.Now())
		if err != nil {
			return none, err
		}
		if facts != nil {
			if e.Facts, err = json.Marshal(facts); err != nil {
				return none, err
			}
		}
	}
	if env.Class == ClassCommit {
		if err := r.commit(tx, tenant, s, env); err != nil {
			return none, err
		}
	}
	if err := s.append(tx, tenant, e); err != nil {
		return none, err
	}
	if _, err := tx.Exec("UPDATE space_member SET seq = ?, seen_at = ? WHERE tenant = ? AND space = ? AND id = ?",
		int64(env.Seq), tx.Now(), tenant, s.id, env.From); err != nil {
		return none, err
	}
	tx.AfterCommit(func() { r.changed(tenant, s.id) })
	return Accepted{Space: s.id, ID: env.ID, Seq: e.Seq, Hash: e.Hash, Epoch: s.epoch, At: e.At}, nil
}

// sender finds the member who signed, and refuses everybody else. A stranger
// learns nothing about the space.
func (r *Room) sender(tx *db.Tx, tenant string, s *row, env *seal.Envelope) (*Member, error) {
	m, err := member(tx, tenant, s.id, env.From)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, notFound(s.id)
	}
	if err := env.Verify(s.id, m.Card); err != nil {
		return nil, refused("space.post", err)
	}
	if m.Removed != nil || m.Left != nil {
		return nil, fault.New(fault.Denied, "space.post", "%s is no longer a member of this space", m.ID).
			WithNext("ask a member for a new invite and join again")
	}
	return m, nil
}

func refused(at string, err error) error {
	switch {
	case errors.Is(err, seal.ErrRefused):
		return fault.New(fault.Invalid, at, "%s", err)
	case err == nil:
		return nil
	}
	return err
}

// fits checks term, epoch, sequence, addressee and rate.
func (r *Room) fits(tx *db.Tx, tenant string, s *row, from *Member, env *seal.Envelope) error {
	if s.state != stateOpen {
		return steppedDown(s)
	}
	if env.Epoch != uint64(s.epoch) {
		return fault.New(fault.Conflict, "space.post", "the envelope is sealed for epoch %d, the space is at %d", env.Epoch, s.epoch).
			With("reason", "epoch")
	}
	if env.Seq != from.Seq+1 {
		return fault.New(fault.Conflict, "space.post", "%s's next number is %d, not %d", from.ID, from.Seq+1, env.Seq).With("reason", "sequence")
	}
	if err := seen(tx, tenant, s, env); err != nil {
		return err
	}
	if env.To != "" {
		to, err := member(tx, tenant, s.id, env.To)
		if err != nil {
			return err
		}
		if to == nil || to.Removed != nil || to.Left != nil {
			return fault.New(fault.NotFound, "space.post", "%s is not a member of this space", env.To).WithNext("see who is: intandem_peers")
		}
	}
	return r.rate(tx, tenant, s, env)
}

// seen refuses an envelope whose sender had seen another history than this one: the others would take the host for a liar.
func seen(tx *db.Tx, tenant string, s *row, env *seal.Envelope) error {
	have := s.hash
	switch {
	case env.SeenSeq == 0:
		return nil
	case env.SeenSeq < s.seq:
		err := tx.QueryRow("SELECT hash FROM space_log WHERE tenant = ? AND space = ? AND seq = ?", tenant, s.id, env.SeenSeq).Scan(&have)
		if err != nil && !db.NoRows(err) {
			return err
		}
	case env.SeenSeq > s.seq:
		have = ""
	}
	if have != env.Seen {
		return fault.New(fault.Conflict, "space.post", "%s has seen another entry %d than this host's", env.From, env.SeenSeq).
			With("reason", "seen").WithNext("compare safety phrases with the other members")
	}
	return nil
}

func steppedDown(s *row) error {
	e := fault.New(fault.Unavailable, "space", "this space is hosted elsewhere since term %d", s.term).With("reason", "moved").
		WithNext("your daemon finds the new host by itself; try again in a moment")
	if s.moved != "" {
		e = e.With("host", s.moved)
	}
	return e
}

// rate keeps the published limit on messages and a wide one on the rest.
func (r *Room) rate(tx *db.Tx, tenant string, s *row, env *seal.Envelope) error {
	since := tx.Now().Add(-time.Minute)
	var n, limit int64
	var err error
	switch env.Class {
	case ClassLeave, ClassTakeOver:
		return nil
	case ClassMessage:
		limit = s.perMinute
		err = tx.QueryRow("SELECT count(*) FROM space_log WHERE tenant = ? AND space = ? AND sender = ? AND at > ? AND class = ?",
			tenant, s.id, env.From, since, ClassMessage).Scan(&n)
	default:
		limit = max(otherPerMinute, s.perMinute)
		err = tx.QueryRow("SELECT count(*) FROM space_log WHERE tenant = ? AND space = ? AND sender = ? AND at > ?",
			tenant, s.id, env.From, since).Scan(&n)
	}
	if err == nil && n >= limit {
		err = fault.New(fault.Exhausted, "space.post", "%d a minute is the limit in this space, and it is used up", limit).With("reason", "rate").
			WithNext("wait a minute, or say more in one message")
	}
	return err
}

// commit applies what a commit says about members. That it says the truth is
// checked by the members, who can open it.
func (r *Room) commit(tx *db.Tx, tenant string, s *row, env *seal.Envelope) error {
	var c CommitClear
	if err := Clear(env, &c); err != nil {
		return err
	}
	if len(c.Commit) == 0 {
		return fault.New(fault.Invalid, "space.commit", "the commit is missing")
	}
	may, err := keeper(tx, tenant, s)
	if err != nil {
		return err
	}
	for _, id := range c.Remove {
		m, err := member(tx, tenant, s.id, id)
		if err != nil {
			return err
		}
		if m == nil {
			return fault.New(fault.NotFound, "space.commit", "%s is not a member of this space", id)
		}
		if m.Removed != nil {
			continue // by a commit that did not hold: the host cannot know, and the members still have to put it out
		}
		if m.Left == nil && string(env.From) != may {
			return fault.New(fault.Denied, "space.commit", "only %s, who keeps this space, may remove a member that did not leave", may).
				WithNext("ask %s", may)
		}
		if _, err := tx.Exec("UPDATE space_member SET removed_at = ? WHERE tenant = ? AND space = ? AND id = ?", tx.Now(), tenant, s.id,
			id); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM space_lease WHERE tenant = ? AND space = ? AND holder = ?", tenant, s.id, id); err != nil {
			return err
		}
	}
	for _, card := range c.Add {
		if err := r.add(tx, tenant, s, card); err != nil {
			return err
		}
	}
	s.epoch++
	op.Note(tx.Context(), "epoch", s.epoch)
	return nil
}

// keeper is who may remove others: the space's creator, or, when that one is gone, the member who has been there longest. Somebody always
// can.
func keeper(tx *db.Tx, tenant string, s *row) (id string, err error) {
	err = tx.QueryRow(`SELECT id FROM space_member WHERE tenant = ? AND space = ? AND left_at = 0 AND removed_at = 0
		ORDER BY CASE WHEN id = ? THEN 0 ELSE 1 END, place, joined_at, id LIMIT 1`, tenant, s.id, s.creator).Scan(&id)
	return id, err
}

func (r *Room) add(tx *db.Tx, tenant string, s *row, card seal.Card) error {
	if err := card.Check(); err != nil {
		return refused("space.commit", err)
	}
	var n int64
	if err := tx.QueryRow("SELECT count(*) FROM space_member WHERE tenant = ? AND space = ? AND removed_at = 0", tenant, s.id).
		Scan(&n); err != nil {
		return err
	}
	if n >= s.max {
		return fault.New(fault.Exhausted, "space.commit", "the space is full: %d members", s.max).With("reason", "full").
			WithNext("ask its creator to raise the limit or to remove somebody")
	}
	_, err := tx.Exec("INSERT INTO space_member (tenant, space, id, sign, box, seq, joined_at, left_at, removed_at, seen_at, place) VALUES "+
		"(?, ?, ?, ?, ?, 0, ?, 0, 0, ?, ?)",
		tenant, s.id, card.ID, card.Sign, card.Box, tx.Now(), tx.Now(), s.seq+1)
	if db.Exists(err) {
		return fault.New(fault.Conflict, "space.commit", "%s was a member before: a newcomer needs a new identity", card.ID)
	}
	return err
}

// HostEntry appends an entry of the host's own.
func (r *Room) HostEntry(tx *db.Tx, tenant, space, class string, facts any) error {
	s, err := lock(tx, tenant, space)
	if err != nil {
		return err
	}
	if s.state != stateOpen {
		return steppedDown(s)
	}
	b, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	tx.AfterCommit(func() { r.changed(tenant, space) })
	return s.append(tx, tenant, &Entry{Class: class, Facts: b})
}

func clip(s string) string { return fault.Clip(s, 40) }
