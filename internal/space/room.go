package space

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/space/seal"
)

// Room is the service behind the space operations.
type Room struct {
	db     *db.DB
	invoke op.Invoker // the gate, for members that call from afar
	wake   bells
	knocks knocks
	decoys decoys

	// Sequence is the journal's, where other servers write to this database, too: what was read before it moved is read again.
	Sequence func() int64

	mu    sync.Mutex
	seen  map[sight]time.Time // the last pull; lost at a restart, told again in seconds
	views map[string]*view    // tenant/space
}

// sight is a member in its space.
type sight struct {
	tenant, space string
	member        seal.MemberID
}

// New makes the room over an open database. Calls of members on other machines
// re-enter through invoke.
func New(d *db.DB, invoke op.Invoker) *Room {
	return &Room{db: d, invoke: invoke, decoys: newDecoys(), Sequence: func() int64 { return 0 },
		seen: map[sight]time.Time{}, views: map[string]*view{}}
}

// belongs refuses a member that was removed.
func (m *Member) belongs() error {
	if m.Removed == nil {
		return nil
	}
	return fault.New(fault.Denied, "space", "%s is no longer a member of this space", m.ID).With("reason", "removed").
		WithNext("ask a member for a new invite and join again")
}

// StartIn starts a space with its first member.
type StartIn struct {
	Space     string    `json:"space"`
	Card      seal.Card `json:"card"`
	Members   int64     `json:"max_members,omitempty" jsonschema:"at most this many members, 5 when left out"`
	PerMinute int64     `json:"messages_per_minute,omitempty" jsonschema:"messages a minute and member, 30 when left out"`
	Proof     Proof     `json:"proof"`
}

// StartOut is the new space's head.
type StartOut struct {
	Space string `json:"space"`
	Seq   int64  `json:"seq"`
	Hash  string `json:"hash"`
}

func (r *Room) start(ctx context.Context, tx *db.Tx, in StartIn) (StartOut, error) {
	if err := id.Check("spc", in.Space); err != nil {
		return StartOut{}, err
	}
	if err := in.Card.Check(); err != nil {
		return StartOut{}, refused("space.start", err)
	}
	first := &Member{Card: in.Card}
	if err := in.Proof.holds(first, in.Space, "space.start", in, tx.Now()); fault.Is(err, fault.NotFound) {
		return StartOut{}, fault.New(fault.Invalid, "space.start", "the first member has not signed")
	} else if err != nil {
		return StartOut{}, err
	}
	if in.Members == 0 {
		in.Members = DefaultMembers
	}
	if in.PerMinute == 0 {
		in.PerMinute = DefaultMessages
	}
	if in.Members < 1 || in.Members > MaxMembers || in.PerMinute < 1 || in.PerMinute > MaxMessages {
		return StartOut{}, fault.New(fault.Invalid, "space.start", "a space has 1 to %d members and 1 to %d messages a minute", MaxMembers,
			MaxMessages)
	}
	s := &row{id: in.Space, creator: string(in.Card.ID), state: stateOpen, term: 1, max: in.Members, perMinute: in.PerMinute}
	tenant := op.CallerFrom(ctx).Tenant
	_, err := tx.Exec("INSERT INTO space (tenant, id, epoch, term, seq, hash, creator, max_members, per_minute, state, moved_to, "+
		"created_at) VALUES (?, ?, 0, 1, 0, '', ?, ?, ?, ?, '', ?)",
		tenant, s.id, s.creator, s.max, s.perMinute, s.state, tx.Now())
	if db.Exists(err) {
		return StartOut{}, fault.New(fault.Conflict, "space.start", "there is a space %s already", s.id)
	}
	if err != nil {
		return StartOut{}, err
	}
	if err := r.add(tx, tenant, s, in.Card); err != nil {
		return StartOut{}, err
	}
	facts := StartFacts{Space: s.id, Creator: in.Card, Members: s.max, PerMinute: s.perMinute}
	if err := r.HostEntry(tx, tenant, s.id, "host.start", facts); err != nil {
		return StartOut{}, err
	}
	s, err = lock(tx, tenant, s.id)
	if err != nil {
		return StartOut{}, err
	}
	return StartOut{Space: s.id, Seq: s.seq, Hash: s.hash}, nil
}

// PostIn is one envelope for the log.
type PostIn struct {
	Envelope *seal.Envelope `json:"envelope"`
}

// note keeps ids and hashes of the ciphertext in the journal, and nothing else.
func note(ctx context.Context, env *seal.Envelope, a Accepted) {
	op.Note(ctx, "space", a.Space)
	op.Note(ctx, "envelope", a.ID)
	op.Note(ctx, "class", env.Class)
	op.Note(ctx, "from", env.From)
	if env.To != "" {
		op.Note(ctx, "to", env.To)
	}
	op.Note(ctx, "seq", a.Seq)
	op.Note(ctx, "entry_hash", a.Hash)
}

