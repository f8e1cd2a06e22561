package memory

import (
	"database/sql"
	"maps"
	"math"
	"slices"
	"sync"

	"tandem/internal/db"
	"tandem/internal/memory/postings"
	"tandem/internal/memory/text"
	"tandem/internal/memory/vector"
	"tandem/internal/memory/wire"
)

// layer are the vectors of one model: of the table that is built in, or of a model that people chose.
type layer struct{ table, model string }

// builtin is the layer that every record has, in a program that has a table.
func builtin() (l layer, ok bool) {
	if t := vector.Builtin(); t != nil {
		return layer{"memory_vector", t.Model}, true
	}
	return layer{}, false
}

// layer is the one of a model that was chosen.
func (c *chosen) layer() layer { return layer{"memory_pointed", c.name} }

// Bounds of finding by meaning.
const (
	atOnce   = 5_000     // vectors that a search reads before it answers; more are read behind it
	maxHeld  = 3_000_000 // signatures in memory, some 40 bytes each
	rerank   = 600       // of the nearest by signature whose vectors are compared
	fitting  = 150       // of them must be what is asked for; else more are compared
	compared = 40_000    // at most
	nearBy   = 0.4       // how near a record must be whose words do not match
	pointsBy = 0.25      // the same by a model, without what it says of every text: of MiniLM and e5 what has nothing to do with it lies below
	rareness = 0.75      // how much a rare word of a question outweighs a common one
)

// meaning holds the signatures of live records, tenant by tenant. They are followed in the table of vectors by its sequence, so that
// servers that share a database find the same, and what one forgets goes from all. What it names is read again under every condition of
// the query.
type meaning struct {
	mu   sync.Mutex
	of   map[followedBy]*followed
	wake chan wanted
}

// followedBy is what is held apart: what one layer says of one tenant.
type followedBy struct{ tenant, table string }

// wanted are places of a tenant of which something is to be read or made.
type wanted struct {
	tenant string
	places []int64
}

func newMeaning() *meaning {
	return &meaning{of: map[followedBy]*followed{}, wake: make(chan wanted, 16)}
}

// tenant is what is held of one in a layer. When there is too much in memory the others go, and are read again when somebody asks. What is
// held of another model than that of the layer goes, too.
func (m *meaning) tenant(name string, l layer) *followed {
	m.mu.Lock()
	defer m.mu.Unlock()
	held, key := 0, followedBy{name, l.table}
	for _, f := range m.of {
		held += f.Len()
	}
	if held > maxHeld {
		maps.DeleteFunc(m.of, func(k followedBy, _ *followed) bool { return k.tenant != name })
	}
	if m.of[key] == nil || m.of[key].model != l.model {
		m.of[key] = &followed{model: l.model}
	}
	return m.of[key]
}

// held is what is held, tenant by tenant.
func (m *meaning) held() map[followedBy]*followed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.of)
}

// only lets go of what is held of models that nobody chose any more.
func (m *meaning) only(all []*chosen) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.of, func(k followedBy, _ *followed) bool {
		return k.table == "memory_pointed" && !slices.ContainsFunc(all, func(c *chosen) bool { return c.tenant == k.tenant })
	})
}

// rouse asks for work behind a search; when much is asked for already it comes with the next search.
func (m *meaning) rouse(tenant string, places ...int64) {
	select {
	case m.wake <- wanted{tenant, places}:
	default:
	}
}

// near finds what lies near a question by the table that is built in. Without hits it says why in how.
func (m *meaning) near(tx *db.Tx, s *sight, query string, counts map[string]int) (hits []text.Hit, how string, err error) {
	l, ok := builtin()
	if !ok {
		return nil, "this program was built without vectors", nil
	}
	v := vector.Builtin().Question(query, func(stem string) float64 {
		texts, known := counts[stem]
		if !known {
			return 0
		}
		return math.Pow(s.corpus.Weight(texts), rareness)
	})
	if v == nil {
		return nil, "no word of the question is known", nil
	}
	hits, _, how, err = m.look(tx, s, l, v)
	return hits, how, err
}

