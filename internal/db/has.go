package db

import (
	"context"
	"fmt"
)

// Has says whether there is a table of that name, and changes nothing.
func (d *DB) Has(ctx context.Context, table string) (bool, error) {
	query := "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	if d.dialect == postgresDialect {
		query = "SELECT count(*) FROM pg_catalog.pg_class WHERE oid = to_regclass(?)"
	}
	var n int
	if err := d.QueryRow(ctx, query, table).Scan(&n); err != nil {
		return false, d.Explain(fmt.Errorf("look for the table %s: %w", table, err))
	}
	return n > 0, nil
}
