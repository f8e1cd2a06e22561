package journal

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/op"
)

// askAtOnce is how many rows are looked up with one query: a server may have a session for every prompt there ever was.
const askAtOnce = 500

// newestSeals are those of the newest entries about rows; of a row of which no entry speaks there is none. One whose entry was taken out
// of the database is the newest all the same: it vouches for nothing, and what was said before it does not count again.
func newestSeals(tx *db.Tx, rows []op.Sealed) (map[place]storedSeal, error) {
	subjects := map[string][]string{}
	for _, r := range rows {
		subjects[r.Tenant] = append(subjects[r.Tenant], r.Subject)
	}
	out := map[place]storedSeal{}
	for tenant, all := range subjects {
		for some := range slices.Chunk(all, askAtOnce) {
			found, err := newestOf(tx, tenant, some)
			if err != nil {
				return nil, err
			}
			for _, x := range found {
				out[place{tenant, x.Subject}] = x
			}
		}
	}
	return out, nil
}

func newestOf(tx *db.Tx, tenant string, subjects []string) ([]storedSeal, error) {
	args := []any{tenant}
	for _, s := range subjects {
		args = append(args, s)
	}
	rows, err := tx.Query(`SELECT s.subject, s.seq, s.digest, s.mac, e.leaf FROM journal_seal s LEFT JOIN journal_event e ON e.seq = s.seq
		WHERE s.tenant = ? AND s.subject IN (?`+strings.Repeat(", ?", len(subjects)-1)+`) AND s.seq =
		(SELECT max(n.seq) FROM journal_seal n WHERE n.tenant = s.tenant AND n.subject = s.subject)`, args...)
	return db.Collect(rows, err, func(rows *sql.Rows) (x storedSeal, err error) {
		var digest []byte
		x.tenant = tenant
		err = rows.Scan(&x.Subject, &x.seq, &digest, &x.mac, &x.leaf)
		copy(x.Digest[:], digest)
		return x, err
	})
}

// Kinds are those of all rows of which an entry ever spoke.
func (j *Journal) Kinds(ctx context.Context, of []string) (spoken []string, err error) {
	err = j.db.Read(ctx, func(tx *db.Tx) error {
		spoken = nil
		for _, kind := range of {
			var n int
			err := tx.QueryRow("SELECT 1 FROM journal_seal WHERE subject LIKE ? LIMIT 1", kind+":%").Scan(&n)
			if err == nil {
				spoken = append(spoken, kind)
			} else if !db.NoRows(err) {
				return err
			}
		}
		return nil
	})
	return spoken, err
}
