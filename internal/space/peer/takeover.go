package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// takeOver makes this daemon the space's host because a person says that the
// old one is gone: only while it does not answer. The caller holds s.mu.
func (r *Room) takeOver(ctx context.Context, s *seat) error {
	if s.state != active && s.state != broken {
		return s.usable()
	}
	gone := s.away() // the loop has tried a moment ago
	if !gone {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		gone = r.sync(try, s, 0) != nil
		cancel()
	}
	if !gone {
		return fault.New(fault.Conflict, "space.take_over", "the space's host answers; there is nothing to take over").WithNext("ask its owner to stop it first: tandem down")
	}
	if s.state == removed {
		return s.usable()
	}
	if r.found(ctx, s) {
		return fault.New(fault.Conflict, "space.take_over", "somebody else has taken over already, and this machine follows: %s, term %d", s.host, s.term).WithNext("see it: tandem space list")
	}
	return r.host(ctx, s)
}

// host makes this daemon the space's host, with a term above the old one, from
// this seat's copy of the log. The caller holds s.mu.
func (r *Room) host(ctx context.Context, s *seat) error {
	entries, err := r.entries(ctx, s)
	if err != nil {
		return err
	}
	said := space.TakeOverClear{Term: s.term + 1, Seq: s.seq, Hash: s.hash}
	clear, err := json.Marshal(said)
	if err != nil {
		return err
	}
	env, err := s.seal(thing{id: fmt.Sprintf("env_takeover_%d_%s", said.Term, s.id), class: space.ClassTakeOver}, clear, nil, r.now().UnixMilli())
	if err != nil {
		return err
	}
	old := s.host
	here := inside{invoke: r.invoke, tenant: s.tenant, as: s.id}
	err = here.call(ctx, "board.adopt", board.AdoptIn{Space: s.space, Entries: entries, Envelope: &env}, nil)
	if err != nil && !fault.Is(err, fault.Conflict) { // a conflict: an earlier try got that far, and is followed now
		return err
	}
	s.state, s.why = active, ""
	if err := r.try(ctx, s, place{}, here); err != nil {
		return err
	}
	if err := r.profile(ctx, s, s.profiles[s.me.Card().ID]); err != nil {
		return err
	}
	r.tell(s, old, &env)
	return nil
}

