package memory

import (
	"tandem/internal/db"
	"tandem/internal/memory/postings"
	"tandem/internal/memory/vector"
)

// room is what the tables of postings are called after.
const room = "memory"

// index makes a live record findable: its terms, the counts of its place and its vector. It is part of the change that makes the record
// live.
func index(tx *db.Tx, tenant string, r *row) error {
	_, err := tx.Exec("UPDATE memory_place SET seq = seq WHERE tenant = ? AND nr = ?", tenant, r.place) // see indexAt
	var seq int64
	if err == nil {
		seq, err = number(tx, tenant)
	}
	if err == nil {
		err = indexAt(tx, tenant, r, seq)
	}
	return err
}

// indexAt is index with the number of what happens to the vectors of its place. Who asks has locked the row of the place before, so that
// nobody waits for it with the tenant's number in hand.
func indexAt(tx *db.Tx, tenant string, r *row, seq int64) error {
	length, err := postings.Put(tx, room, tenant, r.place, r.nr, r.Text)
	if err == nil {
		_, err = tx.Exec("UPDATE memory_place SET texts = texts + 1, length = length + ?, seq = ? WHERE tenant = ? AND nr = ?", length, seq,
			tenant, r.place)
	}
	if l, ok := builtin(); ok && err == nil {
		err = storeVector(tx, tenant, r, l, vector.Builtin().Of(r.Text), seq)
	}
	return err
}

// unindex takes a live record out of the index again. Of its vector a row without one stays, by which every server lets go of its
// signature.
func unindex(tx *db.Tx, tenant string, r *row) error {
	length, err := postings.Drop(tx, room, tenant, r.place, r.nr)
	if err == nil {
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
