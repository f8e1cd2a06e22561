package journal

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/base64"
	"fmt"
	"strconv"

	"golang.org/x/mod/sumdb/note"

	"tandem/internal/db"
	"tandem/internal/op"
)

// pair is one of the journal's keys: with what it signs, and with what it vouches for rows.
type pair struct {
	key   ed25519.PrivateKey
	seals []byte
}

func newPair(key ed25519.PrivateKey) *pair { return &pair{key, sealKey(key.Seed())} }

func (p *pair) public() string {
	return base64.StdEncoding.EncodeToString(p.key.Public().(ed25519.PublicKey))
}

func (p *pair) verifier(origin string) (string, error) { return verifierKey(origin, p.key) }

// now is the key that signs at present, as far as this process was told.
func (j *Journal) now() *pair {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.pair
}

// keyIn is the key that counts in a transaction. A rotation changes it together with the rows, so the database says which it is.
func (j *Journal) keyIn(tx *db.Tx) (*pair, error) {
	var public string
	err := tx.QueryRow("SELECT public FROM journal_key WHERE to_size = 0").Scan(&public)
	if db.NoRows(err) {
		return j.now(), nil
	}
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range []*pair{j.pair, j.next} {
		if p != nil && p.public() == public {
			return p, nil
		}
	}
	return nil, fmt.Errorf("the journal is signed with a key that this server does not have")
}

// oldKey is a key that the journal had, and the size up to which it counts.
type oldKey struct {
	public string
	size   int64
}

// Seal is a key that the journal had: without the journal's word anybody could write one into the database.
func (k oldKey) Seal() op.Sealed {
	return op.Sealed{Tenant: houseTenant, Subject: "journalkey:" + k.public, Says: []string{k.public, strconv.FormatInt(k.size, 10)},
		What: "the journal's former key " + k.public}
}

// houseTenant is where the journal's own rows are kept.
const houseTenant = "local"

func (k oldKey) verifier(origin string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(k.public)
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return "", fmt.Errorf("%q is no public key", k.public)
	}
	return note.NewEd25519VerifierKey(origin, raw)
}

func oldKeys(rows *sql.Rows, err error) ([]oldKey, error) {
	return db.Collect(rows, err, func(r *sql.Rows) (k oldKey, err error) { return k, r.Scan(&k.public, &k.size) })
}

const selectOldKeys = "SELECT public, to_size FROM journal_key WHERE to_size > 0 ORDER BY to_size"

// had are the keys that the journal had, as far as it vouches for them.
func (j *Journal) had(tx *db.Tx) (out []oldKey, err error) {
	all, err := oldKeys(tx.Query(selectOldKeys))
	vouch := j.Vouch()
	for _, k := range all {
		if s := k.Seal(); vouch.Says(s.Tenant, s.Subject, s.Says) {
			out = append(out, k)
		}
	}
	return out, err
}

// KeyRows are the keys that the journal had, for whoever holds rows against it.
func (j *Journal) KeyRows(ctx context.Context) (out []op.Sealed, err error) {
	all, err := oldKeys(j.db.Query(ctx, selectOldKeys))
	for _, k := range all {
		out = append(out, k.Seal())
	}
	return out, err
}

// ForgetKey lets the database know no present key: it is lost, and another takes its place.
func ForgetKey(tx *db.Tx) error {
	_, err := tx.Exec("DELETE FROM journal_key WHERE to_size = 0")
	return err
}
