package journal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
)

// Seal ties a row that confers authority to the entry that tells of it: which row it is, and a digest of what it says. A row
// counts only while the newest entry about it vouches for exactly what it says, so that writing into the database, or putting
// back a row from before, decides nothing.
type Seal struct {
	Subject string
	Digest  Hash
}

// Digest is how a row's words are sealed: in order, each with its length.
func Digest(words ...string) Hash {
	return sha256.Sum256(appendField([]byte("tandem seal v1\n"), words...))
}

func sealKey(seed []byte) []byte {
	m := hmac.New(sha256.New, seed)
	m.Write([]byte("tandem seal key v1"))
	return m.Sum(nil)
}

// mac is the daemon's word about a seal, bound to the entry's own leaf and, where the row lasts, to every such entry before it.
// Whoever has the database and not the key cannot write it.
func (p *pair) mac(tenant string, s Seal, seq int64, leaf, chain []byte) []byte {
	m := hmac.New(sha256.New, p.seals)
	b := appendField(nil, tenant, s.Subject)
	b = binary.BigEndian.AppendUint64(b, uint64(seq))
	m.Write(append(append(append(b, s.Digest[:]...), leaf...), chain...))
	return m.Sum(nil)
}

// passing are the kinds of authority that end by themselves soon, or say something else with every step, and are looked up when they are
// used. All others last: they are chained, so that none can be taken out unseen, and kept in memory, because every call asks about some.
var passing = []string{"approval", "rule", "crossing", "job", "lease", "pass", "queue", "relay", "repair", "session", "team",
	"terminal", "turn"}

func kindOf(subject string) string {
	kind, _, _ := strings.Cut(subject, ":")
	return kind
}

// cutKind is what a subject of a kind is about.
func cutKind(subject, kind string) (about string, ok bool) {
	return strings.CutPrefix(subject, kind+":")
}

func lasts(s Seal) bool { return !slices.Contains(passing, kindOf(s.Subject)) }

func (j *Journal) storeSeals(tx *db.Tx, tenant string, seals []Seal, seq int64, leaf Hash) error {
	if len(seals) == 0 {
		return nil
	}
	key, err := j.keyIn(tx)
	if err != nil {
		return err
	}
	var chain []byte
	if slices.ContainsFunc(seals, lasts) {
		if chain, err = lastLink(tx); err != nil {
			return err
		}
	}
	slices.SortFunc(seals, func(a, b Seal) int { return strings.Compare(a.Subject, b.Subject) })
	next := newLink(chain)
	for _, s := range seals {
		before := chain
		if !lasts(s) {
			before = nil
		}
		mac := key.mac(tenant, s, seq, leaf[:], before)
		if lasts(s) {
			next.add(mac)
		}
		if _, err := tx.Exec("INSERT INTO journal_seal (tenant, subject, seq, digest, mac, chain) VALUES (?, ?, ?, ?, ?, ?)",
			tenant, s.Subject, seq, s.Digest[:], mac, orNull(before)); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { j.standing.sealed(tenant, seals, seq, next) })
	return nil
}

// Vouches reports whether the newest entry about a row vouches for exactly what it says. What this process itself wrote since is
// remembered, so that taking that entry out of the database brings nothing back.
func (j *Journal) Vouches(tx *db.Tx, tenant string, s Seal) (bool, error) {
	x, err := newestSeal(tx, tenant, s.Subject)
	return err == nil && j.holds(tx, x, s.Digest), err
}

func (j *Journal) holds(tx *db.Tx, x storedSeal, digest Hash) bool {
	return x.seq > 0 && x.Digest == digest && j.vouched(x.mac, x.tenant, x.Seal, x.seq, x.leaf) &&
		j.reaches(tx, place{x.tenant, x.Subject}, x.seq)
}

// newestSeal is that of the newest entry about a row; its seq is 0 where there is none.
func newestSeal(tx *db.Tx, tenant, subject string) (storedSeal, error) {
	x := storedSeal{tenant: tenant, Seal: Seal{Subject: subject}}
	var digest []byte
	err := tx.QueryRow(`SELECT s.seq, s.digest, s.mac, e.leaf FROM journal_seal s LEFT JOIN journal_event e ON e.seq = s.seq
		WHERE s.tenant = ? AND s.subject = ? ORDER BY s.seq DESC LIMIT 1`, tenant, subject).Scan(&x.seq, &digest, &x.mac, &x.leaf)
	if db.NoRows(err) {
		err = nil
	}
	copy(x.Digest[:], digest)
	return x, err
}

// unspoken leaves out those passing rows of which an entry speaks already, under a key that counts.
func (j *Journal) unspoken(tx *db.Tx, rows []op.Sealed) (out []op.Sealed, err error) {
	newest, err := newestSeals(tx, slices.DeleteFunc(slices.Clone(rows), func(r op.Sealed) bool { return lasts(Seal{Subject: r.Subject}) }))
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if lasts(Seal{Subject: r.Subject}) {
			out = append(out, r)
			continue
		}
		x, told := newest[place{r.Tenant, r.Subject}]
		lost := told && len(x.leaf) == 0 // its entry is gone: whatever it said, somebody took it out
		if !lost && (!told || !j.vouched(x.mac, x.tenant, x.Seal, x.seq, x.leaf)) {
			out = append(out, r)
		}
	}
	return out, nil
}

// Unspoken leaves out those rows of which an entry spoke once, whatever it said.
func (j *Journal) Unspoken(ctx context.Context, rows []op.Sealed) (out []op.Sealed, err error) {
	rows = slices.DeleteFunc(rows, func(r op.Sealed) bool { return j.standing.seen(r.Tenant, r.Subject) > 0 })
	err = j.db.Read(ctx, func(tx *db.Tx) (err error) { out, err = j.unspoken(tx, rows); return err })
	return out, err
}

// grace is how long somebody may still read what a key vouched for that was just replaced.
const grace = 10 * time.Second

// vouched checks a passing seal. A reader who began before a rotation sees what the key before it wrote.
func (j *Journal) vouched(mac []byte, tenant string, s Seal, seq int64, leaf []byte) bool {
	j.mu.Lock()
	keys := []*pair{j.pair, j.next}
	if time.Since(j.turned) < grace {
		keys = append(keys, j.before)
	}
	j.mu.Unlock()
	for _, p := range keys {
		if p != nil && hmac.Equal(mac, p.mac(tenant, s, seq, leaf, nil)) {
			return true
		}
	}
	return false
}
