package memory

import (
	"database/sql"
	"sync"

	"tandem/internal/db"
	"tandem/internal/memory/vector"
)

// gone is the model of a row without a vector: the record is live no more, and its signature goes wherever it is held.
const gone = "gone"

// eachPlace is what asking about one more place costs, in vectors.
const eachPlace = 50

// followed are the signatures of one tenant, place by place: what is read of one place depends on no other.
type followed struct {
	mu sync.Mutex
	vector.Index
	model string
	last  map[int64]int64 // the sequence up to which a place was read
	stirs int64           // the sequence at which a search asked last for what is missing
}

// stirred says whether something happened in some places since a search asked for what a model has not seen of them. What may not leave
// the house stays missing, and who looks at all of it at each search finds nothing.
func (f *followed) stirred(places []place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.stirs
	for _, p := range places {
		f.stirs = max(f.stirs, p.seq)
	}
	return f.stirs > before
}

// follow reads what is new in some places, about so much at most, and says whether that was all.
func (f *followed) follow(q asker, tenant string, l layer, places []place, most int) (all bool, err error) {
	for _, p := range places {
		f.mu.Lock()
		last := f.last[p.nr]
		f.mu.Unlock()
		if last >= p.seq {
			continue
		}
		if most <= 0 {
			return false, nil
		}
		n, err := f.read(q, tenant, l, p, last, most)
		if err != nil || n == most {
			return false, err
		}
		most -= n + eachPlace
	}
	return true, nil
}

// read reads the next vectors of a place, at most so many, and says how many these were. Nobody waits for the database with the lock in
// hand: those who wait for the lock hold its connections. Of what several read at once each vector is taken once.
func (f *followed) read(q asker, tenant string, l layer, p place, last int64, most int) (int, error) {
	type step struct {
		nr, seq int64
		model   string
		sign    vector.Signature
	}
	rows, err := q.Query("SELECT nr, seq, model, vec FROM "+l.table+" WHERE tenant = ? AND place = ? AND seq > ? AND model IN (?, ?) "+
		"ORDER BY seq LIMIT ?", tenant, p.nr, last, l.model, gone, most)
	steps, err := db.Collect(rows, err, func(rows *sql.Rows) (s step, err error) {
		var vec []byte
		err = rows.Scan(&s.nr, &s.seq, &s.model, &vec)
		s.sign = vector.Stored(vec).Sign()
		return s, err
	})
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil {
		f.last = map[int64]int64{}
	}
	for _, s := range steps {
		switch {
		case s.seq <= f.last[p.nr]:
			continue
		case s.model == gone:
			f.Drop(p.nr, s.nr)
		case f.Len() < maxHeld:
			f.Put(p.nr, s.nr, s.sign)
		}
		f.last[p.nr] = s.seq
	}
	if len(steps) < most { // what is left up to there is of another model
		f.last[p.nr] = max(f.last[p.nr], p.seq)
	}
	return len(steps), nil
}

// leave forgets places that are there no more.
func (f *followed) leave(places []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, nr := range places {
		f.Leave(nr)
		delete(f.last, nr)
	}
}

// lacks says whether fewer signatures of a place are held than it has live records, and more may be.
func (f *followed) lacks(p place) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.In([]int64{p.nr}) < int(p.texts) && f.Len() < maxHeld
}

// places are those of which something was read.
func (f *followed) places() (out []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for nr := range f.last {
		out = append(out, nr)
	}
	return out
}
