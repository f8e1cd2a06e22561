package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/journal"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/session/aside"
	"tandem/internal/session/checkout"
	"tandem/internal/tool"
)

// Driver makes sessions go. Implementations: session/loop for models, session/terminal for agent programs.
type Driver interface {
	// Wake tells that a session has something to do: a new turn, an answer, a cancellation.
	Wake(tenant, session string)
	// Reach is how far one of its sessions gets.
	Reach(tx *db.Tx, s *Session) (Reach, error)
}

// Room keeps sessions.
type Room struct {
	db      *db.DB
	journal *journal.Journal
	tools   *tool.Registry
	sandbox *tool.Sandbox
	hub     *hub
	drivers map[string]Driver
	outputs outputs
	lend    Lend
	house   House
	// Models knows which models there are, and where what they are told goes.
	Models *models.Room
	// Hidden are folders that no tool reaches, whatever was granted: tandem's own state.
	Hidden []string
	driven Guard
	// Sessions bounds how many sessions a tenant keeps, archived ones too.
	Sessions db.Bound
	// Budgets are those of actors and of the tenant.
	Budgets *Budgets
	// Vouch asks the journal about what people gave to sessions.
	Vouch op.Vouch
	// Home is the person's: what lies in certain places of it runs by itself.
	Home string
	// Aside keeps what agents left that version control would have run later.
	Aside *aside.Room
	// Checkouts makes and ends checkouts for single sessions; Live says whether an agent's program runs in a session.
	Checkouts checkout.Tools
	Live      func(session string) bool
	// Owner is the server that this is, among others on one database.
	Owner Owner
	// Brief is what the team remembers that the caller, a session, should know for what it is to do in a folder; Briefed notes, in a
	// change, that a conversation was told records. Without them nothing is told.
	Brief   func(ctx context.Context, about, folder string) Brief
	Briefed func(tx *db.Tx, tenant, session string, ids []string) error
	// TurnEnded hears of every turn that ended, once that is on disk. Without it nobody is told.
	TurnEnded func(Ended)
	// Retried is told that a model call failed and is tried again, in its transaction; nil where nobody listens.
	Retried func(tx *db.Tx, s *Session, t *Turn, body Retry) error
	// Failed is told of every turn that failed, whatever drove it, in its transaction; nil where nobody listens.
	Failed func(tx *db.Tx, s *Session, t *Turn) error
	// Questioned is told of every question of an agent, in its transaction; nil where nobody listens.
	Questioned func(tx *db.Tx, s *Session, q *Question) error
	// Bindable refuses knowledge spaces that the caller may not read; Grounded says why an answer does not stand on what a session read, ""
	// where it does. nil where there are no knowledge spaces.
	Bindable func(ctx context.Context, tx *db.Tx, names []string) error
	Grounded func(tx *db.Tx, tenant, session, answer string) (string, error)
}

// Ended is a turn that ended, for whoever runs the server.
type Ended struct {
	Session, Turn, Driver, Model string
	State                        TurnState
	Reason                       string
}

// Lend gives a sealed value of a tenant to fn; a missing one is a NotFound fault.
type Lend func(ctx context.Context, tenant, name string, fn func(value []byte) error) error

// Guard may refuse that somebody drives a session that belongs to another room.
type Guard func(ctx context.Context, tx *db.Tx, tenant, session string) error

// New makes the room. Drivers are added with Drive before anything is asked of it.
func New(d *db.DB, j *journal.Journal, tools *tool.Registry, box *tool.Sandbox, known *models.Room, lend Lend, driven Guard,
	home aside.Home) *Room {
	r := &Room{db: d, journal: j, tools: tools, sandbox: box, Models: known, lend: lend, driven: driven, drivers: map[string]Driver{},
		Sessions: db.Bound{Table: "session", Most: MaxSessions}, Budgets: &Budgets{db: d}}
	r.hub = newHub(r)
	r.Aside = aside.New(d, home, r.setAside)
	return r
}

func (r *Room) guard(ctx context.Context, tx *db.Tx, s *Session) error {
	if err := s.DrivenBy(op.CallerFrom(ctx)); err != nil {
		return err
	}
	return r.driven(ctx, tx, s.Tenant, s.ID)
}

// Drive adds a driver by its name.
func (r *Room) Drive(name string, d Driver) { r.drivers[name] = d }

// Tools are what sessions can be given.
func (r *Room) Tools() *tool.Registry { return r.tools }

func (r *Room) now() time.Time { return r.db.Now() }

func (r *Room) wake(s *Session) {
	if d := r.drivers[s.Driver]; d != nil {
		d.Wake(s.Tenant, s.ID)
	}
}

// change runs fn on a locked session, saves it, and wakes its driver and its watchers once that is on disk.
func (r *Room) change(tx *db.Tx, tenant, id string, fn func(s *Session) error) (*Session, error) {
	s, err := loadSession(inTx{tx}, tenant, id, tx.ForUpdate())
	if err != nil {
		return nil, err
	}
	s.UpdatedAt = tx.Now()
	if err := fn(s); err != nil {
		return nil, err
	}
	if err := saveSession(tx, s); err != nil {
		return nil, err
	}
	tx.AfterCommit(func() { r.hub.advance(s.Tenant, s.ID, s.Events) })
	return s, nil
}

