package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"tandem/internal/fault"
)

// idle is how many connections are kept open for the next caller.
const idle = 8

func openPostgres(ctx context.Context, dsn string, now func() time.Time) (*DB, error) {
	at, err := readAddress(dsn)
	if err != nil {
		return nil, err
	}
	first, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := at.meet(first); err != nil {
		return nil, postgresDialect.explain(fmt.Errorf("connect to PostgreSQL: %w", err))
	}
	fence, link := new(fence), at.named()
	pool := sql.OpenDB(fencedConnector{stdlib.GetConnector(*at.conf), fence, at.shared || at.said})
	pool.SetMaxOpenConns(at.most)
	pool.SetMaxIdleConns(min(idle, at.most))
	d := &DB{pool: pool, dialect: postgresDialect, clock: &clock{wall: now}, fence: fence, link: link,
		crowd: &crowd{pool: pool, most: at.most}}
	d.reader = &reader{pool: pool, crowd: d.crowd} // pgx prepares by itself
	var closed atomic.Bool
	d.stop = func() error { closed.Store(true); return pool.Close() }
	d.write = func(ctx context.Context, fn func(*Tx) error) error {
		if closed.Load() {
			return errClosed
		}
		return d.writePostgres(ctx, fn)
	}
	return d, nil
}

// writePostgres runs fn in a transaction of its own and runs it again when it
// lost a race that PostgreSQL resolved by aborting it.
func (d *DB) writePostgres(ctx context.Context, fn func(*Tx) error) error {
	for try := 0; ; try++ {
		err := d.tryPostgres(ctx, fn)
		if err == nil || try == 9 || !lostRace(err) {
			return err
		}
		time.Sleep(time.Duration(try+1) * 2 * time.Millisecond)
	}
}

func (d *DB) tryPostgres(ctx context.Context, fn func(*Tx) error) error {
	inner := context.WithoutCancel(ctx)
	t, err := d.begin(inner, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer t.Rollback()
	tx := newTx(inner, t, postgresDialect, d.clock)
	if err := tx.call(fn); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	tx.committed(d.tell)
	return nil
}

// begin begins a transaction. That PostgreSQL closed a connection which lay idle
// is found out only now; nothing was done on it, so the next one is tried.
func (d *DB) begin(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	for try := 0; ; try++ {
		t, err := d.pool.BeginTx(ctx, opts)
		if err == nil || ctx.Err() != nil {
			return t, err
		}
		if !d.crowd.shares(err, try) && (try >= idle || !cutOff(err)) {
			return t, err
		}
	}
}

// cutOff says whether a connection that was open is not any more.
func cutOff(err error) bool {
	var pg *pgconn.PgError
	var dial *pgconn.ConnectError
	switch {
	case errors.As(err, &dial):
		return false // a new one, which cannot be had
	case errors.As(err, &pg):
		return pg.Code == "57P01" // an administrator ended it
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// ErrAgain is for a transaction that looked for something, did not find it, and met it when it wrote: nothing can lock a row that is not
// there
// yet. Returned from Write's function, it has that run again, which then finds it. SQLite's one writer never needs it.
var ErrAgain = fault.New(fault.Conflict, "db.write", "somebody else did the same at the same moment").WithNext("try again")

func lostRace(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, ErrAgain) || errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01" || pg.Code == "55P03")
}
