package knowledge

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/knowledge/wire"
	"tandem/internal/memory/postings"
	"tandem/internal/memory/text"
	"tandem/internal/op"
)

// Bounds of a question, and what an answer shows of each item.
const (
	maxQuestion = 16 << 10
	maxCited    = 20
	maxShown    = 4000
	weighed     = 40 // candidates whose words are looked at
)

// enough is how much of what a question asks for an item must hold to answer it, by the weight of the words. Below that it is not known
// here: a word or two in common is no answer.
const enough = 0.5

// What lets an item stand before others that hold as much of the question.
const (
	defaultFavour = 1.3
	staleFavour   = 0.7
)

func (r *Room) ask(ctx context.Context, in wire.AskIn) (wire.AskOut, error) {
	out := wire.AskOut{Items: []wire.Cited{}, Looked: []string{}}
	switch {
	case strings.TrimSpace(in.Question) == "":
		return out, bad("the question is empty")
	case len(in.Question) > maxQuestion:
		return out, bad("the question is longer than %d bytes", maxQuestion)
	case in.Limit < 0 || in.Limit > maxCited:
		return out, bad("limit lies between 1 and %d", maxCited)
	}
	err := r.db.ReadWide(ctx, func(tx *db.Tx) error {
		all, err := r.spaces(ctx, tx, in.Name)
		if err == nil && in.Name != "" && len(all) == 0 {
			err = noSpace(in.Name)
		}
		for _, k := range all {
			out.Looked = append(out.Looked, k.Name)
		}
		if err != nil || len(all) == 0 {
			return err
		}
		found, err := answer(tx, op.CallerFrom(ctx).Tenant, all, in.Question)
		out.Items = found[:min(len(found), cmp.Or(in.Limit, 5))]
		return err
	})
	if err != nil {
		return out, err
	}
	out.Known = len(out.Items) > 0
	out.Stale = out.Known && !slices.ContainsFunc(out.Items, func(i wire.Cited) bool { return !i.Stale })
	given := []string{asked}
	for _, i := range out.Items {
		given = append(given, i.ID)
	}
	return out, r.note(ctx, given...)
}

// answer are the items of some knowledge spaces that hold enough of a question, the best first.
func answer(tx *db.Tx, tenant string, all []*space, question string) ([]wire.Cited, error) {
	q := text.Read(question)
	s := postings.Search{Tx: tx, Of: room, Tenant: tenant}
	at := map[int64]*space{}
	var length int64
	for _, k := range all {
		at[k.nr] = k
		s.Places = append(s.Places, k.nr)
		s.Corpus.Texts += int(k.texts)
		length += k.length
	}
	if s.Corpus.Texts == 0 {
		return nil, nil
	}
	s.Corpus.Length = float64(length) / float64(s.Corpus.Texts)
	hits, counts, err := s.Score(q)
	hits = hits[:min(len(hits), weighed)]
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	score, numbers := map[int64]float64{}, []int64{}
	for _, h := range hits {
		score[postings.Nr(h)] = h.Score
		numbers = append(numbers, postings.Nr(h))
	}
	cond, in := tx.Among("i.nr", numbers)
	rows, err := tx.Query("SELECT "+itemColumns+" FROM knowledge_item i WHERE i.tenant = ? AND i.state IN ('promoted', 'default') AND "+cond,
		tenant, in)
	items, err := db.Collect(rows, err, scanItems)
	out := []wire.Cited{}
	for _, i := range items {
		k := at[i.place]
		if k == nil || share(q, s.Corpus, counts, i) < enough {
			continue
		}
		i.Space = k.Name
		i.freshen(k, tx.Now())
		weight := score[i.nr]
		if i.State == wire.Default {
			weight *= defaultFavour
		}
		if i.Stale {
			weight *= staleFavour
		}
		out = append(out, wire.Cited{Entry: i.Entry, Score: math.Round(1e6*weight) / 1e6})
	}
	slices.SortFunc(out, func(a, b wire.Cited) int { return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID)) })
	for n := range out {
		if short := []rune(out[n].Body); len(short) > maxShown {
			out[n].Body, out[n].Cut = string(short[:maxShown]), true
		}
	}
	return out, err
}

// share is which part of a question's words an item has, by their weight. What no item has weighs most: it is what was asked for.
func share(q text.Query, c text.Corpus, counts map[string]int, i *item) float64 {
	has := map[string]bool{}
	for _, t := range text.Terms(i.says()) {
		has[t.Stem] = true
	}
	var all, here float64
	for _, stem := range q.Stems {
		w := c.Weight(counts[stem])
		all += w
		if has[stem] {
			here += w
		}
	}
	if all == 0 { // beginnings* alone: what was found has one
		return 1
	}
	return here / all
}
