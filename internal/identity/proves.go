package identity

import (
	"context"

	"tandem/internal/db"
)

// Proves says whether a database has a PIN of the first tenant's people, and whether this
// is one. It is for the time when no server runs that could ask.
func Proves(ctx context.Context, d *db.DB, pin string) (set, right bool, err error) {
	rows, err := d.Query(ctx, "SELECT hash FROM pin WHERE tenant = ?", LocalTenant)
	if err != nil {
		return false, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var hash string
		if err := rows.Scan(&hash); err != nil {
			return set, right, err
		}
		set = true
		right = right || pin != "" && pinMatches(hash, pin)
	}
	return set, right, rows.Err()
}
