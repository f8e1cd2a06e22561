package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/space"
)

// The seats of one space on this machine keep one log: whoever takes an entry in
// first files it, and the others find it there. They agree about it by its hash,
// which covers all before it. Where histories part, each has a line of its own.
//
// A seat is saved now and then. Whatever of its line is behind what was saved is
// taken in again when it is read: the line is never behind a seat.

// line is how far one history of a space is known to be on the disk. No lock is
// held while it is written: who comes meanwhile waits for filing.
type line struct {
	mu     sync.Mutex
	stored trail
	filing chan struct{} // closed when whoever writes is done
}

// lineOf is the line that a seat is on. The caller holds s.mu.
func (r *Room) lineOf(s *seat) *line {
	if s.log == "" {
		return new(line) // none yet
	}
	l, _ := r.lines.LoadOrStore(s.tenant+"/"+s.space+"/"+s.log, new(line))
	return l.(*line)
}

// file has the entries on the disk, and with them what own writes. It returns
// when both are there, whoever wrote the entries. The caller holds s.mu.
func (r *Room) file(ctx context.Context, s *seat, entries []*space.Entry, own func(*db.Tx) error) error {
	l, last := r.lineOf(s), entries[len(entries)-1]
	for {
		l.mu.Lock()
		if hash, ok := l.stored.at(last.Seq); ok && hash == last.Hash {
			l.mu.Unlock()
			if own == nil {
				return nil
			}
			return r.db.Write(ctx, own)
		}
		busy := l.filing
		if busy == nil {
			l.filing = make(chan struct{})
			l.mu.Unlock()
			break
		}
		l.mu.Unlock()
		<-busy
	}
	on := s.log
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		s.log = on
		if err := r.append(tx, s, entries); err != nil {
			return err
		}
		if s.log != on {
			if err := r.saveSeat(tx, s); err != nil {
				return err
			}
		}
		if own == nil {
			return nil
		}
		return own(tx)
	})
	l.mu.Lock()
	close(l.filing)
	l.filing = nil
	l.mu.Unlock()
	if err != nil {
		s.log = on
		return err
	}
	l = r.lineOf(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		if _, ok := l.stored.at(e.Seq); !ok {
			l.stored.add(e)
		}
	}
	return nil
}

// append writes entries that are not there yet. A seat without a line takes one
// that agrees with them; one whose line goes on otherwise gets another.
func (r *Room) append(tx *db.Tx, s *seat, entries []*space.Entry) (err error) {
	if s.log == "" {
		if s.log, err = r.agrees(tx, s, entries); err != nil {
			return err
		}
		if s.log == "" {
			s.log = s.id
		}
	}
	for i, e := range entries {
		same, err := r.put(tx, s, e)
		if err == nil && !same {
			if err = r.branch(tx, s, entries[i:]); err == nil {
				_, err = r.put(tx, s, e)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// put writes one entry. false is that another one is in its place.
func (r *Room) put(tx *db.Tx, s *seat, e *space.Entry) (same bool, err error) {
	text, err := json.Marshal(e)
	if err != nil {
		return false, fmt.Errorf("write entry: %w", err)
	}
	env, from, to := fmt.Sprintf("host/%d", e.Seq), "", ""
	if e.Env != nil {
		env, from, to = e.Env.ID, string(e.Env.From), string(e.Env.To)
	}
	n, err := tx.Changed("INSERT INTO peer_log (tenant, space, line, seq, hash, env, class, sender, recipient, at, entry) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, space, line, seq) DO NOTHING",
		s.tenant, s.space, s.log, e.Seq, e.Hash, env, e.Class, from, to, e.At, string(text))
	if err != nil || n == 1 {
		return true, err
	}
	var hash string
	err = tx.QueryRow("SELECT hash FROM peer_log WHERE tenant = ? AND space = ? AND line = ? AND seq = ?", s.tenant, s.space, s.log, e.Seq).
		Scan(&hash)
	return hash == e.Hash, err
}

// branch gives a seat the line that has what comes next, or one of its own with all before that.
func (r *Room) branch(tx *db.Tx, s *seat, next []*space.Entry) error {
	to, err := r.agrees(tx, s, next)
	if err != nil || to != "" {
		s.log = to
		return err
	}
	return r.split(tx, s, next[0].Seq-1)
}

// split gives a seat a line of its own that ends with an entry of the one it was on.
func (r *Room) split(tx *db.Tx, s *seat, last int64) error {
	to := id.New("line")
	_, err := tx.Exec("INSERT INTO peer_log (tenant, space, line, seq, hash, env, class, sender, recipient, at, entry) "+
		"SELECT tenant, space, ?, seq, hash, env, class, sender, recipient, at, entry FROM peer_log "+
		"WHERE tenant = ? AND space = ? AND line = ? AND seq <= ?", to, s.tenant, s.space, s.log, last)
	s.log = to
	return err
}

// agrees finds a line of this space that has these entries, or ends within them.
func (r *Room) agrees(tx *db.Tx, s *seat, entries []*space.Entry) (string, error) {
	all, err := linesOf(tx, s.tenant, s.space)
	if err != nil {
		return "", err
	}
	first, last := entries[0].Seq, entries[len(entries)-1].Seq
	for _, l := range all {
		var seq int64
		var hash string
		err := tx.QueryRow("SELECT seq, hash FROM peer_log WHERE tenant = ? AND space = ? AND line = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
			s.tenant, s.space, l, last).Scan(&seq, &hash)
		if db.NoRows(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		if seq >= first && entries[seq-first].Hash == hash {
			return l, nil
		}
	}
	return "", nil
}