// tell adds an event to a session that is being changed.
func tell(tx *db.Tx, s *Session, turn, typ string, body any) error {
	s.Events++
	_, err := tx.Exec("INSERT INTO session_event (tenant, session, seq, turn, type, body, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		s.Tenant, s.ID, s.Events, turn, typ, encode(body), tx.Now())
	return err
}

// record puts what a driver did into the journal, in the same transaction. It is called last.
func (r *Room) record(tx *db.Tx, s *Session, typ string, said map[string]any, rows ...op.Sealed) error {
	e := journal.Event{Tenant: s.Tenant, Type: typ, Actor: s.ID, For: s.chain, Resource: at(s.ID).String()}
	return r.journal.Tell(tx, e, said, rows...)
}

func at(id string) op.Resource { return op.Resource{Kind: "session", Path: "/" + id} }

// Called is the name by which people know a session, "" when there is none.
func (r *Room) Called(ctx context.Context, tenant, id string) string {
	return called(outside{ctx, r.db}, tenant, id)
}

// CalledIn is Called for whoever writes.
func (r *Room) CalledIn(tx *db.Tx, tenant, id string) string { return called(inTx{tx}, tenant, id) }

// NamedIn is what a session may be called before others: its title, unless that is the beginning of what it was told first, as a session
// has it that nobody named.
func (r *Room) NamedIn(tx *db.Tx, tenant, session string) string {
	title := called(inTx{tx}, tenant, session)
	var said string
	var blocks []provider.Block
	err := tx.QueryRow("SELECT blocks FROM session_message WHERE tenant = ? AND session = ? AND role = ? ORDER BY seq LIMIT 1", tenant,
		session,
		string(RoleUser)).Scan(&said)
	if err == nil {
		err = decode(said, &blocks)
	}
	prompted := slices.ContainsFunc(blocks, func(b provider.Block) bool {
		return strings.HasPrefix(strings.TrimSpace(b.Text), strings.TrimSuffix(title, "…"))
	})
	if prompted || title == "" || err != nil && !db.NoRows(err) {
		return "session " + id.Short(session)
	}
	return title
}

func called(from reader, tenant, id string) (title string) {
	_ = from.row("SELECT title FROM session WHERE tenant = ? AND id = ?", tenant, id).Scan(&title) // one that is gone has no name
	return title
}

// Messages reads the conversation.
func (r *Room) Messages(ctx context.Context, tenant, id string) ([]*Message, error) {
	return loadMessages(outside{ctx, r.db}, tenant, id)
}

// MessagesAfter reads the conversation on from a message; 0 is the beginning.
func (r *Room) MessagesAfter(ctx context.Context, tenant, id string, seq int64) ([]*Message, error) {
	return messagesWhere(outside{ctx, r.db}, "AND seq > ? ORDER BY seq", tenant, id, seq)
}

// MessagesOf reads what was said in one turn.
func (r *Room) MessagesOf(ctx context.Context, tenant, id, turn string) ([]*Message, error) {
	return messagesWhere(outside{ctx, r.db}, "AND turn = ? ORDER BY seq", tenant, id, turn)
}

// Turn reads one turn.
func (r *Room) Turn(ctx context.Context, tenant, id string) (*Turn, error) {
	return loadTurn(outside{ctx, r.db}, tenant, id)
}

// Next is the session's turn that is open and oldest, nil when there is none.
func (r *Room) Next(ctx context.Context, tenant, session string) (*Turn, error) {
	ts, err := turnsWhere(outside{ctx, r.db}, "tenant = ? AND session = ? AND ended_at = 0 ORDER BY id LIMIT 1", tenant, session)
	if err != nil || len(ts) == 0 {
		return nil, err
	}
	return ts[0], nil
}

// Open lists the sessions of a driver that have a turn which has not ended: what a restart has to look at.
func (r *Room) Open(ctx context.Context, driver string) ([]*Session, error) {
	rows, err := r.db.Query(ctx, `SELECT `+sessionColumns+` FROM session s WHERE driver = ? AND EXISTS
		(SELECT 1 FROM session_turn t WHERE t.tenant = s.tenant AND t.session = s.id AND t.ended_at = 0)`, driver)
	var out []*Session
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		s, err := scanSession(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// prompt queues a turn.
func (r *Room) prompt(tx *db.Tx, s *Session, by op.Caller, blocks []provider.Block, o Options) (*Turn, error) {
	open, err := turnsWhere(inTx{tx}, "tenant = ? AND session = ? AND ended_at = 0", s.Tenant, s.ID)
	if err != nil {
		return nil, err
	}
	if len(open) >= MaxQueue {
		return nil, fault.New(fault.Exhausted, "session.prompt", "%d turns wait already", len(open)).
			WithNext("wait, or cancel some: tandem session cancel %s", s.ID)
	}
	if s.Archived {
		return nil, fault.New(fault.Conflict, "session.prompt", "the session is archived").
			WithNext("take it back first: tandem session update %s --archived=false", s.ID)
	}
	t := &Turn{ID: id.New("turn"), Tenant: s.Tenant, Session: s.ID, State: Queued, Options: o, Asker: by.Name, CreatedAt: tx.Now(),
		prompt: blocks, prompted: s.prompted(nil, by)}
	first, err := r.awaitsBrief(inTx{tx}, t)
	if err != nil {
		return nil, err
	}
	if len(open) == 0 && s.Driver == DriverModel && !first { // nothing is before it: it begins with being asked for, which saves a write
		if err := r.unrevert(tx, s, false); err != nil {
			return nil, err
		}
		if err := r.happen(tx, s, t, begun{}); err != nil {
			return nil, err
		}
	}
	if err := saveTurn(tx, t); err != nil {
		return nil, err
	}
	return t, tell(tx, s, t.ID, EventTurn, t)
}
