package db

import (
	"context"
	"database/sql"
	"sync"
)

// maxPrepared bounds the statements that are kept prepared for readers: a query
// whose text depends on its input must not fill the memory.
const maxPrepared = 1024 // a copy of everything takes some 300

// reader asks queries of the pool, single ones and those of reading transactions. SQLite parses and plans a query in
// more time than it takes to answer most of ours, so the first ones of the
// program are prepared once on each connection.
type reader struct {
	pool  *sql.DB
	most  int    // how many to prepare
	crowd *crowd // nil on SQLite

	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

// stmt is the prepared query, nil where it is to be asked as text.
func (r *reader) stmt(ctx context.Context, query string) *sql.Stmt {
	r.mu.RLock()
	s, full := r.stmts[query], len(r.stmts) >= r.most
	r.mu.RUnlock()
	if s != nil || full {
		return s
	}
	s, err := r.pool.PrepareContext(ctx, query)
	if err != nil {
		return nil // asked as text it fails the same way
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.stmts[query]; other != nil {
		s.Close()
		return other
	}
	if r.stmts == nil {
		r.stmts = map[string]*sql.Stmt{}
	}
	r.stmts[query] = s
	return s
}

func (r *reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := r.stmt(ctx, query); s != nil {
		return s.QueryContext(ctx, args...)
	}
	for try := 0; ; try++ {
		rows, err := r.pool.QueryContext(ctx, query, args...)
		if err == nil || ctx.Err() != nil || !r.crowd.shares(err, try) {
			return rows, err
		}
	}
}

func (r *reader) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s := r.stmt(ctx, query); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	for try := 0; ; try++ {
		row := r.pool.QueryRowContext(ctx, query, args...)
		if err := row.Err(); err == nil || ctx.Err() != nil || !r.crowd.shares(err, try) {
			return row
		}
	}
}

// readTx asks the queries of a reading transaction by the statements that the reader keeps.
type readTx struct {
	*sql.Tx
	reader *reader
	unkept []string
}

// stmt is the kept statement in this transaction, nil where there is none. To prepare one here would take a second connection from the pool
// while the first is held, so end does it.
func (t *readTx) stmt(ctx context.Context, query string) *sql.Stmt {
	t.reader.mu.RLock()
	s, full := t.reader.stmts[query], len(t.reader.stmts) >= t.reader.most
	t.reader.mu.RUnlock()
	if s != nil {
		return t.StmtContext(ctx, s)
	}
	if !full {
		t.unkept = append(t.unkept, query)
	}
	return nil
}

func (t *readTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := t.stmt(ctx, query); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return t.Tx.QueryContext(ctx, query, args...)
}

func (t *readTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s := t.stmt(ctx, query); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return t.Tx.QueryRowContext(ctx, query, args...)
}

// end gives the connection back and keeps what was asked as text for the next time.
func (t *readTx) end(ctx context.Context) {
	t.Rollback()
	for _, query := range t.unkept {
		t.reader.stmt(ctx, query)
	}
}
