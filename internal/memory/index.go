package memory

import (
	"tandem/internal/db"
	"tandem/internal/memory/postings"
)

// posted is the table in which the terms of live records stand.
const posted = "memory_posting"

// index makes a live record findable: a row for each of its terms, the counts of its place and its vector. It is part of the change that
// makes the record live.
func index(tx *db.Tx, tenant string, r *row) error {
	length, err := postings.Put(tx, posted, tenant, r.place, r.nr, r.Text)
	if err == nil {
		_, err = tx.Exec("UPDATE memory_place SET texts = texts + 1, length = length + ? WHERE tenant = ? AND nr = ?", length, tenant, r.place)
	}
	if err == nil {
		err = putVector(tx, tenant, r)
	}
	return err
}

// unindex takes a live record out of the index again. It goes by the rows that are there, not by the text: what an older program
// indexed in another way is taken out, too. Of its vector a row without one stays, by which every server lets go of its signature.
func unindex(tx *db.Tx, tenant string, r *row) error {
	var length int64
	err := tx.QueryRow("SELECT length FROM memory_posting WHERE tenant = ? AND nr = ? LIMIT 1", tenant, r.nr).Scan(&length)
	if err != nil && !db.NoRows(err) { // a text without terms has no rows, and is counted all the same
		return err
	}
	if _, err = tx.Exec("DELETE FROM memory_posting WHERE tenant = ? AND nr = ?", tenant, r.nr); err == nil {
		_, err = tx.Exec("UPDATE memory_place SET texts = texts - 1, length = length - ? WHERE tenant = ? AND nr = ?", length, tenant, r.place)
	}
	if err != nil {
		return err
	}
	seq, err := sequence(tx, tenant, r.place)
	for _, table := range []string{"memory_vector", "memory_pointed"} {
		if err == nil {
			_, err = tx.Exec("UPDATE "+table+" SET seq = ?, model = ?, vec = ? WHERE tenant = ? AND place = ? AND nr = ?", seq, gone, []byte{},
				tenant, r.place, r.nr)
		}
	}
	return err
}
