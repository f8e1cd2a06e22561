package db

import (
	"context"
	"database/sql"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"tandem/internal/fault"
)

const (
	levelMost = 500 * time.Millisecond // how long a read waits for the replica to be level
	restMost  = 10 * time.Second       // how long a replica that failed, or fell behind, is left alone
)

// replica is a PostgreSQL that follows this one and takes no changes.
type replica struct {
	*DB
	rests atomic.Int64 // until when it is not asked, in microseconds
}

// Follow opens a read-only replica of this database for reads that are large. Role, password, name and the rest are those of the address
// that this database was opened with; host is the replica's HOST:PORT, or the folder of its socket. What ours refuses is not used.
func (d *DB) Follow(ctx context.Context, dsn, host string, ours func(*DB) error) error {
	if d.dialect != postgresDialect {
		return fault.New(fault.Invalid, "db", "only a database in PostgreSQL has replicas, and this one is in a file")
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return fault.New(fault.Invalid, "db", "the database's address cannot be read")
	}
	query := u.Query()
	query.Del("host")
	query.Del("port")
	if u.Host = host; strings.HasPrefix(host, "/") {
		u.Host = ""
		query.Set("host", host)
	}
	u.RawQuery = query.Encode()
	at, err := readAddress(u.String())
	if err != nil {
		return err
	}
	first, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := at.meet(first); err != nil {
		return postgresDialect.explain(err)
	}
	at.named()
	pool := sql.OpenDB(stdlib.GetConnector(*at.conf))
	pool.SetMaxOpenConns(at.most)
	pool.SetMaxIdleConns(min(idle, at.most))
	var follows bool
	if err := pool.QueryRowContext(first, "SELECT pg_is_in_recovery()").Scan(&follows); err != nil || !follows {
		pool.Close()
		if err != nil {
			return postgresDialect.explain(err)
		}
		return fault.New(fault.Invalid, "db", "what answers at %s follows no other PostgreSQL: it is no read-only replica", host)
	}
	far := &DB{pool: pool, dialect: d.dialect, clock: d.clock, fence: new(fence), stop: pool.Close}
	far.reader = &reader{pool: pool}
	far.write = func(context.Context, func(*Tx) error) error {
		return fault.New(fault.Internal, "db.write", "a replica takes no changes")
	}
	if err := ours(far); err != nil {
		pool.Close()
		return err
	}
	d.replica = &replica{DB: far}
	return nil
}

// Wide does a large read: at the replica when it has all that was written here before, so that nobody reads what was forgotten or misses
// what was just done; else at this database. What fails at the replica, which gives up what takes long there, is read once more here, so
// read begins anew each time.
func (d *DB) Wide(ctx context.Context, read func(from *DB) error) error {
	from := d.level(ctx)
	err := read(from)
	if kind := fault.KindOf(err); from == d || err == nil || ctx.Err() != nil || kind != fault.Unavailable && kind != fault.Internal {
		return err
	}
	d.replica.rest()
	return read(d)
}

// ReadWide is Wide on one consistent snapshot.
func (d *DB) ReadWide(ctx context.Context, fn func(*Tx) error) error {
	return d.Wide(ctx, func(from *DB) error { return from.Read(ctx, fn) })
}

// rest leaves the replica alone for a while.
func (r *replica) rest() { r.rests.Store(time.Now().Add(restMost).UnixMicro()) }

// level is the replica when it is level with this database, else this database.
func (d *DB) level(ctx context.Context) *DB {
	r := d.replica
	if r == nil || time.Now().UnixMicro() < r.rests.Load() {
		return d
	}
	ctx, cancel := context.WithTimeout(ctx, levelMost)
	defer cancel()
	var here string
	if err := d.pool.QueryRowContext(ctx, "SELECT pg_current_wal_lsn()::text").Scan(&here); err != nil {
		return d
	}
	for pause := time.Millisecond; ; pause *= 2 {
		var level bool
		err := r.pool.QueryRowContext(ctx, "SELECT pg_is_in_recovery() AND coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false)",
			here).Scan(&level)
		if err == nil && level {
			return r.DB
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			if err == nil {
				continue
			}
		}
		r.rest()
		return d
	}
}
