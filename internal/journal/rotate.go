package journal

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/wholefile"
)

// A rotation is one transaction: the old key's last checkpoint, the new key, every seal anew, and the event. Before it the new key
// is written beside the old one (NextFile), together with how far the chain of seals will reach; afterwards it takes the old one's
// place. A start after a crash finds in the database which of the two counts (FinishRotation).

// NextFile is where a key waits until the database knows it.
func NextFile(path string) string { return path + ".next" }

// Rotated is a change of the journal's key.
type Rotated struct {
	Old, New string // public keys
	Signed   string // the old key's signature over the new one
	Size     int64  // up to here the old one counts
	Sealed   int    // rows that were sealed anew
	File     []byte // what the key file holds from now on
}

const rotatePurpose = "tandem journal key v1"

// Rotate replaces the journal's key, which is the file path, and seals everything anew. with is called last in the transaction, to
// mark the new key where keys are known; event tells of it.
func (j *Journal) Rotate(ctx context.Context, path string, event func(Rotated) (Event, error),
	with func(tx *db.Tx, r Rotated) error) (out Rotated, err error) {
	if broken := j.Broken(); len(broken) > 0 {
		return out, fault.New(fault.Conflict, "journal.rotate", "the journal's word about authority is not whole: %s", broken[0]).
			WithNext("look, and confirm what there is first: tandem audit confirm")
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return out, err
	}
	next := newPair(key)
	text := []byte(base64.StdEncoding.EncodeToString(key.Seed()) + "\n")
	if err := wholefile.Write(NextFile(path), text); err != nil {
		return out, fmt.Errorf("keep the new key: %w", err)
	}
	j.mu.Lock()
	j.next = next
	j.mu.Unlock()
	err = j.db.Write(ctx, func(tx *db.Tx) error {
		h, err := lockHead(tx)
		if err != nil {
			return err
		}
		old, err := j.keyIn(tx)
		if err != nil {
			return err
		}
		signed := ed25519.Sign(old.key, []byte(rotatePurpose+"\n"+next.public()))
		out = Rotated{Old: old.public(), New: next.public(), Signed: base64.StdEncoding.EncodeToString(signed), Size: h.size, File: text}
		if note, err := j.sign(tx, h, 0); err != nil {
			return err
		} else if err := storeCheckpoint(tx, h.size, note); err != nil {
			return err
		}
		if out.Sealed, err = reseal(tx, old, next); err != nil {
			return err
		}
		if err := replaceKey(tx, out); err != nil {
			return err
		}
		e, err := event(out)
		if err != nil {
			return err
		}
		former := oldKey{out.Old, out.Size}.Seal()
		e.Seals = append(e.Seals, Seal{former.Subject, Digest(former.Says...)})
		seq, err := j.Append(tx, e)
		if err != nil {
			return err
		}
		if err := j.noteReach(tx, seq); err != nil {
			return err
		}
		tx.AfterCommit(func() { j.turn(next) })
		return with(tx, out)
	})
	if err != nil {
		return out, err
	}
	if err := os.Rename(NextFile(path), path); err != nil {
		return out, err
	}
	if file := j.standing.place(); file != "" {
		os.Remove(NextFile(file)) //nolint:errcheck // what it says was written down already
	}
	return out, nil
}

// turn lets the new key sign what is not in a transaction, and the old one vouch a little longer for those who read before.
func (j *Journal) turn(next *pair) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.pair != next {
		j.before, j.pair, j.next, j.turned = j.pair, next, nil, time.Now()
	}
}

func replaceKey(tx *db.Tx, r Rotated) error {
	if _, err := tx.Exec(`INSERT INTO journal_key (public, to_size, since) VALUES (?, ?, ?) ON CONFLICT (public) DO UPDATE
		SET to_size = excluded.to_size`, r.Old, r.Size, tx.Now()); err != nil {
		return err
	}
	_, err := tx.Exec("INSERT INTO journal_key (public, to_size, since) VALUES (?, 0, ?)", r.New, tx.Now())
	return err
}

// reseal vouches under the new key for exactly what the old one vouched for. What it did not vouch for stays nobody's.
func reseal(tx *db.Tx, old, next *pair) (n int, err error) {
	put := func(s storedSeal, mac, chain []byte) error {
		n++
		_, err := tx.Exec("UPDATE journal_seal SET mac = ?, chain = ? WHERE tenant = ? AND subject = ? AND seq = ?", mac, orNull(chain), s.tenant,
			s.Subject, s.seq)
		return err
	}
	all, err := lasting(tx)
	if err != nil {
		return 0, err
	}
	chain := chainStart[:]
	for _, entry := range (&chainWalk{}).entries(all) {
		slices.SortFunc(entry, func(a, b storedSeal) int { return strings.Compare(a.Subject, b.Subject) })
		l := newLink(chain)
		for _, s := range entry {
			mac := s.mac
			if hmac.Equal(mac, old.mac(s.tenant, s.Seal, s.seq, s.leaf, s.chain)) {
				mac = next.mac(s.tenant, s.Seal, s.seq, s.leaf, chain)
			}
			l.add(mac)
			if err := put(s, mac, chain); err != nil {
				return n, err
			}
		}
		chain = l.sum
	}
	rows, err := tx.Query(`SELECT s.tenant, s.subject, s.seq, s.digest, s.mac, e.leaf FROM journal_seal s JOIN journal_event e
		ON e.seq = s.seq WHERE s.chain IS NULL AND NOT EXISTS
		(SELECT 1 FROM journal_seal n WHERE n.tenant = s.tenant AND n.subject = s.subject AND n.seq > s.seq)`) // nobody asks about others
	short, err := db.Collect(rows, err, func(r *sql.Rows) (s storedSeal, err error) {
		var digest []byte
		err = r.Scan(&s.tenant, &s.Subject, &s.seq, &digest, &s.mac, &s.leaf)
		copy(s.Digest[:], digest)
		return s, err
	})
	for _, s := range short {
		if err == nil && hmac.Equal(s.mac, old.mac(s.tenant, s.Seal, s.seq, s.leaf, nil)) {
			err = put(s, next.mac(s.tenant, s.Seal, s.seq, s.leaf, nil), nil)
		}
	}
	return n, err
}

// noteReach keeps, for a start after a crash, how far the chain reaches under the new key.
func (j *Journal) noteReach(tx *db.Tx, seq int64) error {
	file := j.standing.place()
	if file == "" {
		return nil
	}
	sum, err := lastLink(tx)
	if err != nil {
		return err
	}
	return wholefile.Write(NextFile(file), fmt.Appendf(nil, "%d %x\n", seq, sum))
}

func (s *standing) place() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.file
}

// FinishRotation ends a rotation that a crash cut off. counts says whether the database knows the key that waits.
func FinishRotation(path, sealsFile string, counts func(key []byte) (bool, error)) (finished bool, err error) {
	key, err := os.ReadFile(NextFile(path))
	if os.IsNotExist(err) {
		return false, nil
	}
	if err == nil {
		finished, err = counts(key)
	}
	if err != nil {
		return false, err
	}
	if !finished {
		os.Remove(NextFile(sealsFile)) //nolint:errcheck // it may never have been written
		return false, os.Remove(NextFile(path))
	}
	if err := os.Rename(NextFile(sealsFile), sealsFile); err != nil && !os.IsNotExist(err) {
		return false, err
	}
	return true, os.Rename(NextFile(path), path)
}
