package approval

import "tandem/internal/db"

// Restored ends what a copy holds of asks: what was pending or granted when it was made
// may have been answered and spent since, so everything is asked for again.
func (r *Room) Restored(tx *db.Tx) (int, error) {
	n, err := tx.Changed(`UPDATE approval SET state = 'cancelled', standing = 0, decided_at = ?, decided_by = 'restored', feedback = ?
		WHERE state IN ('pending', 'approved') AND spent_at = 0`, tx.Now(), "the server was restored from a copy; ask again")
	return int(n), err
}
