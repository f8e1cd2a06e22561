package journal

import (
	"context"
	"crypto/subtle"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// Anchor is a signed checkpoint together with the key that checks it. Kept
// where the server's disk is not, it proves later what the journal held now.
type Anchor struct {
	Size       int64     `json:"size"`
	Root       string    `json:"root"`
	Time       time.Time `json:"time"`
	Key        string    `json:"key"`        // the public key: name+hash+key
	Checkpoint string    `json:"checkpoint"` // the signed note
}

// Anchor signs the journal as it stands, and keeps the checkpoint.
func (j *Journal) Anchor(ctx context.Context) (*Anchor, error) {
	var h head
	var text string
	var key *pair
	err := j.db.Read(ctx, func(tx *db.Tx) (err error) {
		if key, err = j.keyIn(tx); err != nil {
			return err
		}
		if h, err = readHead(tx); err != nil {
			return err
		}
		text, err = j.sign(tx, h, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := j.keep(ctx, h, text); err != nil {
		return nil, err
	}
	vkey, err := key.verifier(h.origin)
	return &Anchor{Size: h.size, Root: fmt.Sprintf("%x", h.root()), Time: j.db.Now(), Key: vkey, Checkpoint: text}, err
}

// VerifierKey is the public key with which anybody checks this journal's
// receipts and checkpoints.
func (j *Journal) VerifierKey(ctx context.Context) (string, error) {
	var h head
	if err := j.db.Read(ctx, func(tx *db.Tx) (err error) { h, err = readHead(tx); return err }); err != nil {
		return "", err
	}
	return j.now().verifier(h.origin)
}

// sign signs a head that tx sees. It refuses a tree that does not continue the
// newest one signed before: a signature must never cover up a rewriting. A head that this process grew, entry by entry, from the one
// that it signed last continues it: of that chain nothing is read from the database, so nothing there can be another.
func (j *Journal) sign(tx *db.Tx, h head, chain int64) (string, error) {
	c := Checkpoint{Origin: h.origin, Size: h.size, Root: h.root()}
	last, err := j.lastSigned(tx, h.origin)
	if err != nil {
		return "", err
	}
	if last.Size > 0 && !j.grew(last, h, chain) {
		if err := continues(tx, last, c); err != nil {
			return "", fault.New(fault.Unavailable, "journal.sign", "the journal does not continue the one signed at %d entries: %v", last.Size,
				err).
				WithNext("somebody changed the database; look for what: tandem audit verify --whole")
		}
	}
	key, err := j.keyIn(tx)
	if err != nil {
		return "", err
	}
	return signCheckpoint(c, key.key)
}

// grew reports whether h is of the chain that the checkpoint was signed in, and is longer.
func (j *Journal) grew(signed Checkpoint, h head, chain int64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return chain != 0 && chain == j.proven && signed == j.signed && signed.Size < h.size
}

// lastSigned is the newest checkpoint that this journal's key signed and that
// is remembered here or in the database.
func (j *Journal) lastSigned(tx *db.Tx, origin string) (Checkpoint, error) {
	j.mu.Lock()
	last := j.signed
	j.mu.Unlock()
	if last.Origin == origin {
		return last, nil
	}
	key, err := j.keyIn(tx)
	if err != nil {
		return last, err
	}
	vkey, err := key.verifier(origin)
	if err != nil {
		return last, err
	}
	var text string
	err = tx.QueryRow("SELECT note FROM journal_checkpoint ORDER BY size DESC LIMIT 1").Scan(&text)
	if db.NoRows(err) {
		return Checkpoint{}, nil
	}
	if err != nil {
		return Checkpoint{}, err
	}
	c, err := OpenCheckpoint(text, vkey)
	if err == nil {
		return c, nil
	}
	had, err := j.had(tx)
	for _, k := range had {
		if vkey, err := k.verifier(origin); err == nil {
			if c, err := OpenCheckpoint(text, vkey); err == nil && c.Size <= k.size {
				return c, nil
			}
		}
	}
	return Checkpoint{}, err // another server's signature: its own to defend
}

// keep remembers that h was signed. Only heads that are committed are kept.
func (j *Journal) keep(ctx context.Context, h head, text string) error {
	if h.size == 0 {
		return nil
	}
	err := j.db.Write(ctx, func(tx *db.Tx) error { return storeCheckpoint(tx, h.size, text) })
	if err == nil {
		j.remember(h, 0) // it was read
	}
	return err
}

func storeCheckpoint(tx *db.Tx, size int64, text string) error {
	_, err := tx.Exec("INSERT INTO journal_checkpoint (size, at, note) VALUES (?, ?, ?) ON CONFLICT (size) DO NOTHING", size, tx.Now(), text)
	return err
}

// Signed names the newest checkpoint signed since the start, as its size and the
// root of its tree; "" before the first.
func (j *Journal) Signed() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.signed.Size == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%x", j.signed.Size, j.signed.Root[:])
}

func (j *Journal) remember(h head, chain int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if h.size >= j.signed.Size || j.signed.Origin != h.origin {
		j.signed, j.proven = Checkpoint{Origin: h.origin, Size: h.size, Root: h.root()}, chain
	}
}

// continues checks that the newer tree begins with the older one.
func continues(tx *db.Tx, older, newer Checkpoint) error {
	if older.Size > newer.Size {
		return fmt.Errorf("it has only %d", newer.Size)
	}
	if older.Size == newer.Size {
		if subtle.ConstantTimeCompare(older.Root[:], newer.Root[:]) != 1 {
			return fmt.Errorf("its entries are others")
		}
		return nil
	}
	p, err := tlog.ProveTree(newer.Size, older.Size, treeReader(tx, newer.Size, newer.Root))
	if err != nil {
		return err
	}
	return tlog.CheckTree(p, newer.Size, tlog.Hash(newer.Root), older.Size, tlog.Hash(older.Root))
}

// Run signs a checkpoint at most once every interval while events arrive, and
// once more when ctx ends. What fails, as with a database that is away, is told
// and tried again.
func (j *Journal) Run(ctx context.Context, every time.Duration, warn func(error)) {
	var seen int64 // the size last signed: what came after it waits, also after a crash
	if err := j.db.QueryRow(ctx, "SELECT coalesce(max(size), 0) FROM journal_checkpoint").Scan(&seen); err != nil {
		warn(err)
	}
	for {
		err := j.Wait(ctx, seen)
		if err != nil && ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
		if err == nil {
			seen, err = j.signAll(context.WithoutCancel(ctx), seen)
		}
		if err != nil {
			warn(err)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// signAll signs what there is and returns its size. A journal that cannot be
// signed is not tried again before it has grown.
func (j *Journal) signAll(ctx context.Context, seen int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	a, err := j.Anchor(ctx)
	if err == nil {
		return a.Size, nil
	}
	if head, headErr := j.Head(ctx); headErr == nil {
		seen = head
	}
	return seen, err
}
