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

// maxBatch bounds how many transactions share one sync, so that the first of
// them is not kept waiting by a crowd.
const maxBatch = 128

const pragmas = "_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=cache_size(-8000)&_txlock=immediate"

func openSQLite(ctx context.Context, path string, now func() time.Time) (*DB, error) {
	// SQLite would make the file readable for others; make it first.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, Explain(fmt.Errorf("open %s: %w", path, err))
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
		return nil, Explain(fmt.Errorf("open %s: %w", path, err))
	}
	pool, err := sql.Open("sqlite", uri+"_pragma=busy_timeout(10000)&_pragma=query_only(1)&_pragma=cache_size(-4000)")
	if err != nil {
		return nil, errors.Join(err, conn.Close(), one.Close())
	}
	pool.SetMaxOpenConns(8)
	pool.SetMaxIdleConns(4)

	w := &writer{conn: &stmtConn{Conn: conn, stmts: map[string]*sql.Stmt{}}, work: make(chan *write), done: make(chan struct{})}
	d := &DB{pool: pool, dialect: sqliteDialect, now: now, path: path}
	w.now = d.Now
	d.write = w.submit
	d.stop = sync.OnceValue(func() error {
		w.close()
		return errors.Join(pool.Close(), conn.Close(), one.Close())
	})
	go w.loop()
	return d, nil
}

// writer owns the only connection that writes.
type writer struct {
	conn *stmtConn
	work chan *write
	done chan struct{}
	now  func() time.Time

	mu     sync.RWMutex
	closed bool
}

type write struct {
	ctx   context.Context
	fn    func(*Tx) error
	tx    *Tx
	reply chan error
}

var errClosed = errors.New("the database is closed")

func (w *writer) submit(ctx context.Context, fn func(*Tx) error) error {
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return errClosed
	}
	req := &write{ctx: ctx, fn: fn, reply: make(chan error, 1)}
	select {
	case w.work <- req:
		w.mu.RUnlock()
	case <-ctx.Done():
		w.mu.RUnlock()
		return ctx.Err()
	}
	return <-req.reply // once begun, its outcome is known
}

func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	close(w.work)
	w.mu.Unlock()
	<-w.done
}

func (w *writer) loop() {
	defer close(w.done)
	for first := range w.work {
		w.batch(first)
	}
	w.conn.closeStmts()
}

// batch runs first, and whoever waits behind it, in one transaction.
func (w *writer) batch(first *write) {
	var good []*write
	for req := first; req != nil; req = w.next(len(good)) {
		if len(good) == 0 {
			if err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
				req.reply <- err
				continue
			}
			if err := w.run(req); err != nil {
				req.reply <- errors.Join(err, w.conn.exec("ROLLBACK"))
				continue
			}
		} else {
			err := w.conn.exec("SAVEPOINT one")
			if err == nil {
				if err = w.run(req); err != nil {
					err = errors.Join(err, w.conn.exec("ROLLBACK TO one"))
				}
				err = errors.Join(err, w.conn.exec("RELEASE one"))
			}
			if err != nil {
				req.reply <- err
				continue
			}
		}
		good = append(good, req)
	}
	if len(good) == 0 {
		return
	}
	err := w.conn.exec("COMMIT")
	if err != nil {
		_ = w.conn.exec("ROLLBACK")
	}
	for _, req := range good {
		if err == nil {
			for _, f := range req.tx.after {
				f()
			}
		}
		req.reply <- err
	}
}

// next takes one more request if somebody waits.
func (w *writer) next(n int) *write {
	if n >= maxBatch {
		return nil
	}
	select {
	case req := <-w.work:
		return req // nil when closed
	default:
		return nil
	}
}

// run calls the caller's function. Statements ignore cancellation: SQLite
// would roll the whole batch back with them.
func (w *writer) run(req *write) error {
	req.tx = &Tx{ctx: context.WithoutCancel(req.ctx), run: w.conn, dialect: sqliteDialect, now: w.now()}
	return req.tx.call(req.fn)
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
