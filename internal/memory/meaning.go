package memory

import (
	"database/sql"
	"maps"
	"math"
	"sync"

	"tandem/internal/db"
	"tandem/internal/memory/postings"
	"tandem/internal/memory/text"
	"tandem/internal/memory/vector"
	"tandem/internal/memory/wire"
)

// Bounds of finding by meaning.
const (
	atOnce   = 5_000     // vectors that a search reads before it answers; more are read behind it
	maxHeld  = 3_000_000 // signatures in memory, some 40 bytes each
	rerank   = 600       // of the nearest by signature whose vectors are compared
	fitting  = 150       // of them must be what is asked for; else more are compared
	compared = 40_000    // at most
	nearBy   = 0.4       // how near a record must be whose words do not match
	rareness = 0.75      // how much a rare word of a question outweighs a common one
)

// meaning holds the signatures of live records, tenant by tenant. They are followed in the table of vectors by its sequence, so that
// servers that share a database find the same, and what one forgets goes from all. What it names is read again under every condition of
// the query.
type meaning struct {
	mu   sync.Mutex
	of   map[string]*followed
	wake chan wanted
}

// wanted are places of a tenant of which something is to be read or made.
type wanted struct {
	tenant string
	places []int64
}

func newMeaning() *meaning {
	return &meaning{of: map[string]*followed{}, wake: make(chan wanted, 16)}
}

// tenant is what is held of one. When there is too much in memory the others go, and are read again when somebody asks.
func (m *meaning) tenant(name string) *followed {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := 0
	for _, f := range m.of {
		held += f.Len()
	}
	if held > maxHeld {
		m.of = map[string]*followed{name: m.of[name]}
	}
	if m.of[name] == nil {
		m.of[name] = &followed{}
	}
	return m.of[name]
}

// held is what is held, tenant by tenant.
func (m *meaning) held() map[string]*followed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.of)
}

// rouse asks for work behind a search; when much is asked for already it comes with the next search.
func (m *meaning) rouse(tenant string, places ...int64) {
	select {
	case m.wake <- wanted{tenant, places}:
	default:
	}
}

// near finds what lies near a question in the places of a sight, the best first. Without hits it says why in how.
func (m *meaning) near(tx *db.Tx, s *sight, query string, counts map[string]int) (hits []text.Hit, how string, err error) {
	table := vector.Builtin()
	if table == nil {
		return nil, "this program was built without vectors", nil
	}
	v := table.Question(query, func(stem string) float64 {
		texts, known := counts[stem]
		if !known {
			return 0
		}
		return math.Pow(s.corpus.Weight(texts), rareness)
	})
	if v == nil {
		return nil, "no word of the question is known", nil
	}
	f := m.tenant(s.tenant)
	f.mu.Lock()
	all := s.corpus.Texts-f.In(s.places) < atOnce
	f.mu.Unlock()
	if all {
		all, err = f.follow(tx, s.tenant, table.Model, s.counted, atOnce)
	}
	f.mu.Lock()
	had := f.In(s.places)
	f.mu.Unlock()
	if err != nil || !all || had < s.corpus.Texts && f.Len() < maxHeld {
		m.rouse(s.tenant, s.places...)
	}
	switch {
	case err != nil || !all:
		return nil, "vectors are still being read", err
	case had == 0:
		return nil, "there are no vectors yet", nil
	}
	for n, more := max(rerank, had/250), true; more && err == nil; n = min(4*n, compared) {
		f.mu.Lock()
		numbers := f.Near(v.Sign(), s.places, n)
		f.mu.Unlock()
		hits, err = s.nearest(tx, v, table.Model, numbers)
		s.cut = len(hits) < fitting && len(numbers) == n && n >= compared
		more = len(hits) < fitting && len(numbers) == n && n < compared
	}
	return hits, "", err
}

// nearest are the records of some numbers by how near they lie, under the conditions of a sight.
func (s *sight) nearest(tx *db.Tx, v vector.Vector, model string, numbers []int64) ([]text.Hit, error) {
	where, args := s.where(s.filter, wire.Live)
	among, arg := tx.Among("r.nr", numbers)
	rows, err := tx.Query("SELECT r.nr, v.vec FROM memory_record r JOIN memory_vector v ON v.tenant = r.tenant AND v.place = r.place AND "+
		"v.nr = r.nr"+where+" AND v.model = ? AND "+among, append(args, model, arg)...)
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
	seq, err := sequence(tx, tenant, r.place)
	if err == nil {
		_, err = tx.Exec("INSERT INTO memory_vector (tenant, place, nr, seq, model, vec) VALUES (?, ?, ?, ?, ?, ?) "+
			"ON CONFLICT (tenant, place, nr) DO UPDATE SET seq = excluded.seq, model = excluded.model, vec = excluded.vec",
			tenant, r.place, r.nr, seq, table.Model, table.Of(r.Text).Bytes())
	}
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
