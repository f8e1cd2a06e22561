package db

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/fault"
)

// Fence keeps a server that was taken for dead from writing.
type Fence struct {
	Live string // a query without placeholders that finds one row while the server may write
	Lost func() // called once, when the query found none
}

// ErrFenced is the answer to every write of a server that another one took over from.
var ErrFenced = fault.New(fault.Unavailable, "db", "another server took over the database, and this one ends; nothing was changed").
	WithNext("see which one: tandem logs --level error")

// fence is where a database keeps its Fence; it is empty for whoever needs none.
type fence struct {
	set  atomic.Pointer[Fence]
	lost sync.Once
	told atomic.Pointer[chan struct{}] // closed when Lost has returned
}

// Fence has writes from now on look whether they may be made. On SQLite each transaction looks, with the lock of the file in its hand.
// On PostgreSQL a connection looks, and whoever takes over cuts the others: see CutOff.
func (d *DB) Fence(f Fence) { d.fence.set.Store(&f) }

// refuse tells once that the fence was closed.
func (f *fence) refuse(set *Fence) error {
	f.lost.Do(func() {
		if set.Lost != nil {
			told := make(chan struct{})
			f.told.Store(&told)
			go func() { // a write waits for its answer, and who hears of it may want to read
				defer close(told)
				set.Lost()
			}()
		}
	})
	return ErrFenced
}

// FenceTold waits, where a write met the closed fence, until Lost has returned.
func (d *DB) FenceTold() {
	if told := d.fence.told.Load(); told != nil {
		<-*told
	}
}

// Link is the name that PostgreSQL knows the connections of this process by; "" on SQLite.
func (d *DB) Link() string { return d.link }

// patience is how long CutOff waits for connections that it ended to be gone.
const patience = 10 * time.Second

// CutOff ends the connections of a server whose Live query finds nothing any more, and returns when they are gone: what it had under
// way is undone or done by then, and a connection that it opens later looks first. On SQLite it has nothing to end.
func (d *DB) CutOff(ctx context.Context, link string) error {
	if d.dialect != postgresDialect || link == "" || link == d.link {
		return nil
	}
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var left int
		err := d.QueryRow(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "+
			"WHERE application_name = ? AND datname = current_database() AND pid <> pg_backend_pid()", link).Scan(&left)
		if err == nil && left == 0 {
			return nil
		}
		if err != nil && !denied(err) {
			return d.Explain(err)
		}
		if time.Now().After(until) {
			return fault.New(fault.Unavailable, "db", "connections of the server before this one are still open in PostgreSQL").
				WithNext("end them (SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '%s'), then start again", link)
		}
	}
}
