package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"
)

// What is deleted or changed in SQLite is overwritten with zeros at once
// (secure_delete), in the pages that are moved from the WAL into the file. Shrink
// moves them now, and gives the pages that hold nothing any more back to the disk.

// shrinkStep is how many pages are given back while other changes wait.
const shrinkStep = 1000

// Shrinkable makes a file that an older program began one that can give room
// back. That writes it anew, once; what was deleted from it before is gone then, too.
func (d *DB) Shrinkable(ctx context.Context) (changed bool, err error) {
	err = d.apart(ctx, func(c *sql.Conn) error {
		var mode int
		if err := c.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&mode); err != nil || mode != 0 {
			return err
		}
		changed = true
		for _, q := range []string{"PRAGMA auto_vacuum = INCREMENTAL", "VACUUM"} {
			if _, err := c.ExecContext(ctx, q); err != nil {
				return err
			}
		}
		return emptyWAL(ctx, c)
	})
	return changed, err
}

// wholeUpTo is the size of a file that is written anew while changes wait: that
// takes a few seconds.
const wholeUpTo = 512 << 20

// Shrink gives back the room of what was deleted, and returns how many bytes
// that were. A file that is not too large is written anew: pages that only lost
// a part of what they held are filled again. PostgreSQL does so by itself (autovacuum).
func (d *DB) Shrink(ctx context.Context) (freed int64, err error) {
	err = d.apart(ctx, func(c *sql.Conn) error {
		before, err := d.size()
		if err != nil {
			return err
		}
		if before <= wholeUpTo {
			if _, err := c.ExecContext(ctx, "VACUUM"); err != nil {
				return err
			}
			if err := emptyWAL(ctx, c); err != nil {
				return err
			}
			after, err := d.size()
			freed = max(0, before-after)
			return err
		}
		var size int64
		if err := c.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size); err != nil {
			return err
		}
		for {
			var before, after int64
			if err := c.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&before); err != nil {
				return err
			}
			if err := each(ctx, c, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", shrinkStep)); err != nil {
				return err
			}
			if err := c.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&after); err != nil {
				return err
			}
			freed += max(0, before-after) * size
			if after == 0 || after >= before {
				return emptyWAL(ctx, c)
			}
		}
	})
	return freed, err
}

// size is that of the file and of its WAL.
func (d *DB) size() (n int64, err error) {
	for _, end := range []string{"", "-wal"} {
		st, err := os.Stat(d.path + end)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return n, err
		}
		if err == nil {
			n += st.Size()
		}
	}
	return n, nil
}

// Waiting is how many bytes the WAL has: what was changed and is not in the file yet, with room that is used again. None in PostgreSQL.
func (d *DB) Waiting() (int64, error) {
	st, err := os.Stat(d.path + "-wal")
	if d.dialect != sqliteDialect || errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// apart runs fn on a connection of its own: these statements are no transaction
// of the writer's.
func (d *DB) apart(ctx context.Context, fn func(*sql.Conn) error) error {
	if d.dialect != sqliteDialect {
		return nil
	}
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: d.path}).EscapedPath()+"?_pragma=busy_timeout(10000)&_pragma=secure_delete(1)")
	if err != nil {
		return err
	}
	defer pool.Close()
	c, err := pool.Conn(ctx)
	if err != nil {
		return d.Explain(err)
	}
	defer c.Close()
	return d.Explain(fn(c))
}

// each runs a statement that does a part of its work for each row it answers.
func each(ctx context.Context, c *sql.Conn, query string) error {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// emptyWAL moves what is in the WAL into the file. Whoever reads an older state
// keeps it there; it is tried again for some seconds.
func emptyWAL(ctx context.Context, c *sql.Conn) error {
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var busy, pages, moved int
		err := c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
		if err != nil || busy == 0 || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}
