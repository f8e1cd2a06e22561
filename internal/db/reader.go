package db

import (
	"context"
	"database/sql"
	"sync"
)

// maxPrepared bounds the statements that are kept prepared for readers: a query
// whose text depends on its input must not fill the memory.
const maxPrepared = 256

// reader asks single queries of the pool. SQLite parses and plans a query in
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
