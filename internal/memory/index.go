package memory

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/db"
	"tandem/internal/memory/text"
)

// maxSpots is how many places of a term in one text are kept for phrases.
const maxSpots = 64

// index makes a live record findable: a row for each of its terms, and the counts of its place. It is part of the change that makes
// the record live.
func index(tx *db.Tx, tenant string, r *row) error {
	terms := text.Terms(r.Text)
	spots := map[string][]int{}
	for _, t := range terms {
		spots[t.Stem] = append(spots[t.Stem], t.At)
	}
	if _, err := tx.Exec("UPDATE memory_place SET texts = texts + 1, length = length + ? WHERE tenant = ? AND nr = ?", len(terms), tenant,
		r.place); err != nil {
		return err
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(spots)), 50) {
		args := make([]any, 0, 7*len(some))
		for _, stem := range some {
			args = append(args, tenant, []byte(stem), r.place, r.nr, len(spots[stem]), len(terms), written(spots[stem]))
		}
		if _, err := tx.Exec("INSERT INTO memory_posting (tenant, term, place, nr, often, length, spots) VALUES "+
			strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?, ?, ?),", len(some)), ","), args...); err != nil {
			return err
		}
	}
	return nil
}

// unindex takes a live record out of the index again. It goes by the rows that are there, not by the text: what an older program
// indexed in another way is taken out, too.
func unindex(tx *db.Tx, tenant string, r *row) error {
	var length int64
	err := tx.QueryRow("SELECT length FROM memory_posting WHERE tenant = ? AND nr = ? LIMIT 1", tenant, r.nr).Scan(&length)
	if err != nil && !db.NoRows(err) { // a text without terms has no rows, and is counted all the same
		return err
	}
	if _, err = tx.Exec("DELETE FROM memory_posting WHERE tenant = ? AND nr = ?", tenant, r.nr); err == nil {
		_, err = tx.Exec("UPDATE memory_place SET texts = texts - 1, length = length - ? WHERE tenant = ? AND nr = ?", length, tenant, r.place)
	}
	return err
}

func written(spots []int) string {
	var b strings.Builder
	for _, at := range spots[:min(len(spots), maxSpots)] {
		b.WriteString(strconv.Itoa(at))
		b.WriteByte(' ')
	}
	return b.String()
}

func readSpots(s string) (out []int) {
	for _, f := range strings.Fields(s) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}
