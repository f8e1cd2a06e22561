package session

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this room.
var Migrations = db.Migrations{Room: "session", FS: schema}

type scanner interface{ Scan(...any) error }

// reader is a transaction or the database itself.
type reader interface {
	row(query string, args ...any) *sql.Row
	rows(query string, args ...any) (*sql.Rows, error)
}

type inTx struct{ *db.Tx }

func (t inTx) row(q string, args ...any) *sql.Row            { return t.QueryRow(q, args...) }
func (t inTx) rows(q string, args ...any) (*sql.Rows, error) { return t.Query(q, args...) }

type outside struct {
	ctx context.Context
	db  *db.DB
}

func (o outside) row(q string, args ...any) *sql.Row            { return o.db.QueryRow(o.ctx, q, args...) }
func (o outside) rows(q string, args ...any) (*sql.Rows, error) { return o.db.Query(o.ctx, q, args...) }

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // rows hold plain values, which always encode
	}
	return string(b)
}

func decode(s string, into any) error {
	if s == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), into); err != nil {
		return fmt.Errorf("read a stored row: %w", err)
	}
	return nil
}

func later(micros int64) *time.Time {
	if micros == 0 {
		return nil
	}
	t := db.Time(micros)
	return &t
}

const sessionColumns = `tenant, id, title, directory, driver, model, parent, mode, config, todos, owner, chain, archived, events, ` +
	`messages, reverted, created_at, updated_at`

// newestTurn is the state of a session's newest turn, for a list.
const newestTurn = `coalesce((SELECT t.state FROM session_turn t WHERE t.tenant = session.tenant AND t.session = session.id ORDER BY ` +
	`t.id DESC LIMIT 1), 'idle')`

// scanSession reads a session's columns, and more behind them where there are.
func scanSession(row scanner, more ...any) (*Session, error) {
	var s Session
	var config, todos, chain string
	var archived, created, updated int64
	columns := []any{&s.Tenant, &s.ID, &s.Title, &s.Directory, &s.Driver, &s.Model, &s.Parent, &s.Mode, &config, &todos, &s.Owner, &chain,
		&archived, &s.Events, &s.messages, &s.Reverted, &created, &updated}
	if err := row.Scan(append(columns, more...)...); err != nil {
		return nil, err
	}
	s.Archived, s.CreatedAt, s.UpdatedAt = archived != 0, db.Time(created), db.Time(updated)
	if err := decode(config, &s.Config); err != nil {
		return nil, err
	}
	if err := decode(todos, &s.Todos); err != nil {
		return nil, err
	}
	if err := decode(chain, &s.chain); err != nil {
		return nil, err
	}
	s.stored = stored{config: config, means: encode(s.Config), chain: chain}
	return &s, nil
}

func missing(id string) error {
	return fault.New(fault.NotFound, "session", "there is no session %.60s", id).WithNext("list what there is: tandem session list")
}

func loadSession(r reader, tenant, id, lock string) (*Session, error) {
	s, err := scanSession(r.row("SELECT "+sessionColumns+" FROM session WHERE tenant = ? AND id = ?"+lock, tenant, id))
	if db.NoRows(err) {
		return nil, missing(id)
	}
	return s, err
}

