package freeze

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"tandem/internal/testenv"
)

// The tables as all migrations leave them, as the database itself describes them: a file for each noun.
func TestFrozenSchemaOfSQLite(t *testing.T) {
	t.Parallel()
	h := start(t)
	lines(t, "schema/sqlite", "sqlite", "file:"+filepath.Join(h.home, ".tandem", "tandem.db")+"?mode=ro",
		`SELECT tbl_name, sql || ';' FROM sqlite_master WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name`)
}

func TestFrozenSchemaOfPostgreSQL(t *testing.T) {
	t.Parallel()
	dsn := testenv.Postgres(t)
	start(t, "TANDEM_DATABASE="+dsn)
	lines(t, "schema/postgres", "pgx", dsn, `
		SELECT name, line FROM (
			SELECT table_name AS name, 1 AS part, lpad(ordinal_position::text, 3, '0') AS place,
				'column ' || column_name || ' ' || data_type || CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END
				|| coalesce(' DEFAULT ' || column_default, '') || coalesce(' ' || collation_name, '') AS line
			FROM information_schema.columns WHERE table_schema = 'public'
			UNION ALL
			SELECT c.conrelid::regclass::text, 2, c.conname, 'constraint ' || c.conname || ' ' || pg_get_constraintdef(c.oid)
			FROM pg_constraint c WHERE c.connamespace = 'public'::regnamespace AND c.contype <> 'n'
			UNION ALL
			SELECT tablename, 3, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
		) AS parts ORDER BY name, part, place`)
}

// lines asks a database for pairs of a table's name and a line about it.
func lines(t *testing.T, under, driver, dsn, query string) {
	t.Helper()
	pool, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	rows, err := pool.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	files, last := map[string]*strings.Builder{}, ""
	for rows.Next() {
		var table, line string
		if err := rows.Scan(&table, &line); err != nil {
			t.Fatal(err)
		}
		file := Noun(table) + ".txt"
		if files[file] == nil {
			files[file] = &strings.Builder{}
		}
		if table != last {
			fmt.Fprintf(files[file], "# %s\n", table)
			last = table
		}
		fmt.Fprintln(files[file], line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	today := map[string]string{}
	for name, b := range files {
		today[name] = b.String()
	}
	Check(t, under, today)
}
