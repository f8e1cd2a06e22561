package journal

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/db"
)

// A tenant that is erased leaves of its entries what no one can read anything from: when each was written, in whose journal, of which
// operation, and its hashes. Names, payloads and salts go. The tree, its checkpoints and everybody else's proofs stay as they are.

// erasure is the kind of the seal by which the house says that a tenant was erased. Entries without their words count only then. It says
// the tenant and, once it is done, a digest of what it left: nobody makes an entry bare, or rewrites a bare one, behind it.
const erasure = "erased"

// Erased is the subject of that seal.
func Erased(tenant string) string { return erasure + ":" + tenant }

// eraseAtOnce is how many entries are looked at, and lose their words where they are the tenant's, while other changes wait.
const eraseAtOnce = 2000

// Erasure is a tenant's way through the journal, once and in order: how far it came, and a digest of what it left. A new one begins at the
// first entry, whoever took words out of some before.
type Erasure struct {
	Tenant string
	Done   bool // it came to the end of the journal, as that was
	last   int64
	left   Hash
}

// Next takes the words out of the tenant's entries among the next ones, and answers how far it is when that is committed. Receipts of
// them go, too: they are about words that nobody has.
func (e Erasure) Next(tx *db.Tx) (Erasure, error) {
	h, err := readHead(tx)
	if err != nil {
		return e, err
	}
	end := min(e.last+eraseAtOnce, h.size)
	without := strings.Replace(selectEntry, "e.payload_salt, e.payload ", "NULL, NULL ", 1)
	all, err := collect(tx.Query(without+" WHERE e.seq > ? AND e.seq <= ? AND e.tenant = ? ORDER BY e.seq", e.last, end, e.Tenant))
	for i := range all {
		if err == nil && !all[i].bare() {
			err = all[i].erase(tx)
		}
		e.left = all[i].fold(e.left)
	}
	e.last, e.Done = end, end == h.size
	return e, err
}

// Rest goes on to the end, and answers with what the seal of a finished erasure says beside the tenant.
func (e Erasure) Rest(tx *db.Tx) (left string, err error) {
	for e.Done = false; err == nil && !e.Done; {
		e, err = e.Next(tx)
	}
	return hex.EncodeToString(e.left[:]), err
}

func (e *Entry) erase(tx *db.Tx) error {
	envelope := e.envelopeHash()
	e.Salt = envelope[:]
	if _, err := tx.Exec(`UPDATE journal_event SET actor = '', behalf = '', resource = '', request = '', salt = ?, payload = NULL,
		payload_salt = NULL WHERE seq = ?`, e.Salt, e.Seq); err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM journal_receipt WHERE seq = ?", e.Seq); err != nil {
		return err
	}
	return eraseSeals(tx, e.Tenant, e.Seq)
}

// fold adds a bare entry to the digest of those before it: its leaf, and what is left to read of it, which no leaf covers any more.
func (e *Entry) fold(before Hash) Hash {
	record := e.Record()
	leaf := leafHash(record[:])
	return sha256.Sum256(appendField([]byte("tandem erased v1\n"), string(before[:]), string(leaf[:]), e.Type, e.Phase))
}

// eraseSeals takes out of an entry's seals what they were about. Those that are links of the chain stay, as bare as they can be and in
// their order: whatever else was granted stands on them.
func eraseSeals(tx *db.Tx, tenant string, seq int64) error {
	if _, err := tx.Exec("DELETE FROM journal_seal WHERE tenant = ? AND seq = ? AND chain IS NULL", tenant, seq); err != nil {
		return err
	}
	rows, err := tx.Query("SELECT subject FROM journal_seal WHERE tenant = ? AND seq = ?", tenant, seq)
	all, err := db.Collect(rows, err, func(r *sql.Rows) (s string, err error) { return s, r.Scan(&s) })
	if err != nil {
		return err
	}
	slices.Sort(all)
	for i, subject := range all {
		if _, err := tx.Exec("UPDATE journal_seal SET subject = ?, digest = ? WHERE tenant = ? AND seq = ? AND subject = ?",
			fmt.Sprintf("~%06d", i), make([]byte, len(Hash{})), tenant, seq, subject); err != nil {
			return err
		}
	}
	return nil
}

// bare reports that an entry lost its words: in the place of the salt is the hash that stood for them.
func (e *Entry) bare() bool { return len(e.Salt) == len(Hash{}) }

// checkBare refuses words where nothing vouches for them.
func (e *Entry) checkBare() error {
	if e.Actor+e.Resource+e.Request != "" || len(e.For)+len(e.Payload)+len(e.PayloadSalt) > 0 {
		return errors.New("its tenant was erased, and it has words again")
	}
	return checkHash(e.PayloadHash)
}

// erased says of a tenant whether the house had it erased, as far as the journal itself vouches for it.
func (s *standing) erased(tenant string) bool { return s.erasure(tenant).seq > 0 }

func (s *standing) erasure(tenant string) stood {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.wiped[tenant]
}

func (s *standing) erasures() map[string]stood {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.wiped)
}

// wipe takes note of an erasure.
func (s *standing) wipe(seal Seal, seq int64) {
	if tenant, ok := cutKind(seal.Subject, erasure); ok {
		if s.wiped == nil {
			s.wiped = map[string]stood{}
		}
		s.wiped[tenant] = stood{seq, seal.Digest}
	}
}

// underWay is an erasure that did not tell yet what it left.
func (x stood) underWay(tenant string) bool { return x.digest == Digest(tenant) }

// mayBeBare says of an entry whether it lost its words to an erasure: one that is done left none after it.
func (c *checker) mayBeBare(e *Entry) bool {
	if !e.bare() || c.erased == nil {
		return false
	}
	x := c.erased(e.Tenant)
	return x.seq > 0 && (e.Seq < x.seq || x.underWay(e.Tenant))
}

// erasures holds the entries without words against what each erasure told that it left. Those that ended, or began, since before are for
// the next check, as are those that are not done; they are counted.
func (c *checker) erasures(before, now map[string]stood) (open int) {
	for _, tenant := range slices.Sorted(maps.Keys(now)) {
		switch x, left := now[tenant], c.left[tenant]; {
		case x.underWay(tenant) || before[tenant].digest != x.digest:
			open++
		case c.report.From == 0 && x.digest != Digest(tenant, hex.EncodeToString(left[:])):
			c.report.find(Changed, 0, "the entries without words of the tenant %s are not those that were left when it was erased: "+
				"somebody took the words out of others, or changed what is left of them", tenant)
		}
	}
	return open
}
