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
	"tandem/internal/op"
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
	switch {
	case in.Only != "" && in.Only != wire.OnlyRecords && in.Only != wire.OnlyPassages:
		return out, fault.New(fault.Invalid, "memory.search", "%.40q is nothing to look for", string(in.Only)).
			WithNext("only is records or passages; leave it out for both")
	case in.Only == wire.OnlyPassages && in.Filter != (wire.Filter{}):
		return out, fault.New(fault.Invalid, "memory.search", "passages have no kind, tier or label").
			WithNext("leave those out, or look for records")
	}
	if in.Only != wire.OnlyRecords && in.Filter == (wire.Filter{}) {
		passages, err := r.passages(ctx, in)
		if err != nil {
			return out, err
		}
		out.Passages = passages
	}
	if in.Only == wire.OnlyPassages {
		return out, nil
	}
	return out, r.records(ctx, in, &out)
}

// records looks for what is remembered, and notes to whom it is told.
func (r *Room) records(ctx context.Context, in wire.SearchIn, out *wire.SearchOut) error {
	asked, err := r.ask(ctx, op.CallerFrom(ctx).Tenant, in.Query, false)
	if err != nil {
		return err
	}
	err = r.db.ReadWide(ctx, func(tx *db.Tx) error {
		s, err := look(ctx, tx, in.Filter, wire.Live)
		if err != nil || len(s.places) == 0 {
			return err
		}
		found, err := r.find(tx, s, in.Query, asked)
		if err != nil {
			return err
		}
		out.How = found.how
		out.Hits, err = s.fetch(tx, found, in.Filter, cmp.Or(in.Limit, 10))
		return err
	})
	if err != nil {
		return err
	}
	ids := make([]string, len(out.Hits))
	for i, h := range out.Hits {
		ids[i] = h.ID
	}
	return r.tell(ctx, ids...)
}

// fetch reads the records that were found, under every condition again, weighs how new and how useful they are, and folds together
// what says the same.
func (s *sight) fetch(tx *db.Tx, by *finding, f wire.Filter, limit int) ([]wire.Hit, error) {
	where, conds := s.where(f, wire.Live)
	found := []wire.Hit{}
	words := map[string]string{}
	for some := range slices.Chunk(by.hits, 100) {
		if enough(found, words, limit, some[0].Score*mostFavour) {
			break
		}
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
			weight := favour(r, s.now)
			if by.ranked { // ranks lie closer together than scores
				weight = 1 + (weight-1)/4
			}
			found = append(found, wire.Hit{Record: r.Record, By: by.by(postings.Hit(r.nr, 0).ID), Score: math.Round(1e6*score[r.nr]*weight) / 1e6})
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

// mostFavour is more than favour ever gives.
const mostFavour = 1.21

// enough says whether so many different texts were found already that none with less than a score comes before them.
func enough(found []wire.Hit, words map[string]string, limit int, score float64) bool {
	better := map[string]bool{}
	for _, h := range found {
		if h.Score > score {
			better[words[h.ID]] = true
		}
	}
	return len(better) >= limit
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
