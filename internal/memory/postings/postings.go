// Package postings keeps which texts have which terms, in two tables of the room that owns the texts, and weighs texts by the terms of a
// question. ROOM_posting has a row for each term of a text (tenant, term, place, nr, often, length, spots), ROOM_words one for each text
// with all of its terms (tenant, nr, length, words), by which it is taken out again. A place is a part of a tenant's texts that somebody
// may read or not. What is counted and found lies in the places that a search names, and nothing else changes it.
package postings

import (
	"cmp"
	"database/sql"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/db"
	"tandem/internal/memory/text"
)

// maxPostings is how many postings a search reads and how far it counts them, however many texts there are: of a term that more texts have,
// the newest are read. Those of a phrase are all read, as they say whether it stands there at all.
var maxPostings = 200_000

// Bounds of a search.
const (
	maxBegun = 64 // terms that a beginning* stands for
	// MaxCandidates is how many texts a search answers at most.
	MaxCandidates = 400
	maxSpots      = 64 // places of a term in one text that are kept for phrases
	atOnce        = 50 // rows that one statement writes
)

// Put adds the terms of a text, and says how many it has. It notes which these are, by which they are taken out again.
func Put(tx *db.Tx, of, tenant string, place, nr int64, s string) (length int, err error) {
	terms := text.Terms(s)
	length = len(terms)
	slices.SortFunc(terms, func(a, b text.Term) int { return cmp.Or(strings.Compare(a.Stem, b.Stem), cmp.Compare(a.At, b.At)) })
	var words, spots []byte
	args := make([]any, 0, 7*min(length, atOnce))
	for begin := 0; begin < length && err == nil; {
		stem, end := terms[begin].Stem, begin
		for spots = spots[:0]; end < length && terms[end].Stem == stem; end++ {
			if end-begin < maxSpots {
				spots = append(strconv.AppendInt(spots, int64(terms[end].At), 10), ' ')
			}
		}
		words = append(append(words, stem...), between...)
		args = append(args, tenant, []byte(stem), place, nr, end-begin, length, string(spots))
		if begin = end; len(args) == 7*atOnce || begin == length {
			_, err = tx.Exec("INSERT INTO "+of+"_posting (tenant, term, place, nr, often, length, spots) VALUES "+
				strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?, ?, ?),", len(args)/7), ","), args...)
			args = args[:0]
		}
	}
	if err == nil {
		_, err = tx.Exec("INSERT INTO "+of+"_words (tenant, nr, length, words) VALUES (?, ?, ?, ?)", tenant, nr, length, string(words))
	}
	return length, err
}

// Drop takes a text out again, and says how many terms it had. It goes by what was noted of it, not by the text: what an older program
// took apart in another way goes, too. A text that is not there has none.
func Drop(tx *db.Tx, of, tenant string, place, nr int64) (length int64, err error) {
	var words string
	err = tx.QueryRow("DELETE FROM "+of+"_words WHERE tenant = ? AND nr = ? RETURNING length, words", tenant, nr).Scan(&length, &words)
	if db.NoRows(err) {
		return 0, nil
	}
	for some := range slices.Chunk(strings.Split(strings.TrimSuffix(words, between), between), atOnce) {
		if err != nil {
			return 0, err
		}
		args := []any{tenant, place, nr}
		for _, w := range some {
			args = append(args, []byte(w))
		}
		_, err = tx.Exec("DELETE FROM "+of+"_posting WHERE tenant = ? AND place = ? AND nr = ? AND term IN ("+
			strings.TrimSuffix(strings.Repeat("?,", len(some)), ",")+")", args...)
	}
	return length, err
}

// between stands behind each of the words of a text; no term holds it.
const between = "|"

// Search is one look into a table of postings.
type Search struct {
	Tx     *db.Tx
	Of     string // the room: the tables are called after it
	Tenant string
	Places []int64 // that are read; at least one
	Hidden []int64 // texts that are not there for who asks
	Corpus text.Corpus
}

// where is the condition of every query: the tenant, the places, and not what is hidden.
func (s Search) where() (string, []any) {
	cond, in := s.Tx.Among("place", s.Places)
	args := []any{s.Tenant, in}
	if len(s.Hidden) > 0 {
		hidden, out := s.Tx.Among("nr", s.Hidden)
		cond, args = cond+" AND NOT "+hidden, append(args, out)
	}
	return " WHERE tenant = ? AND " + cond, args
}

// term is one that a question asks for, and in how many texts it stands.
type term struct {
	stem  string
	texts int
}

