package journal

import (
	"context"
	"crypto/ed25519"
	"embed"
	"slices"
	"sync"
	"time"

	"tandem/internal/db"
)

//go:embed schema
var schema embed.FS

// Migrations are the journal's tables.
var Migrations = db.Migrations{Room: "journal", FS: schema}

// Journal is the service: it appends, reads, waits, proves and signs.
type Journal struct {
	db  *db.DB
	key ed25519.PrivateKey

	mu     sync.Mutex
	latest int64         // the highest sequence this process saw committed
	moved  chan struct{} // closed when latest grows
	signed Checkpoint    // the newest that this process signed
}

// New makes the journal of a database whose tables exist. key signs its
// checkpoints; see Key.
func New(d *db.DB, key ed25519.PrivateKey) *Journal {
	return &Journal{db: d, key: key, moved: make(chan struct{})}
}

// Append records one event in the transaction that changes what it tells of,
// and returns its sequence number. Call it last: it takes the head row, which
// every other writer waits for.
func (j *Journal) Append(tx *db.Tx, ev Event) (int64, error) {
	if err := ev.check(); err != nil {
		return 0, err
	}
	h, err := lockHead(tx)
	if err != nil {
		return 0, err
	}
	e := entry(ev, h.size+1, tx.Now())
	record := e.Record()
	leaf := leafHash(record[:])
	if err := insertEntry(tx, e, leaf); err != nil {
		return 0, err
	}
	var before []Hash
	if ev.Receipt {
		before = slices.Clone(h.nodes)
	}
	for _, full := range h.push(leaf) {
		if err := insertTile(tx, full, h.size); err != nil {
			return 0, err
		}
	}
	if err := storeHead(tx, h); err != nil {
		return 0, err
	}
	if ev.Receipt {
		if err := j.leaveReceipt(tx, before, h); err != nil {
			return 0, err
		}
	}
	tx.AfterCommit(func() { j.advance(e.Seq) })
	return e.Seq, nil
}

// Head is the sequence number of the newest event, 0 when there is none.
func (j *Journal) Head(ctx context.Context) (int64, error) {
	var size int64
	err := j.db.QueryRow(ctx, "SELECT size FROM journal_head WHERE id = 1").Scan(&size)
	if db.NoRows(err) {
		return 0, nil
	}
	return size, err
}

func (j *Journal) advance(seq int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq > j.latest {
		j.latest = seq
		close(j.moved)
		j.moved = make(chan struct{})
	}
}

// poll is how soon another server's events are seen on a shared database.
const poll = 250 * time.Millisecond

// Wait returns once an event after the given sequence number exists, or with
// the context's error.
func (j *Journal) Wait(ctx context.Context, after int64) error {
	for {
		j.mu.Lock()
		latest, moved := j.latest, j.moved
		j.mu.Unlock()
		if latest > after {
			return nil
		}
		size, err := j.Head(ctx)
		if err != nil {
			return err
		}
		if size > after {
			j.advance(size)
			return nil
		}
		var shared <-chan time.Time
		if j.db.Path() == "" { // other servers may write to it too
			shared = time.After(poll)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
		case <-shared:
		}
	}
}
