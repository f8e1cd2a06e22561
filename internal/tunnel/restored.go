package tunnel

import "tandem/internal/db"

// Restored forgets the public address that a copy had: it is opened again by a person.
func (r *Room) Restored(tx *db.Tx) (int, error) {
	gone, err := tx.Changed("DELETE FROM tunnel")
	return int(gone), err
}
