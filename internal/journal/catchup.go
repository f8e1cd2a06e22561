package journal

import (
	"bytes"
	"context"
	"crypto/hmac"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/db"
)

// catching is how far what this journal vouches for, in memory, follows other servers' entries. The sequence numbers decide: what is
// behind the head was written by others, or is read once more.
type catching struct {
	shared atomic.Bool
	mu     sync.Mutex // one reads on
	far    atomic.Int64
	chain  []byte // as the entry at far, or the last before it, left it
}

// Share has CatchUp look from now on: other servers write to this journal, too.
func (j *Journal) Share() { j.catching.shared.Store(true) }

// CatchUp takes in what other servers had the journal vouch for. Where one server is alone it does nothing.
func (j *Journal) CatchUp(ctx context.Context) error {
	if !j.catching.shared.Load() {
		return nil
	}
	head, err := j.Head(ctx)
	if err != nil {
		return err
	}
	j.advance(head)
	if j.catching.far.Load() >= head {
		return nil
	}
	return j.readOn(ctx, head)
}

// readOn takes in the seals up to head.
func (j *Journal) readOn(ctx context.Context, head int64) error {
	c := &j.catching
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.far.Load() >= head {
		return nil // somebody else did meanwhile
	}
	var all []storedSeal
	err := j.db.Read(ctx, func(tx *db.Tx) (err error) { all, err = lastingAfter(tx, c.far.Load(), head); return err })
	if err != nil {
		return err
	}
	key := j.now()
	for _, entry := range (&chainWalk{}).entries(all) {
		seq, end := entry[0].seq, newLink(after(entry))
		if !bytes.Equal(entry[0].chain, c.chain) {
			j.standing.missing(fmt.Sprintf("seals are missing before the entry %d, which another server wrote", seq))
		}
		c.chain = end.sum
		byTenant := map[string][]Seal{}
		for _, x := range entry {
			if hmac.Equal(x.mac, key.mac(x.tenant, x.Seal, x.seq, x.leaf, x.chain)) {
				byTenant[x.tenant] = append(byTenant[x.tenant], x.Seal)
			}
		}
		for tenant, seals := range byTenant {
			j.standing.sealed(tenant, seals, seq, end)
		}
	}
	c.far.Store(head)
	return nil
}

func lastingAfter(tx *db.Tx, after, last int64) ([]storedSeal, error) {
	rows, err := tx.Query(selectLasting+" AND s.seq > ? AND s.seq <= ? ORDER BY s.seq", after, last)
	return scanLasting(rows, err)
}

func scanLasting(rows *sql.Rows, err error) ([]storedSeal, error) {
	return db.Collect(rows, err, func(r *sql.Rows) (s storedSeal, err error) {
		var digest []byte
		err = r.Scan(&s.tenant, &s.Subject, &s.seq, &digest, &s.mac, &s.chain, &s.leaf)
		copy(s.Digest[:], digest)
		return s, err
	})
}

// missing says that the chain is not whole.
func (s *standing) missing(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = append(s.broken, what)
}

// lately catches up for whoever met a row that memory does not vouch for: another server may have written it a moment ago.
func (j *Journal) lately() bool {
	if !j.catching.shared.Load() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	was := j.catching.far.Load()
	return j.CatchUp(ctx) == nil && j.catching.far.Load() > was
}
