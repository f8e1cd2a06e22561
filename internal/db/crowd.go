package db

import (
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// crowd shares the connections that PostgreSQL lets us have. A role, a database
// or a managed server has fewer than we would open, or others use them up:
// callers then wait for one that we have.
type crowd struct {
	pool *sql.DB
	most int
}

// shares says whether to try again after err: PostgreSQL had no connection left,
// and we have some. More are opened again after a minute.
func (c *crowd) shares(err error, try int) bool {
	var pg *pgconn.PgError
	if c == nil || try > 100 || !errors.As(err, &pg) || pg.Code != "53300" {
		return false
	}
	open := c.pool.Stats().OpenConnections
	if open == 0 && try > 20 {
		return false
	}
	c.pool.SetMaxOpenConns(max(1, open))
	time.AfterFunc(time.Minute, func() { c.pool.SetMaxOpenConns(c.most) })
	time.Sleep(10 * time.Millisecond)
	return true
}
