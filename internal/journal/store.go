package journal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// head is the tree's head row.
type head struct {
	edge
	origin string
}

// lockHead reads the head row and keeps every other appender out until commit.
func lockHead(tx *db.Tx) (head, error) {
	query := "SELECT size, edge, origin FROM journal_head WHERE id = 1" + tx.ForUpdate()
	h, err := scanHead(tx.QueryRow(query))
	if !db.NoRows(err) {
		return h, err
	}
	// The first event of all; another server may be writing it too.
	if _, err := tx.Exec("INSERT INTO journal_head (id, size, edge, origin) VALUES (1, 0, ?, ?) ON CONFLICT (id) DO NOTHING", []byte{},
		newOrigin()); err != nil {
		return h, err
	}
	return scanHead(tx.QueryRow(query))
}

// readHead reads the head row; a journal without one is empty and has no name.
func readHead(tx *db.Tx) (head, error) {
	h, err := scanHead(tx.QueryRow("SELECT size, edge, origin FROM journal_head WHERE id = 1"))
	if db.NoRows(err) {
		return h, fault.New(fault.NotFound, "journal.head", "the journal is empty").
			WithNext("do something first; everything that changes is recorded")
	}
	return h, err
}

func scanHead(row *sql.Row) (head, error) {
	var size int64
	var nodes []byte
	var h head
	if err := row.Scan(&size, &nodes, &h.origin); err != nil {
		return h, err
	}
	var err error
	h.edge, err = parseEdge(size, nodes)
	return h, err
}

// newOrigin names a new journal: no two databases share it, so that one key
// may sign the checkpoints of several.
func newOrigin() string {
	return "tandem.localhost/journal/" + strings.ToLower(rand.Text()[:16])
}

func storeHead(tx *db.Tx, h head) error {
	_, err := tx.Exec("UPDATE journal_head SET size = ?, edge = ? WHERE id = 1", h.size, h.bytes())
	return err
}

// moveHead replaces the head row if it is still the one that was expected.
func moveHead(tx *db.Tx, from, to head) (bool, error) {
	n, err := tx.Changed("UPDATE journal_head SET size = ?, edge = ? WHERE id = 1 AND size = ? AND edge = ?", to.size, to.bytes(), from.size,
		from.bytes())
	return n == 1, err
}

// entry gives an event its number, its time and its salts.
func entry(ev Event, seq int64, now time.Time) *Entry {
	e := &Entry{Seq: seq, Time: now, Tenant: ev.Tenant, Type: ev.Type, Phase: ev.Phase, Actor: ev.Actor, For: ev.For,
		Resource: ev.Resource, Request: ev.Request, Cause: ev.Cause, Payload: ev.Payload}
	salts := make([]byte, 2*saltSize)
	rand.Read(salts)
	e.Salt = salts[:saltSize:saltSize]
	if len(ev.Payload) > 0 {
		e.PayloadSalt = salts[saltSize:]
		h := payloadHash(e.PayloadSalt, ev.Payload)
		e.PayloadHash = h[:]
	}
	return e
}

