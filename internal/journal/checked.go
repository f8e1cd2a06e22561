package journal

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/bits"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"tandem/internal/db"
)

// A check that found nothing leaves a mark: the root that it came to, signed. The next one goes on from there. Nobody without the
// journal's key can make a mark; an old one that is put back only makes a check longer.

// checked is the purpose of that signature.
const checked = "the journal was checked up to here"

func markBytes(origin string, size int64, root Hash, at int64) []byte {
	return fmt.Appendf(nil, "%s\n%d\n%x\n%d\n", origin, size, root, at)
}

// mark keeps how far a check came.
func (j *Journal) mark(ctx context.Context, origin string, e edge) error {
	return j.db.Write(ctx, func(tx *db.Tx) error {
		root, at := e.root(), tx.Now().UnixMicro()
		_, err := tx.Exec(`INSERT INTO journal_checked (id, size, root, at, sig) VALUES (1, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET size = excluded.size, root = excluded.root, at = excluded.at, sig = excluded.sig`,
			e.size, root[:], at, j.Attest(checked, markBytes(origin, e.size, root, at)))
		return err
	})
}

// goOn makes a check begin where the last one ended, if there is a mark that the journal's key signed and the tree still begins with
// what it names. Otherwise it begins at the beginning.
func (c *checker) goOn(j *Journal, tx *db.Tx, h head) error {
	var size, at int64
	var raw, sig []byte
	err := tx.QueryRow("SELECT size, root, at, sig FROM journal_checked WHERE id = 1").Scan(&size, &raw, &at, &sig)
	if db.NoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(raw) != sha256.Size || size <= 0 || !j.Attested(checked, markBytes(h.origin, size, Hash(raw), at), sig) {
		return nil
	}
	if size > h.size { // it was signed, so they were there
		c.claim(size, claim{who: "the check at " + db.Time(at).Format(time.RFC3339), root: Hash(raw)})
		return nil
	}
	for _, x := range j.standing.erasures() {
		if x.seq > size {
			return nil // entries from before are not as they were then
		}
	}
	e, parts, err := edgeAt(tx, size, Hash(raw))
	if err != nil || e.root() != Hash(raw) {
		return nil // the tree is damaged: the whole check says where
	}
	c.edge, c.parts = e, parts
	c.report.From, c.report.FromTime, c.report.Signed = size, db.Time(at), size
	return nil
}

// edgeAt is the edge that a tree had at a size, with the hashes of the tiles that were not full then. Everything that is read is held
// against the root.
func edgeAt(tx *db.Tx, size int64, root Hash) (e edge, parts [8][]byte, err error) {
	reader := treeReader(tx, size, root)
	var at []int64
	for level := bits.Len64(uint64(size)) - 1; level >= 0; level-- {
		if size>>level&1 == 1 {
			at = append(at, tlog.StoredHashIndex(level, size>>level-1))
		}
	}
	nodes, err := reader.ReadHashes(at)
	if err != nil {
		return e, parts, err
	}
	e.size = size
	for _, n := range nodes {
		e.nodes = append(e.nodes, Hash(n))
	}
	for level := range parts {
		full := size >> (tileHeight * level)
		at = at[:0]
		for n := full - full%tileWidth; n < full; n++ {
			at = append(at, tlog.StoredHashIndex(tileHeight*level, n))
		}
		hashes, err := reader.ReadHashes(at)
		if err != nil {
			return e, parts, err
		}
		for _, n := range hashes {
			parts[level] = append(parts[level], n[:]...)
		}
	}
	return e, parts, nil
}
