package source

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"

	"tandem/internal/db"
	"tandem/internal/memory/postings"
	"tandem/internal/memory/text"
	"tandem/internal/op"
	"tandem/internal/source/wire"
)

// Bounds of a question.
const (
	maxQuery = 16 << 10
	maxHits  = 50
)

// sight is what a caller may read of the sources of a tenant.
type sight struct {
	names  map[int64]string
	files  map[int64]file // by number
	search postings.Search
}

func (r *Room) search(ctx context.Context, in wire.SearchIn) (wire.SearchOut, error) {
	out := wire.SearchOut{Passages: []wire.Passage{}}
	switch {
	case in.Limit < 0 || in.Limit > maxHits:
		return out, bad("limit lies between 1 and %d", maxHits)
	case len(in.Query) > maxQuery:
		return out, bad("the question is longer than %d bytes", maxQuery)
	}
	found, err := r.connectors(ctx) // not inside, where it would need a second connection
	if err != nil {
		return out, err
	}
	err = r.DB.ReadWide(ctx, func(tx *db.Tx) error {
		s, err := r.look(ctx, tx, in.Source, found)
		if err != nil || len(s.names) == 0 {
			return err
		}
		hits, _, err := s.search.Score(text.Read(in.Query))
		if err != nil {
			return err
		}
		out.Passages, err = s.fetch(tx, hits[:min(len(hits), cmp.Or(in.Limit, 10))])
		return err
	})
	return out, err
}

// look makes the sight of a caller: the sources that it may read, without the files that policy keeps from it, and what is counted there.
func (r *Room) look(ctx context.Context, tx *db.Tx, only string, found map[string]string) (*sight, error) {
	c := op.CallerFrom(ctx)
	s := &sight{names: map[int64]string{}, files: map[int64]file{}, search: postings.Search{Tx: tx, Of: room, Tenant: c.Tenant}}
	rows, err := tx.Query("SELECT "+columns+" FROM source WHERE tenant = ? AND state IN ('active', 'paused') AND (? = '' OR name = ?)",
		c.Tenant,
		only, only)
	all, err := db.Collect(rows, err, scanRow)
	var hidden []int64
	var length int64
	for _, b := range all {
		if err != nil {
			return nil, err
		}
		if !op.May(ctx, "source.read", at(b.Name)) {
			continue
		}
		var files []file
		rows, err = tx.Query("SELECT "+fileColumns+" FROM source_file WHERE tenant = ? AND place = ? AND texts > 0", c.Tenant, b.nr)
		files, err = db.Collect(rows, err, scanFile)
		sees := r.sight(ctx, b, found)
		for _, f := range files {
			if !sees(f.path) {
				hidden = append(hidden, f.nr)
				continue
			}
			s.files[f.nr] = f
			s.search.Corpus.Texts += int(f.texts)
			length += f.length
		}
		s.names[b.nr] = b.Name
		s.search.Places = append(s.search.Places, b.nr)
	}
	if err == nil && len(hidden) > 0 {
		cond, in := tx.Among("file", hidden)
		rows, err = tx.Query("SELECT nr FROM source_passage WHERE tenant = ? AND "+cond, c.Tenant, in)
		s.search.Hidden, err = db.Collect(rows, err, func(rows *sql.Rows) (nr int64, err error) { return nr, rows.Scan(&nr) })
	}
	if s.search.Corpus.Texts > 0 {
		s.search.Corpus.Length = float64(length) / float64(s.search.Corpus.Texts)
	}
	return s, err
}

// fetch reads the passages that were found. One whose file is not in sight is left out again.
func (s *sight) fetch(tx *db.Tx, hits []text.Hit) ([]wire.Passage, error) {
	out := []wire.Passage{}
	if len(hits) == 0 {
		return out, nil
	}
	score, numbers := map[int64]float64{}, []int64{}
	for _, h := range hits {
		score[postings.Nr(h)] = h.Score
		numbers = append(numbers, postings.Nr(h))
	}
	type one struct {
		nr int64
		wire.Passage
	}
	cond, in := tx.Among("nr", numbers)
	rows, err := tx.Query("SELECT nr, place, file, spot, text FROM source_passage WHERE tenant = ? AND "+cond, s.search.Tenant, in)
	found, err := db.Collect(rows, err, func(rows *sql.Rows) (p one, err error) {
		var place, of int64
		err = rows.Scan(&p.nr, &place, &of, &p.Place, &p.Text)
		f := s.files[of]
		p.Source, p.File, p.Digest, p.At = s.names[place], f.path, f.digest, f.readAt
		p.Score = math.Round(1e6*score[p.nr]) / 1e6
		return p, err
	})
	slices.SortFunc(found, func(a, b one) int { return cmp.Or(cmp.Compare(score[b.nr], score[a.nr]), cmp.Compare(a.nr, b.nr)) })
	for _, p := range found {
		if p.Source != "" && p.File != "" {
			out = append(out, p.Passage)
		}
	}
	return out, err
}
