package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Four times the usual 1,000 pages gather before they are moved from the WAL
// into the file: the pages that every change touches are moved less often.
//
// What was deleted is overwritten, and its room can be given back: see Shrink. The WAL gives back what it took beyond 32 MB while somebody
// read an older state (a copy does), as soon as nobody does and something is written.
//
// What would undo one caller's part of a batch is kept in memory: in files each page that a change touches was written once more.
const pragmas = "_pragma=busy_timeout(10000)&_pragma=auto_vacuum(2)&_pragma=secure_delete(1)&_pragma=journal_mode(WAL)&_pragma=synchrono" +
	"us(FULL)&_pragma=foreign_keys(1)&_pragma=cache_size(-8000)&_pragma=wal_autocheckpoint(4000)&_pragma=journal_size_limit(33554432)" +
	"&_pragma=temp_store(2)&_txlock=immediate"

func openSQLite(ctx context.Context, path string, now func() time.Time) (*DB, error) {
	// SQLite would make the file readable for others; make it first.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, sqliteDialect.explain(fmt.Errorf("open %s: %w", path, err))
	}
	f.Close()
	uri := "file:" + (&url.URL{Path: path}).EscapedPath() + "?"
	one, err := sql.Open("sqlite", uri+pragmas)
	if err != nil {
		return nil, err
	}
	one.SetMaxOpenConns(1)
	conn, err := one.Conn(ctx)
	if err != nil {
		one.Close()
		return nil, sqliteDialect.explain(fmt.Errorf("open %s: %w", path, err))
	}
	pool, err := sql.Open("sqlite", uri+"_pragma=busy_timeout(10000)&_pragma=query_only(1)&_pragma=cache_size(-4000)")
	if err != nil {
		return nil, errors.Join(err, conn.Close(), one.Close())
	}
	pool.SetMaxOpenConns(8)
	pool.SetMaxIdleConns(8) // opening one and preparing its queries costs more than most answers
	pool.SetConnMaxIdleTime(time.Minute)

	w := &writer{conn: &stmtConn{Conn: conn, stmts: map[string]*sql.Stmt{}}}
	d := &DB{pool: pool, reader: &reader{pool: pool, most: maxPrepared}, dialect: sqliteDialect, clock: &clock{wall: now}, path: path,
		fence: new(fence)}
	w.clock, w.told, w.fence = d.clock, d.tell, d.fence
	d.write = w.submit
	d.stop = sync.OnceValue(func() error {
		w.close()
		return errors.Join(pool.Close(), conn.Close(), one.Close())
	})
	return d, nil
}

// stmtConn prepares each statement once.
type stmtConn struct {
	*sql.Conn
	stmts map[string]*sql.Stmt
}

func (c *stmtConn) stmt(query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.Conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, strings.Join(strings.Fields(query), " "))
	}
	c.stmts[query] = s
	return s, nil
}

func (c *stmtConn) exec(query string) error {
	_, err := c.ExecContext(context.Background(), query)
	return err
}

func (c *stmtConn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := c.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

func (c *stmtConn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := c.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

func (c *stmtConn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := c.stmt(query)
	if err != nil {
		return c.Conn.QueryRowContext(ctx, query, args...) // fails the same way, at Scan
	}
	return s.QueryRowContext(ctx, args...)
}

func (c *stmtConn) closeStmts() {
	for _, s := range c.stmts {
		s.Close()
	}
}
