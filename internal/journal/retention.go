package journal

import (
	"time"

	"tandem/internal/db"
)

// Forget deletes the payloads of a tenant's events older than a time, with
// their salts: nobody can then guess what a hash stood for. The entries, their
// order and every proof stay. A journal that the tenant had elsewhere until before that time goes whole: it is a text.
func Forget(tx *db.Tx, tenant string, before time.Time) (int64, error) {
	if _, err := tx.Exec("DELETE FROM journal_former WHERE tenant = ? AND made < ?", tenant, before); err != nil {
		return 0, err
	}
	return tx.Changed("UPDATE journal_event SET payload = NULL, payload_salt = NULL WHERE tenant = ? AND at < ? AND payload IS NOT NULL",
		tenant, before)
}
