package journal

import (
	"time"

	"tandem/internal/db"
)

// Forget deletes the payloads of a tenant's events older than a time, with
// their salts: nobody can then guess what a hash stood for. The entries, their
// order and every proof stay.
func Forget(tx *db.Tx, tenant string, before time.Time) (int64, error) {
	return tx.Changed("DELETE FROM journal_payload WHERE seq IN (SELECT seq FROM journal_event WHERE tenant = ? AND at < ?)", tenant, before)
}