// entries are this seat's copy of the log.
func (r *Room) entries(ctx context.Context, s *seat) ([]*space.Entry, error) {
	rows, err := r.db.Query(ctx, "SELECT entry FROM peer_log WHERE tenant = ? AND seat = ? ORDER BY seq", s.tenant, s.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []*space.Entry
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		e := new(space.Entry)
		if err := json.Unmarshal([]byte(text), e); err != nil {
			return nil, fmt.Errorf("read a stored entry: %w", err)
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

// tell lets an old host know that its term is over, as soon as it can be
// reached, so that no member meets it first.
func (r *Room) tell(s *seat, old string, env *seal.Envelope) {
	if old == "" {
		return
	}
	host, _ := r.reach(s)
	r.later(func(ctx context.Context) {
		l := newOutside(old, "")
		for wait := time.Second; ctx.Err() == nil; wait = min(wait*2, 10*time.Second) {
			err := l.call(ctx, "space.step_down", space.StepDownIn{Envelope: env, Host: host}, nil)
			if err == nil || !fault.Is(err, fault.Unavailable) {
				return
			}
			if !sleep(ctx, wait) {
				return
			}
		}
	})
}

// seek looks for the space at the other members' daemons: one of them may have
// taken over. It accepts a host of a higher term whose log continues what is
// known here, and nothing else: a member never follows two hosts.
func (r *Room) seek(ctx context.Context, s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.found(ctx, s)
}

// found is seek for a caller that holds s.mu.
func (r *Room) found(ctx context.Context, s *seat) bool {
	if s.host != "" && r.moveTo(ctx, s, "", "") { // another seat of this machine may have taken over
		return true
	}
	self, _ := r.addr()
	if s.moved != "" && s.moved != self && s.moved != s.host && r.moveTo(ctx, s, s.moved, s.pinOf(s.moved)) {
		return true
	}
	for _, p := range s.elsewhere(self) {
		if p.Host != s.host && r.moveTo(ctx, s, p.Host, p.Pin) {
			return true
		}
	}
	return false
}

// elsewhere are the other members' machines that can be reached, each once.
func (s *seat) elsewhere(self string) []Profile {
	var out []Profile
	for _, id := range s.members() {
		p := s.profiles[id]
		if id == s.me.Card().ID || p.Host == "" || p.Host == self || slices.ContainsFunc(out, func(o Profile) bool { return o.Host == p.Host }) {
			continue
		}
		out = append(out, p)
	}
	return out
}

// tellAgain is for a host that restarted: whoever hosted an earlier term may
// still not know that it ended.
func (r *Room) tellAgain(ctx context.Context, s *seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host != "" || s.term < 2 || s.creator != s.me.Card().ID {
		return
	}
	entries, err := r.entries(ctx, s)
	if err != nil {
		r.log.Error("read the log", "space", s.space, "err", err)
		return
	}
	self, _ := r.addr()
	for _, e := range slices.Backward(entries) {
		if e.Class != space.ClassTakeOver {
			continue
		}
		for _, p := range s.elsewhere(self) {
			r.tell(s, p.Host, e.Env)
		}
		return
	}
}

// pinOf is the key of a daemon that a member told us about.
func (s *seat) pinOf(host string) string {
	for _, p := range s.profiles {
		if p.Host == host {
			return p.Pin
		}
	}
	return ""
}

// moveTo follows the host at that address, or this very daemon when it is
// empty, if that is the space's host now. The caller holds s.mu.
func (r *Room) moveTo(ctx context.Context, s *seat, host, pin string) bool {
	var l link = inside{invoke: r.invoke, tenant: s.tenant, as: s.id}
	if host != "" {
		l = newOutside(host, pin)
	}
	try, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	in := space.PullIn{Space: s.space, Since: s.seq, Term: s.term, Limit: 1, Proof: space.Prove(s.me, "space.pull", s.space, r.now())}
	var out space.PullOut
	s.mu.Unlock()
	err := l.call(try, "space.pull", in, &out)
	s.mu.Lock()
	if err != nil || out.State != "open" || out.Term <= s.term || in.Since != s.seq || out.Taken == nil {
		return false
	}
	if err := r.fork(ctx, s, out.Taken); err != nil {
		r.log.Warn("a host was not accepted", "space", s.space, "host", host, "err", err)
		return false
	}
	old, oldLink := s.host, s.link
	if err := r.try(ctx, s, place{host, pin}, l); err != nil || s.term != out.Term {
		return false
	}
	if old == "" { // this daemon hosted it: its own room learns it here
		if err := oldLink.call(ctx, "space.step_down", space.StepDownIn{Envelope: out.Taken.Env, Host: host}, nil); err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Conflict) {
			r.log.Warn("not stepped down", "space", s.space, "err", err)
		}
	}
	r.log.Info("space followed to a new host", "space", s.space, "host", host, "term", s.term)
	r.tell(s, old, out.Taken.Env)
	s.ring()
	return true
}

// try follows another host, and stays with it when its log brought a new term.
// The caller holds s.mu.
func (r *Room) try(ctx context.Context, s *seat, to place, l link) error {
	term, back := s.term, s.link
	s.next, s.link = &to, l
	err := r.sync(ctx, s, 0)
	s.next = nil
	if s.term == term {
		s.link = back
		if err == nil {
			err = fault.New(fault.Unavailable, "space", "%s shows no new term of this space", orElse(to.host, "this machine"))
		}
		return err
	}
	return nil
}

// fork goes back to where a take-over began its term, when this seat had
// followed the old host further. What this member itself said beyond that point
// is queued again: it was acknowledged and must not be lost.
func (r *Room) fork(ctx context.Context, s *seat, taken *space.Entry) error {
	if taken.Class != space.ClassTakeOver || taken.Env == nil {
		return fmt.Errorf("the new term does not begin with a take-over")
	}
	card, ok := s.cards[taken.Env.From]
	if !ok {
		return fmt.Errorf("the take-over is by %s, who is not a member", taken.Env.From)
	}
	if err := taken.Env.Verify(s.space, card); err != nil {
		return err
	}
	var c space.TakeOverClear
	if err := space.Clear(taken.Env, &c); err != nil {
		return err
	}
	if c.Term != taken.Term || c.Seq != taken.Seq-1 {
		return fmt.Errorf("the take-over does not say where it begins")
	}
	if s.seq <= c.Seq {
		return nil
	}
	hash, err := r.hashAt(ctx, s, c.Seq)
	if err != nil {
		return err
	}
	if hash != c.Hash || c.Seq < s.joined {
		return fmt.Errorf("the take-over does not continue the history known here")
	}
	return r.rewind(ctx, s, c.Seq, hash)
}

func (r *Room) rewind(ctx context.Context, s *seat, to int64, hash string) error {
	entries, err := r.entries(ctx, s)
	if err != nil {
		return err
	}
	epoch, term := s.group.Epoch(), int64(1)
	var again []thing
	for _, e := range entries {
		if e.Seq <= to {
			term = e.Term
			continue
		}
		if e.Class == space.ClassCommit {
			epoch--
		}
		if e.Env == nil || e.Env.From != s.me.Card().ID || e.Class == space.ClassCommit || e.Class == "task."+string(board.KindRenew) {
			continue
		}
		t, err := r.unsay(ctx, s, e)
		if err != nil {
			return err
		}
		again = append(again, t)
	}
	state, ok := s.sec.Past[epoch]
	if epoch == s.group.Epoch() {
		state, ok = s.sec.Group, true
	}
	if !ok {
		return fmt.Errorf("the members changed too often since the take-over; join again with a new code")
	}
	g, err := seal.OpenGroup(s.me, state)
	if err != nil {
		return err
	}
	s.queued = true
	keys := s.sec.Keys[:0:0]
	for _, k := range s.sec.Keys {
		if k.Epoch <= epoch {
			keys = append(keys, k)
		}
	}
	s.sec.Keys, s.seq, s.hash, s.term = keys, to, hash, term
	if err := s.enter(g); err != nil {
		return err
	}
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		for i, t := range again { // in the order in which they were said
			if err := r.enqueue(tx, s, t, tx.Now().Add(time.Duration(i)*time.Microsecond)); err != nil {
				return err
			}
		}
		for _, table := range []string{"peer_log", "peer_note"} {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND seat = ? AND seq > ?", s.tenant, s.id, to); err != nil {
				return err
			}
		}
		return r.saveSeat(tx, s)
	})
	if err != nil {
		return err
	}
	return r.reload(ctx, s)
}

// unsay turns an own entry back into what was to be said.
func (r *Room) unsay(ctx context.Context, s *seat, e *space.Entry) (thing, error) {
	t := thing{id: e.Env.ID, class: e.Class, to: e.Env.To, clear: e.Env.Clear}
	key, ok := s.key(e.Env.Epoch)
	if !ok {
		return t, fmt.Errorf("the key of epoch %d is missing", e.Env.Epoch)
	}
	var to *seal.Card
	if c, ok := s.cards[e.Env.To]; ok {
		to = &c
	}
	content, err := key.Open(s.me, s.me.Card(), to, e.Env)
	t.content = content
	return t, err
}