// Score finds what has the words of a question and weighs it, the best first, rare words before others. What is common is left out when
// too much was read already: it changes little. A hit's id is the number of its text, of one length, so that equal scores are in order.
// The counts say how many texts have each term.
func (s Search) Score(q text.Query) (found []text.Hit, counts map[string]int, err error) {
	terms, err := s.terms(q)
	if err != nil {
		return nil, nil, err
	}
	counts = map[string]int{}
	scores := map[int64]float64{}
	spots := map[string]map[int64][]int{}
	for _, p := range q.Phrases {
		for _, stem := range p {
			spots[stem] = map[int64][]int{}
		}
	}
	where, within := s.where()
	read := 0
	for _, t := range terms {
		counts[t.stem] = t.texts
		_, phrase := spots[t.stem]
		if read > 0 && read+t.texts > maxPostings && !phrase {
			continue
		}
		read += t.texts
		weight := s.Corpus.Weight(t.texts)
		weigh := func(p posting) {
			scores[p.nr] += s.Corpus.Score(weight, p.often, p.length)
			if at := spots[t.stem]; at != nil {
				at[p.nr] = readSpots(p.spots)
			}
		}
		if !phrase && t.texts > maxPostings {
			err = s.newest(t.stem, weigh)
		} else {
			_, err = s.posted(where+" AND term = ?", append(slices.Clone(within), []byte(t.stem)), weigh)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	hits := make([]text.Hit, 0, len(scores))
	for nr, score := range scores {
		if slices.ContainsFunc(q.Phrases, func(p []string) bool { return !stands(p, nr, spots) }) {
			continue
		}
		hits = append(hits, Hit(nr, score))
	}
	text.Sort(hits)
	return hits[:min(len(hits), MaxCandidates)], counts, nil
}

// posting is that a text has a term.
type posting struct {
	nr            int64
	often, length int
	spots         string
}

// posted reads postings, and says of how many texts.
func (s Search) posted(where string, args []any, each func(posting)) (n int, err error) {
	rows, err := s.Tx.Query("SELECT nr, often, length, spots FROM "+s.Of+"_posting"+where, args...)
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (_ struct{}, err error) {
		var p posting
		if err = rows.Scan(&p.nr, &p.often, &p.length, &p.spots); err == nil {
			n++
			each(p)
		}
		return struct{}{}, err
	})
	return n, err
}

// newest reads maxPostings of a common term, the newest of each place: what one place has of it keeps nobody from finding what lies in
// another one. What small places leave is for those that have more.
func (s Search) newest(stem string, each func(posting)) error {
	below := map[int64]int64{} // of each place that may have more: what is behind this number was read
	for _, place := range s.Places {
		below[place] = math.MaxInt64
	}
	for left := maxPostings; left > 0 && len(below) > 0; {
		share := max(left/len(below), 1)
		for _, place := range slices.Sorted(maps.Keys(below)) {
			one, last := s, below[place]
			one.Places = []int64{place}
			where, within := one.where()
			n, err := s.posted(where+" AND term = ? AND nr < ? ORDER BY nr DESC LIMIT "+strconv.Itoa(min(share, left)),
				append(within, []byte(stem), last), func(p posting) { below[place] = p.nr; each(p) })
			if err != nil {
				return err
			}
			if n < min(share, left) {
				delete(below, place)
			}
			if left -= n; left == 0 {
				return nil
			}
		}
	}
	return nil
}

// Hit is a text that was found, by its number.
func Hit(nr int64, score float64) text.Hit { return text.Hit{ID: pad(nr), Score: score} }

// Nr is the number of the text that was found.
func Nr(h text.Hit) int64 {
	nr, _ := strconv.ParseInt(h.ID, 10, 64)
	return nr
}

// stands says whether a phrase is in a text.
func stands(phrase []string, nr int64, spots map[string]map[int64][]int) bool {
	var places [][]int
	for _, stem := range phrase {
		places = append(places, spots[stem][nr])
	}
	return text.Follow(places)
}

// terms are those of a question that stand in any text that the caller may read, the rarest first.
func (s Search) terms(q text.Query) (out []term, err error) {
	where, within := s.where()
	for _, stem := range q.Stems {
		t := term{stem: stem}
		if err := s.Tx.QueryRow("SELECT count(*) FROM (SELECT 1 FROM "+s.Of+"_posting"+where+" AND term = ? LIMIT "+
			strconv.Itoa(maxPostings+1)+") AS counted", append(slices.Clone(within), []byte(stem))...).Scan(&t.texts); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	for _, begin := range q.Prefixes {
		rows, err := s.Tx.Query("SELECT term, count(*) FROM "+s.Of+"_posting"+where+
			" AND term >= ? AND term < ? GROUP BY term ORDER BY term LIMIT "+
			strconv.Itoa(maxBegun), append(slices.Clone(within), []byte(begin), append([]byte(begin), 0xff))...)
		begun, err := db.Collect(rows, err, func(rows *sql.Rows) (t term, err error) {
			var stem []byte
			err = rows.Scan(&stem, &t.texts)
			t.stem = string(stem)
			return t, err
		})
		if err != nil {
			return nil, err
		}
		out = append(out, begun...)
	}
	slices.SortFunc(out, func(a, b term) int { return cmp.Or(cmp.Compare(a.texts, b.texts), strings.Compare(a.stem, b.stem)) })
	return slices.CompactFunc(out, func(a, b term) bool { return a.stem == b.stem }), nil
}

func readSpots(s string) (out []int) {
	for _, f := range strings.Fields(s) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}

func pad(nr int64) string {
	s := strconv.FormatInt(nr, 10)
	return strings.Repeat("0", max(0, 18-len(s))) + s
}
