package peer

import (
	"errors"
	"fmt"
	"os"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space/seal"
	"tandem/internal/wholefile"
)

// Key reads the key that seals seats at rest, and makes it when absent.
func Key(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		if len(b) != 32 {
			return nil, fault.New(fault.Unavailable, "space", "%s is not a key of 32 bytes", path).
				WithNext("restore it from a copy; without it the seats of this machine cannot be opened")
		}
		return b, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the key of seats: %w", err)
	}
	k, err := seal.NewKey()
	if err != nil {
		return nil, err
	}
	if err := wholefile.Write(path, k); err != nil {
		return nil, fmt.Errorf("keep the key of seats: %w", err)
	}
	return k, nil
}

// GiveUp closes what is sealed under a key of seats that is lost: the seats are
// left, so that their members can join again.
func GiveUp(tx *db.Tx) error {
	for _, q := range []string{
		"UPDATE peer_seat SET state = '" + left + "', why = 'the key that its secrets were sealed under was lost' WHERE state IN ('" + active +
			"', '" + broken + "')",
		"DELETE FROM peer_name", "DELETE FROM peer_invite", "DELETE FROM peer_outbox",
		"DELETE FROM peer_attachment", "DELETE FROM peer_piece",
	} {
		if _, err := tx.Exec(q); err != nil {
			return err
		}
	}
	return nil
}
