package journal

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/wholefile"
)

// nothing is the digest of a row that confers nothing any more.
var nothing = Digest()

// chainStart stands before the first link: a row that lasts has a chain, and others have none.
var chainStart = sha256.Sum256([]byte("tandem seals v1\n"))

// link makes the chain's next value of the one before and of the seals of one entry, in the order of their subjects.
type link struct{ sum []byte }

func newLink(before []byte) *link { return &link{slices.Clone(before)} }

func (l *link) add(mac []byte) {
	h := sha256.Sum256(append(slices.Clone(l.sum), mac...))
	l.sum = h[:]
}

// lastLink is the chain as the newest entry about lasting authority left it. The head's row is locked: nobody adds to it meanwhile.
func lastLink(tx *db.Tx) ([]byte, error) {
	rows, err := tx.Query(`SELECT subject, mac, chain FROM journal_seal WHERE chain IS NOT NULL
		AND seq = (SELECT max(seq) FROM journal_seal WHERE chain IS NOT NULL)`)
	all, err := db.Collect(rows, err, func(r *sql.Rows) (s storedSeal, err error) { return s, r.Scan(&s.Subject, &s.mac, &s.chain) })
	if err != nil || len(all) == 0 {
		return chainStart[:], err
	}
	return after(all), nil
}

func after(entry []storedSeal) []byte {
	slices.SortFunc(entry, func(a, b storedSeal) int { return strings.Compare(a.Subject, b.Subject) })
	l := newLink(entry[0].chain)
	for _, s := range entry {
		l.add(s.mac)
	}
	return l.sum
}

type storedSeal struct {
	Seal
	tenant           string
	seq              int64
	mac, chain, leaf []byte
}

type place struct{ tenant, subject string }

type stood struct {
	seq    int64
	digest Hash
}

// standing is what the journal vouches for now, in memory: of each row that lasts the newest word, and of those that pass the
// newest entry that this process wrote.
type standing struct {
	mu     sync.RWMutex
	newest words
	told   int              // seals since the start
	heard  int64            // changes of what lasts that this process heard of, in the order in which it did
	turns  map[string]int64 // of each kind the last of them
	recent recent
	wiped  map[string]stood // tenants that were erased
	broken []string         // what is missing of the chain, for people
	file   string           // beside the keys: how far the chain reached; "" for none
	kept   int64
	failed error  // the file could not be written
	spans  []span // adoptions that nobody confirmed
}

// span is an adoption: the entries between its markers.
type span struct{ begun, ended int64 }

// mark takes note of the markers of adoptions. One that nobody confirmed stays beside those that follow it.
func (s *standing) mark(x Seal, seq int64) {
	switch x.Subject {
	case begun:
		s.spans = append(s.spans, span{begun: seq})
	case ended:
		for i := range s.spans {
			if s.spans[i].ended == 0 {
				s.spans[i].ended = seq
			}
		}
	case confirmed:
		s.spans = nil
	}
}

// sealed takes note of a committed entry's seals. Two commits may be told in the other order.
func (s *standing) sealed(tenant string, seals []Seal, seq int64, end *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range seals {
		at := place{tenant, x.Subject}
		if was, _ := s.newest.at(at); was.seq > seq || was == (stood{seq, x.Digest}) {
			continue // something newer was said since, or this one was heard already
		}
		s.newest.put(at, stood{seq, x.Digest})
		s.wipe(x, seq)
		s.mark(x, seq)
		if x.Subject == confirmed {
			s.broken = nil
		}
		if kind := kindOf(x.Subject); lasts(x) {
			s.recent.add(tenant, x.Subject, s.turn(kind))
		}
	}
	if s.told++; s.told%1024 == 0 {
		s.newest.forget()
	}
	if slices.ContainsFunc(seals, lasts) && seq > s.kept {
		s.keep(seq, end.sum)
	}
}

// turn counts one more change of a kind. The order of hearing decides and not that of the entries: what is heard late is a change all the
// same for whoever has looked meanwhile.
func (s *standing) turn(kind string) int64 {
	s.heard++
	s.turns[kind] = s.heard
	return s.heard
}

// keep writes down, outside the database, how far the chain reached: whoever takes its end away is found at the next start.
func (s *standing) keep(seq int64, sum []byte) {
	s.kept = seq
	if s.file != "" {
		s.failed = wholefile.Write(s.file, fmt.Appendf(nil, "%d %x\n", seq, sum))
	}
}

func (s *standing) seen(tenant, subject string) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x, _ := s.newest.at(place{tenant, subject})
	return x.seq
}

func (s *standing) says(tenant, subject string, says []string) bool {
	s.mu.RLock()
	x, ok := s.newest.at(place{tenant, subject})
	s.mu.RUnlock()
	return ok && len(says) > 0 && x.digest == Digest(says...)
}