func saveSession(tx *db.Tx, s *Session) error {
	_, err := tx.Exec(`INSERT INTO session (`+sessionColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, id) DO UPDATE SET title = excluded.title, directory = excluded.directory, `+
		`model = excluded.model, mode = excluded.mode,
		config = excluded.config, todos = excluded.todos, archived = excluded.archived, events = excluded.events, messages = excluded.messages,
		reverted = excluded.reverted, updated_at = excluded.updated_at`,
		s.Tenant, s.ID, s.Title, s.Directory, s.Driver, s.Model, s.Parent, string(s.Mode), s.config(), encode(s.Todos), s.Owner,
		encode(s.chain),
		s.Archived, s.Events, s.messages, s.Reverted, s.CreatedAt, s.UpdatedAt)
	return err
}

const turnColumns = `tenant, id, session, state, reason, ask, cancel, prompt, options, asker, steps, calls, attempts, usage, cost, ` +
	`created_at, started_at, ended_at, ran, since, prompted, server, awaits, cause`

func scanTurn(row scanner) (*Turn, error) {
	var t Turn
	var prompt, options, usage, prompted string
	var cancel, created, started, ended, ran, since int64
	err := row.Scan(&t.Tenant, &t.ID, &t.Session, &t.State, &t.Reason, &t.Ask, &cancel, &prompt, &options, &t.Asker, &t.Steps, &t.Calls,
		&t.Attempts, &usage,
		&t.Cost, &created, &started, &ended, &ran, &since, &prompted, &t.Server, &t.Awaits, &t.Cause)
	if err != nil {
		return nil, err
	}
	t.Cancel, t.CreatedAt, t.StartedAt, t.EndedAt = cancel != 0, db.Time(created), later(started), later(ended)
	t.ran = time.Duration(ran) * time.Microsecond
	if since != 0 {
		t.since = db.Time(since)
	}
	t.words = words{options, prompt, prompted}
	if err := decode(options, &t.Options); err != nil {
		return nil, err
	}
	if err := decode(prompt, &t.prompt); err != nil {
		return nil, err
	}
	if err := decode(prompted, &t.prompted); err != nil {
		return nil, err
	}
	return &t, decode(usage, &t.Usage)
}

// chains are written for the few turns that have any.
func chains(all [][]string) string {
	if len(all) == 0 {
		return ""
	}
	return encode(all)
}

func loadTurn(r reader, tenant, id string) (*Turn, error) {
	t, err := scanTurn(r.row("SELECT "+turnColumns+" FROM session_turn WHERE tenant = ? AND id = ?", tenant, id))
	if db.NoRows(err) {
		return nil, fault.New(fault.NotFound, "session.turn", "there is no turn %.60s", id)
	}
	return t, err
}

func turnsWhere(r reader, where string, args ...any) ([]*Turn, error) {
	rows, err := r.rows("SELECT "+turnColumns+" FROM session_turn WHERE "+where, args...)
	return db.Collect(rows, err, func(rows *sql.Rows) (*Turn, error) { return scanTurn(rows) })
}

func micros(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return db.Micros(*t)
}

func saveTurn(tx *db.Tx, t *Turn) error {
	t.clock(tx.Now())
	since := int64(0)
	if !t.since.IsZero() {
		since = db.Micros(t.since)
	}
	t.words = t.written()
	_, err := tx.Exec(`INSERT INTO session_turn (`+turnColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, id) DO UPDATE SET state = excluded.state, reason = excluded.reason, ask = excluded.ask, cancel = excluded.cancel,
		steps = excluded.steps, calls = excluded.calls, attempts = excluded.attempts, usage = excluded.usage, cost = excluded.cost,
		started_at = excluded.started_at, ended_at = excluded.ended_at, ran = excluded.ran, since = excluded.since,
		prompted = excluded.prompted, server = excluded.server, awaits = excluded.awaits, cause = excluded.cause`,
		t.Tenant, t.ID, t.Session, string(t.State), t.Reason, t.Ask, t.Cancel, t.words.prompt, t.words.options, t.Asker, t.Steps, t.Calls,
		t.Attempts, encode(t.Usage),
		int64(t.Cost), t.CreatedAt, micros(t.StartedAt), micros(t.EndedAt), t.ran.Microseconds(), since, t.words.prompted, t.Server,
		string(t.Awaits), string(t.Cause))
	return err
}

func loadMessages(r reader, tenant, session string) ([]*Message, error) {
	return messagesWhere(r, "ORDER BY seq", tenant, session)
}

// messagesWhere reads those messages of a session that what comes behind the session itself leaves.
func messagesWhere(r reader, rest, tenant, session string, args ...any) ([]*Message, error) {
	rows, err := r.rows(`SELECT seq, id, turn, role, blocks, model, created_at FROM session_message
		WHERE tenant = ? AND session = ? AND hidden = 0 `+rest, append([]any{tenant, session}, args...)...)
	return db.Collect(rows, err, func(rows *sql.Rows) (*Message, error) {
		var m Message
		var blocks string
		var created int64
		if err := rows.Scan(&m.Seq, &m.ID, &m.Turn, &m.Role, &blocks, &m.Model, &created); err != nil {
			return nil, err
		}
		m.CreatedAt = db.Time(created)
		return &m, decode(blocks, &m.Blocks)
	})
}

