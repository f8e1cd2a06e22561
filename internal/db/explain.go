package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"tandem/internal/fault"
)

// NoRows reports whether a read found nothing.
func NoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// Exists reports whether an insert failed because the key is taken.
func Exists(err error) bool {
	var s *sqlite.Error
	if errors.As(err, &s) {
		return s.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || s.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}

// Explain gives the storage failures that a person can mend a sentence and a
// next step; faults pass through. Write, Read and Query explain by themselves;
// the gate and the doors explain what a Scan met.
func (d *DB) Explain(err error) error { return d.dialect.explain(err) }

func (d dialect) explain(err error) error {
	if err == nil || fault.KindOf(err) != fault.Internal {
		return err
	}
	var s *sqlite.Error
	if errors.As(err, &s) {
		switch s.Code() & 0xff {
		case sqlite3.SQLITE_FULL:
			return diskFull(err)
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
			return readOnly(err)
		case sqlite3.SQLITE_IOERR:
			return fault.New(fault.Unavailable, "db", "the disk refused a read or a write; nothing was changed: %w", err).
				WithNext("check the disk (dmesg, df -h), then run: tandem doctor")
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return fault.New(fault.Unavailable, "db", "another program holds the database: %w", err).
				WithNext("close the other program and try again")
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return fault.New(fault.Unavailable, "db", "the database file is damaged: %w", err).
				WithNext("restore the newest copy, which sets this aside and needs no server: tandem server restore PATH")
		}
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Unavailable, "db", "the caller went away before it was done: %w", err)
	case errors.Is(err, syscall.ENOSPC):
		return diskFull(err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return readOnly(err)
	case errors.Is(err, errClosed):
		return fault.New(fault.Unavailable, "db", "the server is stopping: %w", err).WithNext("try again in a moment")
	}
	if told := refused(err); d == postgresDialect && told != nil {
		return told
	}
	if d == postgresDialect && lostServer(err) {
		return fault.New(fault.Unavailable, "db", "PostgreSQL cannot be reached: %w", eachOnce{err}).
			WithNext("check that it runs and that --database is right, then try again")
	}
	return err
}

// lostServer reports whether the connection to PostgreSQL broke or could not be
// made, as opposed to an answer that says no.
func lostServer(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch { // shutting down, but not a statement that took too long; connection failure; too many connections
		case pg.Code == "57014":
			return false
		default:
			return pg.Code[:2] == "57" || pg.Code[:2] == "08" || pg.Code == "53300"
		}
	}
	var connect *pgconn.ConnectError
	var wire *net.OpError
	return errors.As(err, &connect) || errors.As(err, &wire) || pgconn.SafeToRetry(err) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.EOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)
}

// eachOnce says every line of an error once: a server is tried with TLS and without, and fails in the same words.
type eachOnce struct{ error }

func (e eachOnce) Error() string {
	var lines []string
	for line := range strings.Lines(e.error.Error()) {
		if line = strings.TrimSuffix(line, "\n"); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func (e eachOnce) Unwrap() error { return e.error }

func diskFull(err error) error {
	return fault.New(fault.Unavailable, "db", "the disk is full; nothing was changed: %w", err).
		WithNext("free some space (df -h), then try again")
}

func readOnly(err error) error {
	return fault.New(fault.Unavailable, "db", "the data folder cannot be written; nothing was changed: %w", err).
		WithNext("check its owner and that its disk is mounted writable, then try again")
}
