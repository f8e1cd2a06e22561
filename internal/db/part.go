package db

import (
	"context"
	"io"
	"slices"
	"strings"
)

// DumpPart is Dump of those rows of some tables that have a value in a column. The other tables are in it without rows.
func (d *DB) DumpPart(ctx context.Context, w io.Writer, of []string, column, value string, rooms ...Migrations) (rows int64, err error) {
	return d.dump(ctx, w, func(table string) (where string, args []any) {
		if !slices.Contains(of, table) {
			return " WHERE 1 = 0", nil
		}
		return " WHERE " + column + " = ?", []any{value}
	}, rooms)
}

// CopyRows copies all rows of a table from one database into another one, which has the table with the same columns.
func CopyRows(from, to *Tx, table string) (n int64, err error) {
	rows, err := from.Query("SELECT * FROM " + table)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	insert := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(columns)-1) + ")"
	row, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		dest[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return n, err
		}
		if _, err := to.Exec(insert, row...); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}
