package db

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// Whoever waits while another's transaction runs joins the same sync, and one
// that gave up before it began leaves nothing behind.
func TestThoseWhoWaitShareASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, filepath.Join(t.TempDir(), "a.db"))
		inside, release := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			d.Write(t.Context(), func(*Tx) error { close(inside); <-release; return nil })
		})
		<-inside
		gone, giveUp := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			left <- d.Write(gone, func(*Tx) error { t.Error("ran after it was cancelled"); return nil })
		}()
		for range 20 {
			wg.Go(func() {
				if err := insert(t.Context(), d, fault.Internal.String()+time.Now().String()); err != nil && !Exists(err) {
					t.Error(err)
				}
			})
		}
		synctest.Wait() // until they queue
		giveUp()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the one who gave up: %v", err)
		}
		close(release)
		wg.Wait()
	})
}

// A failure that makes SQLite give a whole batch up (a full disk does) is every
// transaction's of the batch, and who comes behind is told the truth, too.
func TestABatchThatIsGivenUp(t *testing.T) {
	pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w := &writer{fence: new(fence), conn: &stmtConn{Conn: conn, stmts: map[string]*sql.Stmt{}}, clock: &clock{wall: time.Now}}
	for _, query := range []string{"CREATE TABLE thing (key TEXT PRIMARY KEY)", "INSERT INTO thing VALUES ('there')"} {
		if err := w.conn.exec(query); err != nil {
			t.Fatal(err)
		}
	}
	inside, release := make(chan struct{}), make(chan struct{})
	told := map[string]chan error{}
	start := func(key, query string, first func()) {
		told[key] = make(chan error, 1)
		go func() {
			told[key] <- w.submit(t.Context(), func(tx *Tx) error {
				first()
				_, err := tx.Exec(query, key)
				return err
			})
		}()
	}
	const plain = "INSERT INTO thing VALUES (?)"
	start("leader", plain, func() { close(inside); <-release })
	<-inside
	for i, next := range []struct{ key, query string }{{"there", "INSERT OR ROLLBACK INTO thing VALUES (?)"}, {"behind", plain},
		{"last", plain}} {
		start(next.key, next.query, func() {})
		testenv.Eventually(t, next.key+" queues", time.Minute, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.queue) > i })
	}
	close(release)
	answers := map[string]error{}
	for key, done := range told {
		answers[key] = <-done
	}
	for key, err := range answers {
		var n int
		if scan := w.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM thing WHERE key = ?", key).Scan(&n); scan != nil {
			t.Fatal(scan)
		}
		if want := map[string]int{"there": 1, "leader": 0, "behind": 1, "last": 1}[key]; n != want ||
			(err == nil) != (key == "behind" || key == "last") {
			t.Errorf("%s was told %v, and %d of it are there", key, err, n)
		}
	}
	if err := answers["leader"]; Exists(err) || !fault.Is(err, fault.Unavailable) {
		t.Errorf("the leader was told what is another's: %v", err)
	}
	if err := w.conn.exec("PRAGMA max_page_count = 4"); err != nil {
		t.Fatal(err)
	}
	full := w.conn.exec("INSERT INTO thing VALUES (zeroblob(100000))")
	others := givenUp(errors.Join(fault.New(fault.Invalid, "note", "ann's word: %w", full), errors.New("no such savepoint")))
	if text := others.Error(); !strings.Contains(text, "disk") || strings.Contains(text, "ann") {
		t.Errorf("when the disk is full the others are told: %v", others)
	}
}

// Closing waits for everybody who was let in and refuses the rest.
func TestCloseUnderLoad(t *testing.T) {
	for range 20 {
		d := open(t, filepath.Join(t.TempDir(), "a.db"))
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				err := insert(t.Context(), d, string(rune('a'+i)))
				if err != nil && fault.KindOf(err) != fault.Unavailable {
					t.Error(err)
				}
			})
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}

// What panics after a commit stops nobody: the change is there, its caller is answered, the next one writes, and somebody is told.
// On SQLite it used to stop the only writer for ever.
func TestAPanicAfterACommitStopsNobody(t *testing.T) {
	for name, dsn := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "a.db"), "postgres": testenv.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			d := open(t, dsn)
			defer d.Close()
			var told error
			d.Told = func(err error) { told = err }
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			ran := false
			if err := d.Write(ctx, func(tx *Tx) error {
				tx.AfterCommit(func() { panic("a hook that is broken") })
				tx.AfterCommit(func() { ran = true })
				return nil
			}); err != nil || !ran || told == nil || !strings.Contains(told.Error(), "a hook that is broken") {
				t.Errorf("told %v, the next hook ran: %v, and the caller %v", told, ran, err)
			}
			if err := insert(ctx, d, "next"); err != nil {
				t.Error(err)
			}
		})
	}
}
