package journal

import (
	"bytes"
	"encoding/json"

	"tandem/internal/db"
	"tandem/internal/op"
)

// Rows that move by themselves, as a job does, are vouched for with every move: the entry that tells of it seals what the row says then.

// Kept reports whether the newest entry about a row vouches for what it says, as this transaction sees it.
func (j *Journal) Kept(tx *db.Tx, s op.Sealed) (bool, error) {
	return j.Vouches(tx, s.Tenant, Seal{s.Subject, Digest(s.Says...)})
}

// KeptOf is Kept of several rows, with one look-up for each 500 of them.
func (j *Journal) KeptOf(tx *db.Tx, rows []op.Sealed) ([]bool, error) {
	newest, err := newestSeals(tx, rows)
	out := make([]bool, len(rows))
	for i, r := range rows {
		x, told := newest[place{r.Tenant, r.Subject}]
		out[i] = told && j.holds(tx, x, Digest(r.Says...))
	}
	return out, err
}

// Speaks reports whether an entry speaks of a row that has not ended, whether or not it is there.
func (j *Journal) Speaks(tx *db.Tx, tenant, subject string) (bool, error) {
	var digest []byte
	err := tx.QueryRow("SELECT digest FROM journal_seal WHERE tenant = ? AND subject = ? ORDER BY seq DESC LIMIT 1", tenant, subject).
		Scan(&digest)
	if db.NoRows(err) {
		return false, nil
	}
	return err == nil && !bytes.Equal(digest, nothing[:]), err
}

// Tell appends an entry that says something and vouches for rows.
func (j *Journal) Tell(tx *db.Tx, e Event, said map[string]any, rows ...op.Sealed) (err error) {
	e.Seals = append(e.Seals, SealsOf(rows)...)
	if said["seals"] = told(e.Seals); len(e.Seals) == 0 {
		delete(said, "seals")
	}
	if e.Payload, err = json.Marshal(said); err == nil {
		_, err = j.Append(tx, e)
	}
	return err
}