func insertMessage(tx *db.Tx, s *Session, m *Message) error {
	s.messages++
	m.Seq, m.CreatedAt = s.messages, tx.Now()
	_, err := tx.Exec(`INSERT INTO session_message (tenant, session, seq, id, turn, role, blocks, model, hidden, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
		s.Tenant, s.ID, m.Seq, m.ID, m.Turn, string(m.Role), encode(m.Blocks), m.Model, m.CreatedAt)
	return err
}

const callColumns = `tenant, session, turn, id, position, ref, tool, args, title, state, ask, result, created_at, ended_at, awaits`

func scanCall(row scanner) (*Call, error) {
	var c Call
	var args, result string
	var created, ended int64
	err := row.Scan(&c.Tenant, &c.Session, &c.Turn, &c.ID, &c.Position, &c.Ref, &c.Tool, &args, &c.Title, &c.State, &c.Ask, &result, &created,
		&ended, &c.Awaits)
	if err != nil {
		return nil, err
	}
	c.Args, c.CreatedAt, c.EndedAt = json.RawMessage(args), db.Time(created), later(ended)
	return &c, decode(result, &c.Result)
}

func loadCalls(r reader, tenant, turn string) ([]*Call, error) {
	rows, err := r.rows("SELECT "+callColumns+" FROM session_call WHERE tenant = ? AND turn = ? ORDER BY position", tenant, turn)
	return db.Collect(rows, err, func(rows *sql.Rows) (*Call, error) { return scanCall(rows) })
}

// openCalls are a turn's calls that have not ended, the first of them.
func openCalls(r reader, t *Turn, most int) ([]*Call, error) {
	rows, err := r.rows("SELECT "+callColumns+" FROM session_call WHERE tenant = ? AND turn = ? AND state NOT IN (?, "+
		"?) ORDER BY position LIMIT ?",
		t.Tenant, t.ID, string(CallDone), string(CallFailed), most)
	return db.Collect(rows, err, func(rows *sql.Rows) (*Call, error) { return scanCall(rows) })
}

// callByRef is the call of a turn that its model or program calls so, nil when there is none.
func callByRef(r reader, t *Turn, ref string) (*Call, error) {
	c, err := scanCall(r.row("SELECT "+callColumns+" FROM session_call WHERE tenant = ? AND turn = ? AND ref = ? ORDER "+
		"BY position DESC LIMIT 1",
		t.Tenant, t.ID, ref))
	if db.NoRows(err) {
		return nil, nil
	}
	return c, err
}

// newestCalls are the last of a turn's calls, so many.
func newestCalls(r reader, t *Turn, n int64) ([]*Call, error) {
	rows, err := r.rows("SELECT "+callColumns+" FROM session_call WHERE tenant = ? AND turn = ? AND position > ? ORDER BY position",
		t.Tenant, t.ID, t.Calls-n)
	return db.Collect(rows, err, func(rows *sql.Rows) (*Call, error) { return scanCall(rows) })
}

func loadCall(r reader, tenant, id string) (*Call, error) {
	c, err := scanCall(r.row("SELECT "+callColumns+" FROM session_call WHERE tenant = ? AND id = ?", tenant, id))
	if db.NoRows(err) {
		return nil, fault.New(fault.NotFound, "session.call", "there is no call %.60s", id)
	}
	return c, err
}

func saveCall(tx *db.Tx, c *Call) error {
	result := ""
	if c.Result != nil {
		result = encode(c.Result)
	}
	_, err := tx.Exec(`INSERT INTO session_call (`+callColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, id) DO UPDATE SET title = excluded.title, state = excluded.state, ask = excluded.ask, result = excluded.result, `+
		`ended_at = excluded.ended_at, awaits = excluded.awaits`,
		c.Tenant, c.Session, c.Turn, c.ID, c.Position, c.Ref, c.Tool, string(c.Args), c.Title, string(c.State), c.Ask, result, c.CreatedAt,
		micros(c.EndedAt), string(c.Awaits))
	return err
}

func scanEvent(rows *sql.Rows) (Event, error) {
	var e Event
	var body string
	var at int64
	err := rows.Scan(&e.Seq, &e.Turn, &e.Type, &body, &at)
	e.Body, e.At = json.RawMessage(body), db.Time(at)
	return e, err
}

func loadEvents(r reader, tenant, session string, after int64, limit int) ([]Event, error) {
	rows, err := r.rows("SELECT seq, turn, type, body, at FROM session_event WHERE tenant = ? AND session = ? AND seq "+
		"> ? ORDER BY seq LIMIT ?", tenant, session, after, limit)
	return db.Collect(rows, err, scanEvent)
}

const questionColumns = `id, session, turn, call, questions, state, answer, answers, created_at`

func scanQuestion(row scanner) (*Question, error) {
	var q Question
	var qs, answers string
	var at int64
	if err := row.Scan(&q.ID, &q.Session, &q.Turn, &q.Call, &qs, &q.State, &q.Answer, &answers, &at); err != nil {
		return nil, err
	}
	q.CreatedAt = db.Time(at)
	if answers != "" {
		if err := decode(answers, &q.Answers); err != nil {
			return nil, err
		}
	}
	return &q, decode(qs, &q.Questions)
}