func insertEntry(tx *db.Tx, e *Entry, leaf Hash) error {
	behalf := ""
	if len(e.For) > 0 {
		b, err := json.Marshal(e.For)
		if err != nil {
			return err
		}
		behalf = string(b)
	}
	hash := e.PayloadHash
	if hash == nil {
		hash = []byte{}
	}
	_, err := tx.Exec(`INSERT INTO journal_event (seq, at, tenant, type, phase, actor, behalf, resource, request, cause, salt,
		payload_hash, leaf, payload_salt, payload)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Seq, e.Time, e.Tenant, e.Type, e.Phase, e.Actor, behalf, e.Resource, e.Request, e.Cause, e.Salt, hash, leaf[:], orNull(e.PayloadSalt),
		orNull(e.Payload))
	return err
}

// orNull stores what is absent as NULL.
func orNull(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// insertTile stores a full tile; size is the tree's size that closed it.
func insertTile(tx *db.Tx, full closed, size int64) error {
	n := size>>(tileHeight*(full.level+1)) - 1
	data, err := tileParts(tx, full.level, n, tileWidth)
	if err != nil {
		return err
	}
	if len(data) != tileWidth*sha256.Size {
		return fmt.Errorf("the journal is damaged: tile %d/%d would hold %d bytes", full.level, n, len(data))
	}
	_, err = tx.Exec("INSERT INTO journal_tile (level, n, root, hashes) VALUES (?, ?, ?, ?)", full.level, n, full.root[:], data)
	return err
}

const selectEntry = `SELECT e.seq, e.at, e.tenant, e.type, e.phase, e.actor, e.behalf, e.resource, e.request, e.cause,
	e.salt, e.payload_hash, e.payload_salt, e.payload FROM journal_event e`

// scanEntry reads an entry's columns, and more behind them where there are.
func scanEntry(rows *sql.Rows, more ...any) (Entry, error) {
	var e Entry
	var at int64
	var behalf string
	var body []byte
	columns := []any{&e.Seq, &at, &e.Tenant, &e.Type, &e.Phase, &e.Actor, &behalf, &e.Resource, &e.Request, &e.Cause,
		&e.Salt, &e.PayloadHash, &e.PayloadSalt, &body}
	if err := rows.Scan(append(columns, more...)...); err != nil {
		return e, err
	}
	e.Time = db.Time(at)
	if len(e.PayloadHash) == 0 {
		e.PayloadHash = nil
	}
	if len(body) > 0 {
		e.Payload = json.RawMessage(body)
	}
	if behalf != "" {
		if err := json.Unmarshal([]byte(behalf), &e.For); err != nil {
			return e, fmt.Errorf("event %d: %w", e.Seq, err)
		}
	}
	return e, nil
}

func collect(rows *sql.Rows, err error) ([]Entry, error) {
	return db.Collect(rows, err, func(r *sql.Rows) (Entry, error) { return scanEntry(r) })
}

// Filter narrows a reading. Empty fields match everything; Type may end in ".*".
type Filter struct {
	Type     string `json:"type,omitempty"`
	Phase    string `json:"phase,omitempty"`
	Actor    string `json:"actor,omitempty"`
	Resource string `json:"resource,omitempty"` // itself and everything below it
	Request  string `json:"request,omitempty"`
	Newest   bool   `json:"newest,omitempty"` // read backwards from the newest; "after" then means "before", 0 for the end
}

func (f Filter) where() (string, []any) {
	var b strings.Builder
	var args []any
	eq := func(column, value string) {
		if value != "" {
			b.WriteString(" AND e." + column + " = ?")
			args = append(args, value)
		}
	}
	// Not a range: PostgreSQL compares text by the locale's order.
	under := func(column, prefix string) {
		b.WriteString(" AND substr(e." + column + ", 1, ?) = ?")
		args = append(args, utf8.RuneCountInString(prefix), prefix)
	}
	if noun, ok := strings.CutSuffix(f.Type, ".*"); ok {
		under("type", noun+".")
	} else {
		eq("type", f.Type)
	}
	eq("phase", f.Phase)
	eq("actor", f.Actor)
	eq("request", f.Request)
	if f.Resource != "" {
		under("resource || '/'", strings.TrimSuffix(f.Resource, "/")+"/")
	}
	return b.String(), args
}

const maxRead = 1000

// Read returns a tenant's entries after a sequence number, oldest first (or
// newest first, see Filter), at most limit of them.
func (j *Journal) Read(ctx context.Context, tenant string, after int64, limit int, f Filter) ([]Entry, error) {
	last := int64(math.MaxInt64)
	if f.Newest {
		last = 1
		if after <= 0 {
			after = math.MaxInt64
		}
	}
	return j.between(ctx, j.db, tenant, after, last, limit, f)
}

// between is Read up to a sequence number: what lies behind last is not looked
// at, fit or not.
func (j *Journal) between(ctx context.Context, from *db.DB, tenant string, after, last int64, limit int, f Filter) ([]Entry, error) {
	if tenant == "" {
		return nil, fault.New(fault.Internal, "journal.read", "a reading names its tenant")
	}
	if limit <= 0 || limit > maxRead {
		limit = maxRead
	}
	where, args := f.where()
	query := selectEntry + " WHERE e.tenant = ? AND e.seq > ? AND e.seq <= ?" + where + " ORDER BY e.seq LIMIT ?"
	if f.Newest {
		query = selectEntry + " WHERE e.tenant = ? AND e.seq < ? AND e.seq >= ?" + where + " ORDER BY e.seq DESC LIMIT ?"
	}
	args = append([]any{tenant, after, last}, args...)
	return collect(from.Query(ctx, query, append(args, limit)...))
}

// Next is Read for those who follow: it also tells how far it looked, so that
// what a filter leaves out is not looked at, and not waited for, again.
func (j *Journal) Next(ctx context.Context, tenant string, after int64, limit int, f Filter) (page []Entry, at int64, err error) {
	head, err := j.Head(ctx) // before the page: everything up to it is in sight
	if err != nil {
		return nil, after, err
	}
	if page, err = j.Read(ctx, tenant, after, limit, f); err != nil {
		return nil, after, err
	}
	at = after
	if len(page) > 0 {
		at = page[len(page)-1].Seq
	}
	if len(page) < limit {
		at = max(at, head)
	}
	return page, at, nil
}

// Get is one of a tenant's entries.
func (j *Journal) Get(ctx context.Context, tenant string, seq int64) (*Entry, error) {
	all, err := collect(j.db.Query(ctx, selectEntry+" WHERE e.tenant = ? AND e.seq = ?", tenant, seq))
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, missing("journal.get", seq)
	}
	return &all[0], nil
}
