package notify

import "tandem/internal/db"

// Restored drops notices of a copy that were on their way when it was made.
func (n *Notifier) Restored(tx *db.Tx) (int, error) {
	gone, err := tx.Changed("DELETE FROM notice_way")
	return int(gone), err
}
