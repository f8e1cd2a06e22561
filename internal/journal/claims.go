package journal

import (
	"context"
	"database/sql"
	"fmt"

	"tandem/internal/db"
)

// signed is a row of a checkpoint or a receipt.
type signed struct {
	n    int64
	text string
}

func scanSigned(r *sql.Rows) (v signed, err error) { return v, r.Scan(&v.n, &v.text) }

// checkpoints collects what the checkpoints in the database say.
func (c *checker) checkpoints(tx *db.Tx) error {
	rows, err := tx.Query("SELECT size, note FROM journal_checkpoint WHERE size > ? ORDER BY size", c.after())
	points, err := db.Collect(rows, err, scanSigned)
	if err != nil {
		return err
	}
	for _, p := range points {
		cp, err := c.open(p.text, c.report.Key)
		if err == nil && cp.Size != p.n {
			err = fmt.Errorf("it is one of %d entries", cp.Size)
		}
		if err != nil {
			c.report.find(Signature, p.n, "the checkpoint at %d entries: %v", p.n, err)
			continue
		}
		c.claim(cp.Size, claim{who: fmt.Sprintf("the checkpoint signed at %d entries", cp.Size), root: cp.Root,
			good: func() { c.report.Signed = max(c.report.Signed, cp.Size) }})
	}
	return nil
}

// page is how many rows a check reads in one transaction: the database is not held up by a journal of years.
const page = 1024

// receipts collects what the receipts in the database say.
func (j *Journal) receipts(ctx context.Context, c *checker, h head) error {
	for after, more := c.after(), true; more; {
		err := j.db.Read(ctx, func(tx *db.Tx) error {
			now, err := readHead(tx)
			if err != nil {
				return err
			}
			rows, err := tx.Query("SELECT seq, proof FROM journal_receipt WHERE seq > ? ORDER BY seq LIMIT ?", after, page)
			list, err := db.Collect(rows, err, scanSigned)
			if more = err == nil && len(list) == page; err != nil {
				return err
			}
			for _, p := range list {
				if err := c.storedReceipt(tx, p.n, p.text, h.size, now.size); err != nil {
					return err
				}
				after = p.n
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// storedReceipt takes a receipt's word for a tree of up to size entries; one that was made of a larger tree meanwhile, up to now, is for
// the next check.
func (c *checker) storedReceipt(tx *db.Tx, seq int64, proof string, size, now int64) error {
	all, err := collect(tx.Query(selectEntry+" WHERE e.seq = ?", seq))
	if err != nil {
		return err
	}
	if len(all) == 0 {
		c.report.find(Missing, seq, "entry %d is gone, and its receipt is still there", seq)
		return nil
	}
	r := &Receipt{Format: ReceiptFormat, Entry: all[0], Proof: proof}
	cp, err := OpenReceipt(r, c.report.Key)
	for _, f := range c.former {
		if err == nil {
			break
		}
		if old, oldErr := OpenReceipt(r, f.key); oldErr == nil && old.Size <= f.size {
			cp, err = old, nil
		}
	}
	if err != nil {
		c.report.find(BadProof, seq, "the receipt of entry %d: %v", seq, err)
		return nil
	}
	if cp.Size > size && cp.Size <= now {
		return nil
	}
	c.claim(cp.Size, claim{who: fmt.Sprintf("the receipt of entry %d", seq), root: cp.Root, good: func() { c.report.Receipts++ }})
	return nil
}
