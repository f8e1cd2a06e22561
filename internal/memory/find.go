package memory

import (
	"database/sql"
	"fmt"
	"slices"

	"tandem/internal/db"
	"tandem/internal/memory/postings"
	"tandem/internal/memory/text"
	"tandem/internal/memory/wire"
)

// maxStream is how many records of a session are looked at for which stands beside which.
const maxStream = 20_000

// finding is what a question found, and by what.
type finding struct {
	hits        []text.Hit
	words, near map[string]bool // by their ids
	how         string
	ranked      bool // several ways of finding were joined by rank
}

// find looks for a question by its words, by its meaning, and beside what was found where records follow upon one another. A phrase or a
// beginning must stand in what is found: then words alone decide.
func (r *Room) find(tx *db.Tx, s *sight, question string) (*finding, error) {
	q := text.Read(question)
	hits, counts, err := postings.Search{Tx: tx, Table: posted, Tenant: s.tenant, Places: s.places, Corpus: s.corpus}.Score(q)
	out := &finding{hits: hits, words: idsOf(hits), near: map[string]bool{}, how: "by words"}
	if err != nil || len(q.Phrases)+len(q.Prefixes) > 0 {
		return out, err
	}
	near, why, err := r.meaning.near(tx, s, question, counts)
	if err != nil {
		return out, err
	}
	near = slices.DeleteFunc(near, func(h text.Hit) bool { return h.Score <= 0 || h.Score < nearBy && !out.words[h.ID] })
	beside, err := s.stream(tx)
	if err != nil {
		return out, err
	}
	aside := hits
	if beside != nil {
		aside = text.Lend(hits, beside)
	}
	switch {
	case why != "" && beside != nil:
		out.hits, out.how = aside, "by words and what stands beside them; "+why
	case why != "":
		out.how = "by words; " + why
	case beside != nil: // twice: neighbours make words the better witness
		out.hits, out.how, out.ranked = text.Fuse(near, aside, aside), "by words, what stands beside them, and meaning", true
	default:
		out.hits, out.how, out.ranked = text.Fuse(hits, near), "by words and by meaning", true
	}
	if s.cut {
		out.how += fmt.Sprintf("; of what lies nearest %d were compared, and few of them fit", compared)
	}
	out.hits = out.hits[:min(len(out.hits), postings.MaxCandidates)]
	out.near = idsOf(near)
	return out, nil
}

// by says by what one of the hits was found.
func (f *finding) by(id string) wire.By {
	switch {
	case f.words[id] && f.near[id]:
		return wire.ByBoth
	case f.words[id]:
		return wire.ByWords
	case f.near[id]:
		return wire.ByMeaning
	}
	return wire.ByNeighbour
}

func idsOf(hits []text.Hit) map[string]bool {
	out := make(map[string]bool, len(hits))
	for _, h := range hits {
		out[h.ID] = true
	}
	return out
}

// stream says what stands beside a record in the memory of the session that this sight is on, nil when it is on none. Elsewhere records
// that were written one after the other have nothing to do with each other.
func (s *sight) stream(tx *db.Tx) (func(id string) []string, error) {
	if s.session == 0 {
		return nil, nil
	}
	rows, err := tx.Query("SELECT nr FROM memory_record WHERE tenant = ? AND place = ? AND state = 'live' ORDER BY nr LIMIT ?", s.tenant,
		s.session, maxStream)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (nr int64, err error) { return nr, rows.Scan(&nr) })
	return func(id string) (out []string) {
		i, found := slices.BinarySearch(all, postings.Nr(text.Hit{ID: id}))
		if found && i > 0 {
			out = append(out, postings.Hit(all[i-1], 0).ID)
		}
		if found && i+1 < len(all) {
			out = append(out, postings.Hit(all[i+1], 0).ID)
		}
		return out
	}, err
}
