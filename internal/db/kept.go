package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Weigher counts about how many bytes the rows of one tenant have in some tables: what is in their columns, without indexes and pages.
type Weigher struct {
	db      *DB
	queries []string
}

// maxUnion is how many tables one query reads.
const maxUnion = 50

// NewWeigher prepares to weigh these tables, which have a column tenant.
func (d *DB) NewWeigher(ctx context.Context, tables []string) (*Weigher, error) {
	w, parts := &Weigher{db: d}, []string{}
	for _, t := range tables {
		size := "pg_column_size(" + t + ".*)"
		if d.dialect != postgresDialect {
			rows, err := d.Query(ctx, "SELECT 'octet_length(' || name || ')' FROM pragma_table_info('"+t+"') ORDER BY cid")
			columns, err := Collect(rows, err, func(rows *sql.Rows) (c string, err error) { return c, rows.Scan(&c) })
			if err != nil {
				return nil, d.Explain(err)
			}
			if len(columns) == 0 {
				return nil, fmt.Errorf("there is no table %s to weigh", t)
			}
			size = strings.Join(columns, " + ")
		}
		parts = append(parts, "SELECT coalesce(sum("+size+"), 0) FROM "+t+" WHERE tenant = ?")
	}
	for len(parts) > 0 {
		n := min(len(parts), maxUnion)
		w.queries = append(w.queries, strings.Join(parts[:n], " UNION ALL "))
		parts = parts[n:]
	}
	return w, nil
}

// Bytes weighs a tenant now. It reads all of its rows.
func (w *Weigher) Bytes(ctx context.Context, tenant string) (all int64, err error) {
	for _, q := range w.queries {
		args := make([]any, strings.Count(q, "?"))
		for i := range args {
			args[i] = tenant
		}
		rows, err := w.db.Query(ctx, q, args...)
		sums, err := Collect(rows, err, func(rows *sql.Rows) (n int64, err error) { return n, rows.Scan(&n) })
		if err != nil {
			return 0, w.db.Explain(err)
		}
		for _, n := range sums {
			all += n
		}
	}
	return all, nil
}
