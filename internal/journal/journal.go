package journal

import (
	"context"
	"crypto/ed25519"
	"embed"
	"slices"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
)

//go:embed schema
var schema embed.FS

// Migrations are the journal's tables.
var Migrations = db.Migrations{Room: "journal", FS: schema}

// Journal is the service: it appends, reads, waits, proves and signs.
type Journal struct {
	db *db.DB
	// Rows list what rooms hold that says it confers authority; Verify asks for an entry behind each.
	Rows []func(ctx context.Context) ([]op.Sealed, error)
	// Mend is what a person's word sets back.
	Mend Mend
	// Lives are the kinds that end by themselves, with how long one of them lasts at most: after that its row is nowhere missed.
	Lives map[string]time.Duration
	// Forgot is called after somebody had payloads forgotten; nil for nobody.
	Forgot   func()
	standing standing
	catching catching

	mu     sync.Mutex
	pair   *pair // the key that signs
	next   *pair // one that is about to
	before *pair // the one until it turned: somebody may still read what it vouched for
	turned time.Time
	latest int64            // the highest sequence this process saw committed
	about  map[string]int64 // the newest of them by the kind of its resource, as far as this process wrote them
	others int64            // up to here may be events of other servers, of any kind
	moved  chan struct{}    // closed when latest grows
	asked  time.Time        // when a shared database was last asked whether it grew
	signed Checkpoint       // the newest that this process signed
	last   head             // the head that this process wrote last, committed or not
	chain  int64            // counts how often last was not grown from the one before it but read
	proven int64            // the chain that signed belongs to, 0 for none
}

// New makes the journal of a database whose tables exist. key signs its
// checkpoints; see Key.
func New(d *db.DB, key ed25519.PrivateKey) *Journal {
	return &Journal{db: d, pair: newPair(key), moved: make(chan struct{}), about: map[string]int64{},
		standing: standing{newest: words{}, turns: map[string]int64{}}}
}

// Append records one event in the transaction that changes what it tells of,
// and returns its sequence number. Call it last: it takes the head row, which
// every other writer waits for.
func (j *Journal) Append(tx *db.Tx, ev Event) (int64, error) {
	if err := ev.check(); err != nil {
		return 0, err
	}
	g, err := j.extend(tx, ev)
	if err != nil {
		return 0, err
	}
	if err := insertEntry(tx, g.entry, g.leaf); err != nil {
		return 0, err
	}
	for _, tile := range g.full {
		if err := insertTile(tx, tile, g.to.size); err != nil {
			return 0, err
		}
	}
	if err := j.storeSeals(tx, ev.Tenant, ev.Seals, g.entry.Seq, g.leaf); err != nil {
		return 0, err
	}
	if ev.Receipt {
		if err := j.leaveReceipt(tx, g); err != nil {
			return 0, err
		}
	}
	tx.AfterCommit(func() { j.wrote(g.entry.Seq, ev.Resource) })
	return g.entry.Seq, nil
}

// growth is a tree before and after one more entry.
type growth struct {
	from, to head
	entry    *Entry
	leaf     Hash
	full     []closed // tiles that the entry completed
	chain    int64    // see Journal; 0 where others write, too
}

func grow(from head, ev Event, now time.Time) growth {
	g := growth{from: from, to: head{edge{from.size, slices.Clone(from.nodes)}, from.origin}}
	g.entry = entry(ev, from.size+1, now)
	record := g.entry.Record()
	g.leaf = leafHash(record[:])
	g.full = g.to.push(g.leaf)
	return g
}

// extend moves the head over one more event. Where one process alone writes
// (SQLite), the head that it left last is remembered and the row only compared;
// a transaction that was undone, or another writer, shows there and the row is
// read again.
func (j *Journal) extend(tx *db.Tx, ev Event) (growth, error) {
	alone := tx.ForUpdate() == ""
	if last := j.lastHead(); alone && last.origin != "" {
		g := grow(last, ev, tx.Now())
		moved, err := moveHead(tx, g.from, g.to)
		if err != nil || moved {
			g.chain = j.keepHead(g.to, false)
			return g, err
		}
	}
	from, err := lockHead(tx)
	if err != nil {
		return growth{}, err
	}
	g := grow(from, ev, tx.Now())
	if err := storeHead(tx, g.to); err != nil {
		return growth{}, err
	}
	if alone {
		g.chain = j.keepHead(g.to, true)
	}
	return g, nil
}

func (j *Journal) lastHead() head {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// keepHead remembers a head, and says to which chain it belongs. One that was read begins a new one.
func (j *Journal) keepHead(h head, read bool) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = h
	if read {
		j.chain++
	}
	return j.chain
}

// Head is the sequence number of the newest event, 0 when there is none.
func (j *Journal) Head(ctx context.Context) (int64, error) {
	var size int64
	err := j.db.Find(ctx, "SELECT size FROM journal_head WHERE id = 1").Scan(&size)
	if db.NoRows(err) {
		return 0, nil
	}
	return size, err
}

// WentBack is what an entry is about that tells of a server's clock that went back: later entries have earlier times.
const WentBack = "server:/clock/back"

// Newest is the latest time in the journal's last entries, zero when there are none. Those before the clock went back do not count.
func (j *Journal) Newest(ctx context.Context) (time.Time, error) {
	var at int64
	err := j.db.QueryRow(ctx, `WITH late AS (SELECT seq, at, resource FROM journal_event ORDER BY seq DESC LIMIT 1000)
		SELECT COALESCE(MAX(at), 0) FROM late WHERE seq >= COALESCE((SELECT MAX(seq) FROM late WHERE resource = ?), 0)`, WentBack).Scan(&at)
	return db.Time(at), err
}
