package journal

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"tandem/internal/db"
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

// Vouched is a row that says it confers authority, for a check of all of them.
type Vouched struct {
	Tenant string
	Seal
	What string // for people: "the approval ask_… by owner"
}

func sealKey(seed []byte) []byte {
	m := hmac.New(sha256.New, seed)
	m.Write([]byte("tandem seal key v1"))
	return m.Sum(nil)
}

// mac is the daemon's word about a seal, bound to the entry's own leaf. Whoever has the database and not the key cannot write it.
func (j *Journal) mac(tenant string, s Seal, seq int64, leaf []byte) []byte {
	m := hmac.New(sha256.New, j.seals)
	b := appendField(nil, tenant, s.Subject)
	b = binary.BigEndian.AppendUint64(b, uint64(seq))
	m.Write(append(append(b, s.Digest[:]...), leaf...))
	return m.Sum(nil)
}

func (j *Journal) storeSeals(tx *db.Tx, tenant string, seals []Seal, seq int64, leaf Hash) error {
	for _, s := range seals {
		if _, err := tx.Exec("INSERT INTO journal_seal (tenant, subject, seq, digest, mac) VALUES (?, ?, ?, ?, ?)",
			tenant, s.Subject, seq, s.Digest[:], j.mac(tenant, s, seq, leaf[:])); err != nil {
			return err
		}
	}
	return nil
}

// Vouches reports whether the newest entry about a row vouches for exactly what it says.
func (j *Journal) Vouches(tx *db.Tx, tenant string, s Seal) (bool, error) {
	var seq int64
	var digest, mac, leaf []byte
	err := tx.QueryRow(`SELECT s.seq, s.digest, s.mac, e.leaf FROM journal_seal s JOIN journal_event e ON e.seq = s.seq
		WHERE s.tenant = ? AND s.subject = ? ORDER BY s.seq DESC LIMIT 1`, tenant, s.Subject).Scan(&seq, &digest, &mac, &leaf)
	if db.NoRows(err) {
		return false, nil
	}
	return err == nil && bytes.Equal(digest, s.Digest[:]) && hmac.Equal(mac, j.mac(tenant, s, seq, leaf)), err
}

// orphans finds rows that no entry vouches for.
func (c *checker) orphans(ctx context.Context, j *Journal) error {
	for _, list := range j.Rows {
		all, err := list(ctx)
		if err != nil {
			return err
		}
		err = j.db.Read(ctx, func(tx *db.Tx) error {
			for _, v := range all {
				held, err := j.Vouches(tx, v.Tenant, v.Seal)
				if err != nil {
					return err
				}
				if !held {
					c.report.find(Orphan, 0, "%s is in the database, and no entry of the journal vouches for it: it does not count", v.What)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
