package memory

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/postings"
	"tandem/internal/memory/text"
	"tandem/internal/memory/wire"
)

// Bounds of an answer: so much of each text, and so many records.
const (
	maxShown = 2000
	maxHits  = 50
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

// score finds what has the words of a question in the places of this sight.
func (s *sight) score(tx *db.Tx, q text.Query) ([]text.Hit, error) {
	return postings.Search{Tx: tx, Table: posted, Tenant: s.tenant, Places: s.places, Corpus: s.corpus}.Score(q)
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
			nr := postings.Nr(h)
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
