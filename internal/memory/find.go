package memory

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
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
// beginning must stand in what is found: then words alone decide. asked is the same question with a model, nil where none is chosen.
func (r *Room) find(tx *db.Tx, s *sight, question string, asked *question) (*finding, error) {
	q := text.Read(question)
	hits, counts, err := postings.Search{Tx: tx, Of: room, Tenant: s.tenant, Places: s.places, Corpus: s.corpus}.Score(q)
	out := &finding{hits: hits, words: idsOf(hits), near: map[string]bool{}, how: "by words"}
	if err != nil || byWordsAlone(q) {
		return out, err
	}
	near, err := r.nearLists(tx, s, question, counts, asked, out.words)
	if err != nil {
		return out, err
	}
	beside, err := s.stream(tx)
	if err != nil {
		return out, err
	}
	aside := hits
	if beside != nil {
		aside = text.Lend(hits, beside)
	}
	switch {
	case near.lists == nil && beside != nil:
		out.hits, out.how = aside, "by words and what stands beside them"
	case near.lists == nil:
	case beside != nil: // twice: neighbours make words the better witness
		out.hits, out.how, out.ranked = text.Fuse(append(near.lists, aside, aside)...), "by words, what stands beside them, and "+near.by, true
	default:
		out.hits, out.how, out.ranked = text.Fuse(append(near.lists, hits)...), "by words and by "+near.by, true
	}
	for _, why := range near.why {
		out.how += "; " + why
	}
	if s.cut {
		out.how += fmt.Sprintf("; of what lies nearest %d were compared, and few of them fit", compared)
	}
	out.hits = out.hits[:min(len(out.hits), postings.MaxCandidates)]
	for _, list := range near.lists {
		maps.Copy(out.near, idsOf(list))
	}
	return out, nil
}

// byWordsAlone says whether a question holds what must stand in what is found.
func byWordsAlone(q text.Query) bool { return len(q.Phrases)+len(q.Prefixes) > 0 }

// nearness is what lies near a question: a list for each model that says so, by which, and what could not be had.
type nearness struct {
	lists [][]text.Hit
	by    string
	why   []string
}

// nearLists are what lies near a question, by the model that was asked and, of records that it has not seen, by the table that is built in.
func (r *Room) nearLists(tx *db.Tx, s *sight, query string, counts map[string]int, asked *question, words map[string]bool) (n nearness,
	err error) {
	fits := func(hits []text.Hit, least float64, also func(nr int64) bool) {
		n.lists = append(n.lists, slices.DeleteFunc(hits, func(h text.Hit) bool {
			return h.Score <= 0 || h.Score < least && !words[h.ID] || !also(postings.Nr(h))
		}))
	}
	seen := func(int64) bool { return true }
	if asked != nil {
		why := asked.why
		if asked.v != nil {
			l := asked.of.layer()
			hits, had, cause, err := r.meaning.look(tx, s, l, asked.v)
			if err != nil {
				return n, err
			}
			if why = cause; cause == "" {
				n.by = "meaning (" + asked.of.called() + ")"
				fits(hits, pointsBy, seen)
				if had >= s.corpus.Texts {
					return n, nil
				}
				why = fmt.Sprintf("it has seen %d of %d records, and a table of words the others", had, s.corpus.Texts)
				f := r.meaning.tenant(s.tenant, l)
				seen = func(nr int64) bool {
					f.mu.Lock()
					defer f.mu.Unlock()
					return !f.Holds(s.places, nr)
				}
			} else {
				why = asked.of.called() + ": " + why
			}
		}
		n.why = append(n.why, why)
	}
	hits, why, err := r.meaning.near(tx, s, query, counts)
	switch {
	case err != nil:
	case why != "" && n.lists == nil:
		n.why = append(n.why, why)
	case why == "":
		n.by = cmp.Or(n.by, "meaning")
		fits(hits, nearBy, seen)
	}
	return n, err
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
func (s *sight) stream(tx *db.Tx) (func(id string, steps int) []string, error) {
	if s.session == 0 {
		return nil, nil
	}
	rows, err := tx.Query("SELECT nr FROM memory_record WHERE tenant = ? AND place = ? AND state = 'live' ORDER BY nr LIMIT ?", s.tenant,
		s.session, maxStream)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (nr int64, err error) { return nr, rows.Scan(&nr) })
	return func(id string, steps int) (out []string) {
		i, found := slices.BinarySearch(all, postings.Nr(text.Hit{ID: id}))
		for _, at := range []int{i - steps, i + steps} {
			if found && 0 <= at && at < len(all) {
				out = append(out, postings.Hit(all[at], 0).ID)
			}
		}
		return out
	}, err
}
