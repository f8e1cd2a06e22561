package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"math"
	"strings"

	"tandem/internal/db"
)

// Verify reads the whole journal and checks every entry, payload, tile,
// checkpoint and receipt, and every anchor (a signed checkpoint kept
// elsewhere) that the caller brings.
func (j *Journal) Verify(ctx context.Context, anchors []string) (*Report, error) {
	return j.verify(ctx, anchors, true)
}

// VerifyNew checks what was recorded since the last check that found nothing,
// and everything where there was none. Entries from before are not read again:
// the tree must begin with the root that was signed then.
func (j *Journal) VerifyNew(ctx context.Context) (*Report, error) { return j.verify(ctx, nil, false) }

func (j *Journal) verify(ctx context.Context, anchors []string, whole bool) (*Report, error) {
	c := newChecker()
	c.erased = j.standing.erasure
	gone := j.standing.erasures()
	var h head // what is recorded later is for the next check
	err := j.db.Read(ctx, func(tx *db.Tx) (err error) {
		if h, err = readHead(tx); err != nil {
			return err
		}
		c.report.Origin = h.origin
		key, err := j.keyIn(tx)
		if err != nil {
			return err
		}
		if c.report.Key, err = key.verifier(h.origin); err != nil {
			return err
		}
		if c.former, err = j.formerKeys(tx); err != nil {
			return err
		}
		if !whole {
			if err := c.goOn(j, tx, h); err != nil {
				return err
			}
		}
		for i, text := range anchors {
			c.addAnchor(fmt.Sprintf("anchor %d", i+1), text, c.report.Key)
		}
		return c.checkpoints(tx)
	})
	for _, step := range []func() error{
		func() error { return j.receipts(ctx, c, h) },
		func() error { return j.rows(ctx, c, h) },
		func() error { return j.db.Read(ctx, func(tx *db.Tx) error { return c.storedHead(tx, h) }) },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return nil, err
	}
	orphans, err := j.Orphans(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range orphans {
		c.report.find(f.Kind, f.Seq, "%s", f.What)
	}
	open := c.erasures(gone, j.standing.erasures())
	r := c.finish()
	if r.OK && r.Size > 0 {
		_ = j.mark(ctx, r.Origin, c.edge) // where it cannot be kept, the next check is as long as this one
	}
	if n := j.Waiting(); n > 0 {
		r.Cannot = append(r.Cannot, fmt.Sprintf("%d rows that confer authority are older than the journal's word about them, "+
			"and nobody has confirmed them yet: tandem audit confirm", n))
	}
	if open > 0 {
		r.Cannot = append(r.Cannot,
			fmt.Sprintf("%d tenants are being erased: which entries lose their words with them is known when that is done.", open))
	}
	return r, nil
}

// addAnchor opens a checkpoint from outside and holds the entries against it.
func (c *checker) addAnchor(who, text, key string) {
	c.brought++
	a, err := c.open(text, key)
	if err != nil {
		c.report.find(Signature, 0, "%s: %v", who, err)
		return
	}
	c.claim(a.Size, claim{who: who, root: a.Root, anchor: true, good: func() { c.report.Anchored = max(c.report.Anchored, a.Size) }})
}

// after is the entry behind which rows are looked at: all of them, or those since the last check.
func (c *checker) after() int64 {
	if c.report.From > 0 {
		return c.report.From
	}
	return math.MinInt64
}

// rows walks the entries in order and rebuilds the tree.
func (j *Journal) rows(ctx context.Context, c *checker, h head) error {
	w := walk{checker: c, head: h.size}
	for after, more := c.after(), true; more; {
		first := after == c.after()
		err := j.db.Read(ctx, func(tx *db.Tx) (err error) {
			w.tx = tx
			if first {
				if err := w.take(c.size); err != nil {
					return err
				}
			}
			after, more, err = w.some(after)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// some reads a page of entries, and says after which to go on, and whether to.
func (w *walk) some(after int64) (last int64, more bool, err error) {
	type row struct {
		Entry
		leaf []byte
		bad  error
	}
	query := strings.Replace(selectEntry, " FROM ", ", e.leaf FROM ", 1) + " WHERE e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?"
	found, err := w.tx.Query(query, after, w.head, page)
	list, err := db.Collect(found, err, func(r *sql.Rows) (row, error) {
		var v row
		v.Entry, v.bad = scanEntry(r, &v.leaf)
		return v, nil
	})
	if err != nil || len(list) == 0 {
		return after, false, err
	}
	for i := range list {
		if list[i].bad != nil {
			w.report.find(Changed, list[i].Seq, "entry %d cannot be read: %v", list[i].Seq, list[i].bad)
		}
		if err := w.row(&list[i].Entry, list[i].leaf); err != nil {
			return after, false, err
		}
	}
	last = list[len(list)-1].Seq
	return last, last > after, nil // else it is unreadable to the end
}

// walk is a reading of all entries.
type walk struct {
	*checker
	tx   *db.Tx
	head int64  // how many entries the head row counts
	tile []byte // the hashes of the level-0 tile at hand, nil when there is none
}

func (w *walk) row(e *Entry, leaf []byte) error {
	if e.Seq <= w.size || (e.Seq > w.size+1 && e.Seq > w.head) {
		w.report.find(Extra, e.Seq, "entry %d has no place in the sequence", e.Seq)
		return nil
	}
	if e.Seq > w.size+1 {
		if err := w.gap(e.Seq - 1); err != nil {
			return err
		}
	}
	if err := w.turn(e.Seq); err != nil {
		return err
	}
	recorded, ok := w.recorded(e.Seq)
	if !ok && len(leaf) == sha256.Size {
		recorded, ok = Hash(leaf), true
	}
	if ok && !sameHash(leaf, recorded) {
		w.report.find(Changed, e.Seq, "the leaf of entry %d is not the one in its tile", e.Seq)
	}
	if !ok {
		w.report.find(Changed, e.Seq, "entry %d has no leaf", e.Seq)
		record := e.Record()
		recorded = leafHash(record[:])
	}
	if err := w.seals(w.tx, e); err != nil {
		return err
	}
	full := w.entry(e, &recorded)
	return w.closeTiles(recorded, full)
}

// turn takes up the tile that begins with an entry.
func (w *walk) turn(seq int64) error {
	if (seq-1)%tileWidth != 0 {
		return nil
	}
	return w.take(seq - 1)
}

// take takes up the tile that the entry behind size is in.
func (w *walk) take(size int64) error {
	w.tile = nil
	err := w.tx.QueryRow("SELECT hashes FROM journal_tile WHERE level = 0 AND n = ?", size/tileWidth).Scan(&w.tile)
	if db.NoRows(err) {
		return nil
	}
	return err
}

// recorded is the leaf of an entry as its full tile has it.
func (w *walk) recorded(seq int64) (Hash, bool) {
	i := int((seq - 1) % tileWidth * sha256.Size)
	if len(w.tile) != tileWidth*sha256.Size {
		return Hash{}, false
	}
	return Hash(w.tile[i : i+sha256.Size]), true
}

// gap reports entries that are gone and goes on with their leaves where a
// tile still has them.
func (w *walk) gap(last int64) error {
	first := w.size + 1
	if first == last {
		w.report.find(Missing, first, "entry %d is gone", first)
	} else {
		w.report.find(Missing, first, "entries %d to %d are gone", first, last)
	}
	for seq := first; seq <= last; seq++ {
		if err := w.turn(seq); err != nil {
			return err
		}
		h, ok := w.recorded(seq)
		if !ok {
			w.skip(last)
			return nil
		}
		if err := w.closeTiles(h, w.leaf(h)); err != nil {
			return err
		}
	}
	return nil
}

// closeTiles compares the tiles that an entry completed with their rows.
func (w *walk) closeTiles(leaf Hash, full []closed) error {
	if w.broken {
		return nil
	}
	w.parts[0] = append(w.parts[0], leaf[:]...)
	for _, f := range full {
		n := w.size>>(tileHeight*(f.level+1)) - 1
		want := w.parts[f.level]
		w.parts[f.level] = nil
		w.parts[f.level+1] = append(w.parts[f.level+1], f.root[:]...)
		var root, hashes []byte
		err := w.tx.QueryRow("SELECT root, hashes FROM journal_tile WHERE level = ? AND n = ?", f.level, n).Scan(&root, &hashes)
		switch {
		case db.NoRows(err):
			w.report.find(Tile, w.size, "tile %d/%d is gone", f.level, n)
		case err != nil:
			return err
		case !sameHash(root, f.root) || string(hashes) != string(want):
			w.report.find(Tile, w.size, "tile %d/%d does not fit the entries below it", f.level, n)
		}
	}
	return nil
}

// storedHead compares what the walk found with the head row, and looks for
// tiles that hang in the air.
func (c *checker) storedHead(tx *db.Tx, h head) error {
	switch {
	case c.size < h.size:
		c.report.find(Truncated, c.size+1, "the head counts %d entries and the journal ends at %d", h.size, c.size)
	case !c.broken && c.root() != h.root():
		c.report.find(Head, h.size, "the head's edge is not that of the %d entries", h.size)
	}
	now, err := readHead(tx)
	if err != nil {
		return err
	}
	rows, err := tx.Query("SELECT seq FROM journal_event WHERE seq > ? ORDER BY seq LIMIT ?", now.size, maxFindings)
	extra, err := db.Collect(rows, err, func(r *sql.Rows) (seq int64, err error) { return seq, r.Scan(&seq) })
	if err != nil {
		return err
	}
	for _, seq := range extra {
		c.report.find(Extra, seq, "entry %d has no place in the sequence: the head counts %d", seq, now.size)
	}
	rows, err = tx.Query("SELECT level, count(*) FROM journal_tile GROUP BY level")
	type levels struct{ level, n int64 }
	counts, err := db.Collect(rows, err, func(r *sql.Rows) (l levels, err error) { return l, r.Scan(&l.level, &l.n) })
	for _, l := range counts {
		if l.level > 6 || l.n > now.size>>(tileHeight*(l.level+1)) {
			c.report.find(Tile, 0, "there are %d tiles of level %d, more than %d entries have", l.n, l.level, now.size)
		}
	}
	return err
}