// Note is note for package board.
func Note(ctx context.Context, env *seal.Envelope, a Accepted) { note(ctx, env, a) }

func (r *Room) post(ctx context.Context, tx *db.Tx, in PostIn) (Accepted, error) {
	tenant, env := op.CallerFrom(ctx).Tenant, in.Envelope
	rules := func(now time.Time) (any, error) {
		switch env.Class {
		case ClassVar:
			var v VarClear
			return nil, Clear(env, &v)
		case ClassReceipt:
			var v ReceiptClear
			return nil, Clear(env, &v)
		case ClassLeave:
			_, err := tx.Exec("UPDATE space_member SET left_at = ? WHERE tenant = ? AND space = ? AND id = ?", now, tenant, env.Space, env.From)
			if err == nil {
				_, err = tx.Exec("DELETE FROM space_lease WHERE tenant = ? AND space = ? AND holder = ?", tenant, env.Space, env.From)
			}
			return nil, err
		case ClassReserve, ClassShared:
			return reserve(tx, tenant, env, now)
		case ClassRelease:
			return release(tx, tenant, env)
		}
		return nil, nil
	}
	a, err := r.Accept(tx, tenant, env, []string{ClassMessage, ClassReceipt, ClassProfile, ClassVar, ClassFinding, ClassCommit, ClassLeave,
		ClassReserve, ClassShared, ClassRelease}, rules)
	if err != nil {
		return a, err
	}
	note(ctx, env, a)
	return a, nil
}

// PullIn asks for what happened since a number.
type PullIn struct {
	Space string `json:"space"`
	Since int64  `json:"since"`
	Term  int64  `json:"term,omitempty" jsonschema:"the term you are at"`
	Terms bool   `json:"terms,omitempty" jsonschema:"the take-overs too, though you are at the newest term"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many entries; to ask for one alone is no sign of life"`
	Wait  int64  `json:"wait_ms,omitempty" jsonschema:"wait this long for something new, 25000 at most"`
	Proof Proof  `json:"proof"`
}

// Presence is who is there, as far as the host knows.
type Presence struct {
	Member  seal.MemberID `json:"member"`
	Here    bool          `json:"here"`
	Left    bool          `json:"left,omitempty"` // went; a removal is due
	SeenAt  int64         `json:"seen_at,omitempty"`
	JoinedA int64         `json:"joined_at"`
}

// PullOut is a stretch of the log.
type PullOut struct {
	Space   string     `json:"space"`
	Entries []*Entry   `json:"entries"`
	Seq     int64      `json:"seq"`  // the head
	Hash    string     `json:"hash"` // the head's
	Epoch   int64      `json:"epoch"`
	Term    int64      `json:"term"`
	State   string     `json:"state"`
	Creator string     `json:"creator"`
	Members []Presence `json:"members"`
	Knocks  []Knock    `json:"knocks,omitempty"` // for the inviter
	Taken   *Entry     `json:"taken,omitempty"`  // the take-over that began this term, for a member of an earlier one
	Terms   []*Entry   `json:"terms,omitempty"`  // every take-over, with it or when asked for
	MovedTo string     `json:"moved_to,omitempty"`
	// Ended are the take-overs that ended a hosting, for those who are not known where the space went.
	Ended []*seal.Envelope `json:"ended,omitempty"`
	Now   int64            `json:"now"`
}

func (r *Room) pull(ctx context.Context, in PullIn) (PullOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	deadline := time.NewTimer(time.Duration(min(max(in.Wait, 0), 25_000)) * time.Millisecond)
	defer deadline.Stop()
	for {
		out, again, err := r.pullOnce(ctx, tenant, in, deadline.C)
		if !again {
			return out, err
		}
	}
}

// pullOnce reads, and waits for a change when there is nothing new.
func (r *Room) pullOnce(ctx context.Context, tenant string, in PullIn, deadline <-chan time.Time) (out PullOut, again bool, err error) {
	rung, done := r.wake.hear(tenant + "/" + in.Space)
	defer done()
	l, err := r.look(ctx, tenant, in.Space)
	if err != nil {
		return PullOut{}, false, err
	}
	m, err := r.pulls(ctx, l, in)
	if err != nil {
		return PullOut{}, false, err
	}
	if in.Limit <= 0 || in.Limit > PullLimit {
		in.Limit = PullLimit
	}
	out, err = r.read(ctx, tenant, l, m.ID, in)
	if err != nil || len(out.Entries) > 0 || len(out.Knocks) > 0 || in.Wait <= 0 || out.State != stateOpen || out.Taken != nil {
		return out, false, err
	}
	select {
	case <-rung:
		return out, true, nil
	case <-deadline:
	case <-ctx.Done():
	}
	return out, false, nil
}

