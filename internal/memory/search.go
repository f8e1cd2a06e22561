package memory

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/text"
	"tandem/internal/memory/wire"
)

// Bounds of a search: so many rows of the index are read at most, so many records looked at, and so much of each text answered.
const (
	maxPostings   = 200_000
	maxBegun      = 64 // terms that a beginning* stands for
	maxCandidates = 400
	maxShown      = 2000
	maxHits       = 50
)

func (r *Room) search(ctx context.Context, in wire.SearchIn) (wire.SearchOut, error) {
	out := wire.SearchOut{Hits: []wire.Hit{}, How: "by words"}
	if err := checkFilter(in.Filter); err != nil {
		return out, err
	}
	if in.Limit < 0 || in.Limit > maxHits {
		return out, fault.New(fault.Invalid, "memory.search", "limit lies between 1 and %d", maxHits)
	}
	if len(in.Query) > maxText {
		return out, fault.New(fault.Invalid, "memory.search", "the question is longer than %d bytes", maxText)
	}
	err := r.db.ReadWide(ctx, func(tx *db.Tx) error {
		s, err := look(ctx, tx, in.Filter, wire.Live)
		if err != nil || len(s.places) == 0 {
			return err
		}
		hits, err := s.score(tx, text.Read(in.Query))
		if err != nil {
			return err
		}
		out.Hits, err = s.fetch(tx, hits, in.Filter, cmp.Or(in.Limit, 10))
		return err
	})
	if err != nil {
		return out, err
	}
	ids := make([]string, len(out.Hits))
	for i, h := range out.Hits {
		ids[i] = h.ID
	}
	return out, r.tell(ctx, ids...)
}

// term is one that a question asks for, and in how many texts it stands.
type term struct {
	stem  string
	texts int
}

// score finds what has the words of a question and weighs it, rare words first. What is common is left out when too much was read
// already: it changes little.
func (s *sight) score(tx *db.Tx, q text.Query) ([]text.Hit, error) {
	terms, err := s.terms(tx, q)
	if err != nil {
		return nil, err
	}
	scores := map[int64]float64{}
	spots := map[string]map[int64][]int{}
	for _, p := range q.Phrases {
		for _, stem := range p {
			spots[stem] = map[int64][]int{}
		}
	}
	read := 0
	for _, t := range terms {
		if _, phrase := spots[t.stem]; read > 0 && read+t.texts > maxPostings && !phrase {
			continue
		}
		read += t.texts
		weight := s.corpus.Weight(t.texts)
		cond, in := s.within("place")
		rows, err := tx.Query("SELECT nr, often, length, spots FROM memory_posting WHERE tenant = ? AND term = ? AND "+cond,
			append([]any{s.tenant, []byte(t.stem)}, in...)...)
		if err != nil {
			return nil, err
		}
		_, err = db.Collect(rows, nil, func(rows *sql.Rows) (_ struct{}, err error) {
			var nr int64
			var often, length int
			var where string
			err = rows.Scan(&nr, &often, &length, &where)
			scores[nr] += s.corpus.Score(weight, often, length)
			if at := spots[t.stem]; at != nil {
				at[nr] = readSpots(where)
			}
			return struct{}{}, err
		})
		if err != nil {
			return nil, err
		}
	}
	hits := make([]text.Hit, 0, len(scores))
	for nr, score := range scores {
		if slices.ContainsFunc(q.Phrases, func(p []string) bool { return !stands(p, nr, spots) }) {
			continue
		}
		hits = append(hits, text.Hit{ID: pad(nr), Score: score})
	}
	text.Sort(hits)
	return hits[:min(len(hits), maxCandidates)], nil
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
func (s *sight) terms(tx *db.Tx, q text.Query) (out []term, err error) {
	cond, in := s.within("place")
	for _, stem := range q.Stems {
		t := term{stem: stem}
		if err := tx.QueryRow("SELECT count(*) FROM memory_posting WHERE tenant = ? AND term = ? AND "+cond,
			append([]any{s.tenant, []byte(stem)}, in...)...).Scan(&t.texts); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	for _, begin := range q.Prefixes {
		rows, err := tx.Query("SELECT term, count(*) FROM memory_posting WHERE tenant = ? AND term >= ? AND term < ? AND "+cond+
			" GROUP BY term ORDER BY term LIMIT "+strconv.Itoa(maxBegun),
			append([]any{s.tenant, []byte(begin), append([]byte(begin), 0xff)}, in...)...)
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

// fetch reads the records that were found, under every condition again, weighs how new and how useful they are, and folds together
// what says the same.
func (s *sight) fetch(tx *db.Tx, hits []text.Hit, f wire.Filter, limit int) ([]wire.Hit, error) {
	where, conds := s.where(f, wire.Live)
	found := []wire.Hit{}
	words := map[string]string{}
	for some := range slices.Chunk(hits, 100) {
		score := map[int64]float64{}
		args := slices.Clone(conds)
		for _, h := range some {
			nr, _ := strconv.ParseInt(h.ID, 10, 64)
			score[nr] = h.Score
			args = append(args, nr)
		}
		marks, args := filled(args, len(some))
		rows, err := tx.Query("SELECT "+columns+from+where+" AND r.nr IN ("+marks+")", args...)
		page, err := db.Collect(rows, err, scanRow)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			words[r.ID] = said(r.Text)
			found = append(found, wire.Hit{Record: r.Record, Score: math.Round(1e6*score[r.nr]*favour(r, s.now)) / 1e6})
		}
	}
	slices.SortFunc(found, func(a, b wire.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID)) })
	out := fold(found, words, limit)
	records := make([]*wire.Record, len(out))
	for i := range out {
		records[i] = &out[i].Record
		if short := []rune(out[i].Text); len(short) > maxShown {
			out[i].Text, out[i].Cut = string(short[:maxShown]), true
		}
	}
	return out, sources(tx, s.tenant, records...)
}

// favour lets what is new or was useful stand a little higher. Age changes the rank of a record and never whether it is there.
func favour(r *row, now time.Time) float64 {
	days := math.Floor(now.Sub(r.ChangedAt).Hours() / 24)
	return 1 + 0.1*math.Exp(-days/90) + 0.02*math.Min(5, math.Log1p(float64(r.Uses)))
}

// fold keeps the best of those that say the same, and names the others with it.
func fold(found []wire.Hit, words map[string]string, limit int) []wire.Hit {
	first := map[string]int{}
	out := []wire.Hit{}
	for _, h := range found {
		if i, known := first[words[h.ID]]; known {
			out[i].Same = append(out[i].Same, h.ID)
			continue
		}
		if len(out) == limit {
			continue
		}
		first[words[h.ID]] = len(out)
		out = append(out, h)
	}
	return out
}

// said are the words of a text without what does not matter.
func said(s string) string {
	var b strings.Builder
	for _, t := range text.Terms(s) {
		b.WriteString(t.Stem)
		b.WriteByte(' ')
	}
	return b.String()
}

func pad(nr int64) string {
	s := strconv.FormatInt(nr, 10)
	return strings.Repeat("0", max(0, 18-len(s))) + s
}
