package journal

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"strings"

	"tandem/internal/db"
)

// newest is how many entries Holds looks through at most.
const newest = 20_000

// Holds tells whether a text stands in what a tenant's newest entries tell, as it is or as JSON writes it.
func (j *Journal) Holds(tx *db.Tx, tenant, text string) (bool, error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return false, err
	}
	inner := quoted[1 : len(quoted)-1]
	rows, err := tx.Query("SELECT resource, payload FROM journal_event WHERE tenant = ? ORDER BY seq DESC LIMIT ?", tenant, newest)
	found := false
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (struct{}, error) {
		var resource string
		var payload sql.RawBytes
		err := rows.Scan(&resource, &payload)
		found = found || strings.Contains(resource, text) || bytes.Contains(payload, inner)
		return struct{}{}, err
	})
	return found, err
}