// Vouch answers rooms from memory: what a call asks about costs a digest and no query.
func (j *Journal) Vouch() op.Vouch {
	s := &j.standing
	return op.Vouch{
		Says: func(tenant, subject string, says []string) bool {
			return s.says(tenant, subject, says) || j.lately() && s.says(tenant, subject, says)
		},
		Stand: func(tenant, kind string) []string {
			s.mu.RLock()
			defer s.mu.RUnlock()
			return s.newest.stand(tenant, kind)
		},
		Stands: func(tenant, subject string) bool {
			s.mu.RLock()
			defer s.mu.RUnlock()
			x, ok := s.newest.at(place{tenant, subject})
			return ok && x.digest != nothing
		},
		Turn: func(kind string) int64 { s.mu.RLock(); defer s.mu.RUnlock(); return s.turns[kind] },
		Since: func(tenant, kind string, turn int64) ([]string, bool) {
			s.mu.RLock()
			defer s.mu.RUnlock()
			return s.recent.since(tenant, kind, turn)
		},
		Whole: func() bool { s.mu.RLock(); defer s.mu.RUnlock(); return len(s.broken) == 0 },
	}
}

// Recall reads what the journal vouches for, once, before anybody is served. file is where, outside the database, it is kept how
// far the chain reached. known is false where no entry ever vouched, under this key, for anything that lasts.
func (j *Journal) Recall(ctx context.Context, file string) (known bool, err error) {
	reached, sum, err := readReached(file)
	if err != nil {
		return false, err
	}
	var all []storedSeal
	if err := j.db.Read(ctx, func(tx *db.Tx) error { all, err = lasting(tx); return err }); err != nil {
		return false, err
	}
	key := j.now()
	s := &j.standing
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest, s.turns, s.wiped, s.broken, s.file, s.kept = words{}, map[string]int64{}, nil, nil, file, 0
	s.spans, s.recent = nil, recent{}
	known = reached > 0
	w := chainWalk{chain: chainStart[:], reached: reached, sum: sum}
	for _, entry := range w.entries(all) {
		for _, x := range entry {
			if !hmac.Equal(x.mac, key.mac(x.tenant, x.Seal, x.seq, x.leaf, x.chain)) {
				continue // another key's, or nobody's
			}
			known = true
			s.newest.put(place{x.tenant, x.Subject}, stood{x.seq, x.Digest})
			s.wipe(x.Seal, x.seq)
			s.mark(x.Seal, x.seq)
			s.turn(kindOf(x.Subject))
		}
		w.entry(entry)
		j.catching.far.Store(w.last)
	}
	j.catching.chain, s.recent.from = w.chain, maps.Clone(s.turns)
	if err := j.adopted(ctx); err != nil {
		return false, err
	}
	if s.broken = w.end(); len(all) > 0 && len(s.broken) == 0 {
		s.keep(all[len(all)-1].seq, w.chain)
	}
	return known, s.failed
}

const selectLasting = `SELECT s.tenant, s.subject, s.seq, s.digest, s.mac, s.chain, e.leaf FROM journal_seal s
	LEFT JOIN journal_event e ON e.seq = s.seq WHERE s.chain IS NOT NULL`

func lasting(tx *db.Tx) ([]storedSeal, error) {
	return scanLasting(tx.Query(selectLasting + " ORDER BY s.seq"))
}

// chainWalk looks for what is missing of the chain. A person who confirms what there is (adoption:confirmed) draws a line under what
// was missing before.
type chainWalk struct {
	chain   []byte
	reached int64
	sum     []byte
	met     bool
	last    int64
	missing []string
}

func (w *chainWalk) entries(all []storedSeal) (out [][]storedSeal) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].seq == all[0].seq {
			n++
		}
		out, all = append(out, all[:n]), all[n:]
	}
	return out
}

func (w *chainWalk) entry(entry []storedSeal) {
	seq := entry[0].seq
	if !bytes.Equal(entry[0].chain, w.chain) {
		w.missing = append(w.missing, fmt.Sprintf("seals are missing between the entries %d and %d: something that was granted, "+
			"denied or taken back there is not known any more", w.last, seq))
	}
	w.chain, w.last = after(entry), seq
	if seq == w.reached {
		w.met = bytes.Equal(w.chain, w.sum)
	}
	if slices.ContainsFunc(entry, func(s storedSeal) bool { return s.Subject == confirmed }) {
		w.missing = nil
		w.met = w.met || w.reached < seq
	}
}

func (w *chainWalk) end() []string {
	if w.reached > 0 && !w.met {
		w.missing = append(w.missing, fmt.Sprintf("the seals of entry %d are missing, and those after it: "+
			"the database is older than this data folder, or somebody took them out", w.reached))
	}
	return w.missing
}

func readReached(file string) (seq int64, sum []byte, err error) {
	if file == "" {
		return 0, nil, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil, nil
	}
	var text string
	if err == nil {
		_, err = fmt.Sscanf(string(data), "%d %s", &seq, &text)
	}
	if err == nil {
		sum, err = hex.DecodeString(text)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("read %s: %w", file, err)
	}
	return seq, sum, nil
}