// read is what one member gets of a space as it is now.
func (r *Room) read(ctx context.Context, tenant string, l *look, me seal.MemberID, in PullIn) (PullOut, error) {
	now := r.db.Now()
	out := PullOut{Space: in.Space, Entries: []*Entry{}, Seq: l.seq, Hash: l.hash, Epoch: l.epoch, Term: l.term, State: l.state,
		Creator: l.creator, MovedTo: l.moved, Now: db.Micros(now)}
	if in.Limit > 1 { // who asks for a single entry looks for the space's host, and is not here by that
		r.saw(tenant, in.Space, me)
	}
	if l.ended != "" {
		if err := json.Unmarshal([]byte(l.ended), &out.Ended); err != nil {
			return out, fmt.Errorf("read how the hosting of %s ended: %w", l.id, err)
		}
	}
	if behind := in.Term > 0 && in.Term < l.term; behind || in.Terms {
		var err error
		if out.Terms, err = r.takeOvers(ctx, tenant, in.Space); err != nil {
			return out, err
		}
		if n := len(out.Terms); behind && n > 0 {
			out.Taken = out.Terms[n-1]
			if in.Since >= out.Taken.Seq {
				return out, nil // the member has to go back to where this term began
			}
		}
	}
	if in.Since > l.seq {
		return out, fault.New(fault.Conflict, "space.pull", "you have entry %d, the host's last is %d", in.Since, l.seq).With("reason", "behind")
	}
	entries, ok := l.since(in.Since, in.Limit)
	if !ok {
		rows, err := r.db.Query(ctx, "SELECT "+entryColumns+
			" FROM space_log WHERE tenant = ? AND space = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?", tenant, in.Space, in.Since, l.seq,
			in.Limit)
		if entries, err = db.Collect(rows, err, func(rows *sql.Rows) (*Entry, error) { return scanEntry(rows) }); err != nil {
			return out, err
		}
	}
	out.Entries = append(out.Entries, entries...)
	out.Members = r.presence(tenant, l, now)
	out.Knocks = r.knocks.pending(tenant, in.Space, me, now)
	return out, nil
}

// takeOvers are the entries that began a space's terms, oldest first.
func (r *Room) takeOvers(ctx context.Context, tenant, space string) ([]*Entry, error) {
	rows, err := r.db.Query(ctx, "SELECT "+entryColumns+" FROM space_log WHERE tenant = ? AND space = ? AND class = ? ORDER BY seq", tenant,
		space, ClassTakeOver)
	return db.Collect(rows, err, func(rows *sql.Rows) (*Entry, error) { return scanEntry(rows) })
}

// presence is who belongs, and who of them was heard of lately.
func (r *Room) presence(tenant string, l *look, now time.Time) []Presence {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Presence, 0, len(l.members))
	for _, m := range l.members {
		if m.Removed != nil {
			continue
		}
		seen := *m // what is shared is not changed
		if t, ok := r.seen[sight{tenant, l.id, m.ID}]; ok && (m.Seen == nil || t.After(*m.Seen)) {
			seen.Seen = &t
		}
		p := Presence{Member: m.ID, Here: seen.Present(now), Left: m.Left != nil, JoinedA: db.Micros(m.Joined)}
		if seen.Seen != nil {
			p.SeenAt = db.Micros(*seen.Seen)
		}
		out = append(out, p)
	}
	return out
}

func (r *Room) saw(tenant, space string, m seal.MemberID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[sight{tenant, space, m}] = r.db.Now()
}

// unsee forgets who was heard of in a space.
func (r *Room) unsee(tenant, space string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.seen, func(s sight, _ time.Time) bool { return s.tenant == tenant && s.space == space })
}

// lastSeen brings a stored member up to what was heard since.
func (r *Room) lastSeen(tenant, space string, m *Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := r.seen[sight{tenant, space, m.ID}]; ok && (m.Seen == nil || t.After(*m.Seen)) {
		m.Seen = &t
	}
}

// Gone reports whether a member is not there, for a board that wants to take a
// task back.
func (r *Room) Gone(tx *db.Tx, tenant, space string, who seal.MemberID) (bool, error) {
	m, err := member(tx, tenant, space, who)
	if err != nil || m == nil {
		return err == nil, err
	}
	r.lastSeen(tenant, space, m)
	return !m.Present(tx.Now()), nil
}

// IsMember reports whether who belongs to the space now.
func (r *Room) IsMember(tx *db.Tx, tenant, space string, who seal.MemberID) (bool, error) {
	m, err := member(tx, tenant, space, who)
	return m != nil && m.Removed == nil && m.Left == nil, err
}