// look finds what lies near a direction in a layer, the best first, and says how many of the texts are held of it.
func (m *meaning) look(tx *db.Tx, s *sight, l layer, v vector.Vector) (hits []text.Hit, had int, how string, err error) {
	f := m.tenant(s.tenant, l)
	f.mu.Lock()
	all := s.corpus.Texts-f.In(s.places) < atOnce || l.table == "memory_pointed" // what a model has not seen yet is not there to be read
	f.mu.Unlock()
	if all {
		all, err = f.follow(tx, s.tenant, l, s.counted, atOnce)
	}
	f.mu.Lock()
	had = f.In(s.places)
	f.mu.Unlock()
	lacks := had < s.corpus.Texts && f.Len() < maxHeld
	if lacks && l.table == "memory_pointed" {
		lacks = f.stirred(s.counted)
	}
	if err != nil || !all || lacks {
		m.rouse(s.tenant, s.places...)
	}
	switch {
	case err != nil || !all:
		return nil, had, "vectors are still being read", err
	case had == 0:
		return nil, had, "there are no vectors yet", nil
	}
	for n, more := max(rerank, had/250), true; more && err == nil; n = min(4*n, compared) {
		f.mu.Lock()
		numbers := f.Near(v.Sign(), s.places, n)
		f.mu.Unlock()
		hits, err = s.nearest(tx, v, l, numbers)
		s.cut = len(hits) < fitting && len(numbers) == n && n >= compared
		more = len(hits) < fitting && len(numbers) == n && n < compared
	}
	return hits, had, "", err
}

// nearest are the records of some numbers by how near they lie, under the conditions of a sight.
func (s *sight) nearest(tx *db.Tx, v vector.Vector, l layer, numbers []int64) ([]text.Hit, error) {
	where, args := s.where(s.filter, wire.Live)
	among, arg := tx.Among("r.nr", numbers)
	rows, err := tx.Query("SELECT r.nr, v.vec FROM memory_record r JOIN "+l.table+" v ON v.tenant = r.tenant AND v.place = r.place AND "+
		"v.nr = r.nr"+where+" AND v.model = ? AND "+among, append(args, l.model, arg)...)
	hits, err := db.Collect(rows, err, func(rows *sql.Rows) (text.Hit, error) {
		var nr int64
		var vec []byte
		err := rows.Scan(&nr, &vec)
		return postings.Hit(nr, vector.Likeness(v, vector.Stored(vec))), err
	})
	text.Sort(hits)
	return hits, err
}

// putVector stores where the text of a live record points.
func putVector(tx *db.Tx, tenant string, r *row) error {
	table := vector.Builtin()
	if table == nil {
		return nil
	}
	l, _ := builtin()
	return storeNext(tx, tenant, r, l, table.Of(r.Text))
}

// storeNext stores where the text of a record points in a layer, as what happens next in its place.
func storeNext(tx *db.Tx, tenant string, r *row, l layer, v vector.Vector) error {
	seq, err := sequence(tx, tenant, r.place)
	if err == nil {
		err = storeVector(tx, tenant, r, l, v, seq)
	}
	return err
}

// storeVector stores where the text of a record points in a layer, with the number of that in its place.
func storeVector(tx *db.Tx, tenant string, r *row, l layer, v vector.Vector, seq int64) error {
	_, err := tx.Exec("INSERT INTO "+l.table+" (tenant, place, nr, seq, model, vec) VALUES (?, ?, ?, ?, ?, ?) "+
		"ON CONFLICT (tenant, place, nr) DO UPDATE SET seq = excluded.seq, model = excluded.model, vec = excluded.vec",
		tenant, r.place, r.nr, seq, l.model, v.Bytes())
	return err
}

// sequence is the next of what happens to the vectors of a place, which says how far it has come. Who asks has changed or locked the row
// of the place before, so that nobody waits for it with the tenant's number in hand.
func sequence(tx *db.Tx, tenant string, place int64) (seq int64, err error) {
	if seq, err = number(tx, tenant); err == nil {
		_, err = tx.Exec("UPDATE memory_place SET seq = ? WHERE tenant = ? AND nr = ?", seq, tenant, place)
	}
	return seq, err
}
