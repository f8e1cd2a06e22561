package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
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

// Tables are the first few tables of the schema, by name, but for those that belong to an extension of PostgreSQL.
func (d *DB) Tables(ctx context.Context, most int) ([]string, error) {
	query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1 LIMIT ?"
	if d.dialect == postgresDialect {
		query = `SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend x
			WHERE x.classid = 'pg_catalog.pg_class'::regclass AND x.objid = c.oid AND x.deptype = 'e') ORDER BY 1 LIMIT ?`
	}
	rows, err := d.Query(ctx, query, most)
	names, err := Collect(rows, err, func(rows *sql.Rows) (name string, err error) { return name, rows.Scan(&name) })
	return names, d.Explain(err)
}

// Column is a column of a table.
type Column struct{ Table, Name string }

// Columns are the columns of these names, in all tables, ordered.
func (d *DB) Columns(ctx context.Context, names ...string) ([]Column, error) {
	query := "SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' ORDER BY 1, 2"
	if d.dialect == postgresDialect {
		query = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2"
	}
	rows, err := d.Query(ctx, query)
	all, err := Collect(rows, err, func(rows *sql.Rows) (c Column, err error) { return c, rows.Scan(&c.Table, &c.Name) })
	return slices.DeleteFunc(all, func(c Column) bool { return !slices.Contains(names, c.Name) }), d.Explain(err)
}
