package journal

import (
	"database/sql"
	"fmt"
	"slices"

	"tandem/internal/db"
)

// A tenant that is erased leaves of its entries what no one can read anything from: when each was written, in whose journal, of which
// operation, and its hashes. Names, payloads and salts go. The tree, its checkpoints and everybody else's proofs stay as they are.

// erasure is the kind of the seal by which the house says that a tenant was erased. Entries without their words count only then.
const erasure = "erased"

// Erased is the subject of that seal.
func Erased(tenant string) string { return erasure + ":" + tenant }

// eraseAtOnce is how many entries lose their words while other changes wait.
const eraseAtOnce = 500

// Erase takes the words out of some entries of a tenant, and says of how many; 0 when none is left. Receipts of them go, too: they are
// about words that nobody has.
func Erase(tx *db.Tx, tenant string) (int64, error) {
	all, err := collect(tx.Query(selectEntry+" WHERE e.tenant = ? AND length(e.salt) = ? ORDER BY e.seq LIMIT ?", tenant, saltSize,
		eraseAtOnce))
	if err != nil {
		return 0, err
	}
	for i := range all {
		seq, envelope := all[i].Seq, all[i].envelopeHash()
		if _, err := tx.Exec(`UPDATE journal_event SET actor = '', behalf = '', resource = '', request = '', salt = ?, payload = NULL,
			payload_salt = NULL WHERE seq = ?`, envelope[:], seq); err != nil {
			return 0, err
		}
		if _, err := tx.Exec("DELETE FROM journal_receipt WHERE seq = ?", seq); err != nil {
			return 0, err
		}
		if err := eraseSeals(tx, tenant, seq); err != nil {
			return 0, err
		}
	}
	return int64(len(all)), nil
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

// erased says of a tenant whether the house had it erased, as far as the journal itself vouches for it.
func (s *standing) erased(tenant string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.wiped[tenant]
}

// wipe takes note of an erasure.
func (s *standing) wipe(subject string) {
	if tenant, ok := cutKind(subject, erasure); ok {
		if s.wiped == nil {
			s.wiped = map[string]bool{}
		}
		s.wiped[tenant] = true
	}
}
