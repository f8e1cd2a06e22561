package journal

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/wholefile"
)

// Key reads the signing key at path and makes one (file mode 0600) when there
// is none. A key file that others may read is refused: its signatures would
// prove nothing.
func Key(path string) (ed25519.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return makeKey(path)
	}
	if err != nil {
		return nil, err
	}
	if err := private(path); err != nil {
		return nil, err
	}
	seed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fault.New(fault.Unavailable, "journal.key", "%s is not a journal key", path).
			WithNext("restore the file from a copy: without it new checkpoints would bear another name")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// CheckKey refuses a key at path that did not sign the newest checkpoint: it is another journal's. Without a checkpoint or a
// key there is nothing to compare.
func CheckKey(tx *db.Tx, path string) error {
	var note string
	err := tx.QueryRow("SELECT note FROM journal_checkpoint ORDER BY size DESC LIMIT 1").Scan(&note)
	if _, absent := os.Stat(path); os.IsNotExist(absent) || db.NoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	key, err := Key(path)
	if err != nil {
		return err
	}
	h, err := readHead(tx)
	if err != nil {
		return err
	}
	public, err := verifierKey(h.origin, key)
	if err != nil {
		return err
	}
	if _, err := OpenCheckpoint(note, public); err != nil {
		if names, formerErr := former(tx); formerErr == nil {
			for origin := range names {
				if public, err := verifierKey(origin, key); err == nil {
					if _, err := OpenCheckpoint(note, public); err == nil {
						return nil
					}
				}
			}
		}
		return fault.New(fault.Conflict, "journal.key", "%s did not sign this journal: it belongs to another installation", path).
			WithNext("put the right one back from a copy; when there is none, go on without it: tandem up --without journal.key")
	}
	return nil
}

func makeKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	text := base64.StdEncoding.EncodeToString(key.Seed()) + "\n"
	tmp, err := wholefile.Create(path)
	if err != nil {
		return nil, err
	}
	defer tmp.Drop()
	_, err = tmp.WriteString(text)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return nil, err
	}
	// Link, not rename: a second starter must find the first one's key.
	if err := os.Link(tmp.Name(), path); err != nil {
		if os.IsExist(err) {
			return Key(path)
		}
		if err := os.Rename(tmp.Name(), path); err != nil {
			return nil, fmt.Errorf("store the journal's key: %w", err)
		}
	}
	return key, wholefile.SyncFolder(filepath.Dir(path))
}
