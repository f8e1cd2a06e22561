package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem/internal/fault"
)

// DB is an open database.
type DB struct {
	pool    *sql.DB // readers on SQLite, everything on PostgreSQL
	reader  *reader // how single queries are asked
	dialect dialect
	write   func(ctx context.Context, fn func(*Tx) error) error
	stop    func() error
	clock   *clock
	crowd   *crowd // of connections to PostgreSQL; nil on SQLite
	path    string
	fence   *fence
	link    string   // see Link
	replica *replica // nil where there is none

	// Told hears of what went wrong where no caller is left to hear it.
	Told func(error)
}

func (d *DB) tell(err error) {
	if d.Told != nil {
		d.Told(err)
	}
}

type dialect string

const (
	sqliteDialect   dialect = "sqlite"
	postgresDialect dialect = "postgres"
)

// Open opens the database at dsn: "postgres://…" for PostgreSQL, anything else
// is the path of a SQLite file, made when absent. now gives transactions their
// time; nil means the system's clock.
func Open(ctx context.Context, dsn string, now func() time.Time) (*DB, error) {
	if now == nil {
		now = time.Now
	}
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		return openPostgres(ctx, dsn, now)
	}
	return openSQLite(ctx, strings.TrimPrefix(dsn, "sqlite:"), now)
}

// Close waits for the writer to finish what it acknowledged and closes.
func (d *DB) Close() error {
	if d.replica != nil {
		return errors.Join(d.replica.Close(), d.stop())
	}
	return d.stop()
}

// Name is "sqlite" or "postgres", for people.
func (d *DB) Name() string { return string(d.dialect) }

// Path is the SQLite file's path, "" on PostgreSQL.
func (d *DB) Path() string { return d.path }

// Now is the database's clock, in UTC with microseconds.
func (d *DB) Now() time.Time { now, _ := d.clock.times(); return now }

// Write runs fn in one transaction and returns once its changes are on disk.
// An error from fn undoes its changes. fn may run again after a lost race on
// PostgreSQL, so it must touch nothing but tx; it must not wait for anything.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return fault.New(fault.Unavailable, "db.write", "the request was cancelled before it began: %w", err)
	}
	return d.Explain(d.write(ctx, fn))
}

// Read runs fn on one consistent snapshot.
func (d *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	opts := &sql.TxOptions{ReadOnly: true}
	if d.dialect == postgresDialect {
		opts.Isolation = sql.LevelRepeatableRead
	}
	t, err := d.begin(ctx, opts)
	if err != nil {
		return d.Explain(fmt.Errorf("begin read: %w", err))
	}
	asks := &readTx{Tx: t, reader: d.reader}
	defer asks.end(ctx)
	return d.Explain(fn(newTx(ctx, asks, d.dialect, d.clock)))
}

// Query reads rows outside any transaction.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := d.reader.QueryContext(ctx, rebind(d.dialect, query), values(args)...)
	return rows, d.Explain(err)
}

// QueryRow reads one row outside any transaction.
func (d *DB) QueryRow(ctx context.Context, query string, args ...any) *sql.Row {
	return d.reader.QueryRowContext(ctx, rebind(d.dialect, query), values(args)...)
}

// Find reads one row by its key. In SQLite that is over at once, and is not given up when the caller goes: to watch for that takes two
// goroutines and longer than the answer. Whatever may read many rows is for QueryRow.
func (d *DB) Find(ctx context.Context, query string, args ...any) *sql.Row {
	if d.dialect == sqliteDialect && ctx.Err() == nil {
		ctx = context.WithoutCancel(ctx)
	}
	return d.QueryRow(ctx, query, args...)
}

// Micros is t as it is stored; the zero time is stored as 0.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time reads a stored time; 0 is the zero time.
func Time(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// EachRow reads the rows of a query one after the other and keeps none of them.
func EachRow(rows *sql.Rows, err error, read func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Collect scans every row of a query with scan.
func Collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}
