package db

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// exam runs one test of the contract on every database that claims to keep it.
func exam(t *testing.T, test func(t *testing.T, d *DB)) {
	t.Run("sqlite", func(t *testing.T) { test(t, open(t, filepath.Join(t.TempDir(), "a.db"))) })
	t.Run("postgres", func(t *testing.T) { test(t, open(t, testenv.Postgres(t))) })
	t.Run("pgbouncer", func(t *testing.T) { test(t, open(t, testenv.PgBouncer(t, testenv.Postgres(t), "transaction"))) })
}

// open makes a database with one small table.
func open(t *testing.T, dsn string) *DB {
	t.Helper()
	d, err := Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations{"thing", fstest.MapFS{"schema/0001_thing.sql": {Data: []byte(
		"CREATE TABLE thing (key TEXT PRIMARY KEY, n BIGINT NOT NULL, body BLOB);\nCREATE INDEX thing_n ON thing (n);\n")}}}); err != nil {
		t.Fatal(err)
	}
	return d
}

func count(t *testing.T, d *DB) (n int) {
	t.Helper()
	if err := d.QueryRow(t.Context(), "SELECT count(*) FROM thing").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func insert(ctx context.Context, d *DB, key string) error {
	return d.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO thing (key, n, body) VALUES (?, ?, ?)", key, 1, []byte("x"))
		return err
	})
}

func TestOneFailureTakesNobodyWithIt(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		boom := errors.New("boom")
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				err := d.Write(t.Context(), func(tx *Tx) error {
					if _, err := tx.Exec("INSERT INTO thing (key, n) VALUES (?, ?)", fmt.Sprint(i), i); err != nil {
						return err
					}
					switch i % 4 {
					case 1:
						return boom
					case 2:
						panic("ouch")
					}
					return nil
				})
				if bad := i%4 == 1 || i%4 == 2; bad != (err != nil) {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if n := count(t, d); n != 100 {
			t.Fatalf("%d rows, want the 100 that succeeded", n)
		}
	})
}

func TestAfterCommitRunsOnlyAfterCommit(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		ran := 0
		after := func(fail error) func(*Tx) error {
			return func(tx *Tx) error { tx.AfterCommit(func() { ran++ }); return fail }
		}
		if err := d.Write(t.Context(), after(nil)); err != nil || ran != 1 {
			t.Fatalf("err %v, ran %d", err, ran)
		}
		if err := d.Write(t.Context(), after(errors.New("no"))); err == nil || ran != 1 {
			t.Fatalf("err %v, ran %d after a failure", err, ran)
		}
	})
}

func TestExistsAndFaultsPassThrough(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		if err := insert(t.Context(), d, "a"); err != nil {
			t.Fatal(err)
		}
		if err := insert(t.Context(), d, "a"); !Exists(err) {
			t.Errorf("second insert: %v, want Exists", err)
		}
		err := d.Write(t.Context(), func(*Tx) error { return fault.New(fault.Conflict, "x", "taken") })
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("kind of %v is %v", err, fault.KindOf(err))
		}
	})
}

func TestCancelledBeforeItBeginsChangesNothing(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := insert(ctx, d, "a"); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("err = %v", err)
		}
		if n := count(t, d); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

func TestMigrationsAreNeverEditedNorTakenBack(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		edited := Migrations{"thing", fstest.MapFS{"schema/0001_thing.sql": {Data: []byte("CREATE TABLE other (key TEXT);\n")}}}
		if _, err := d.Migrate(t.Context(), edited); err == nil || !strings.Contains(err.Error(), "edited after it ran") {
			t.Errorf("edited migration: %v", err)
		}
		older := Migrations{"thing", fstest.MapFS{}}
		if _, err := d.Migrate(t.Context(), older); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "newer tandem") {
			t.Errorf("older program: %v", err)
		}
	})
}

func TestClosedDatabaseSaysSo(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		d.Close()
		if err := insert(t.Context(), d, "a"); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("err = %v", err)
		}
	})
}

func TestValuesComeBackAsTheyWent(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		var stamp time.Time
		if err := d.Write(t.Context(), func(tx *Tx) error {
			stamp = tx.Now()
			_, err := tx.Exec("INSERT INTO thing (key, n, body) VALUES (?, ?, ?), (?, ?, ?), (?, ?, ?)",
				"time", tx.Now(), []byte{0, 1, 0xff}, "yes", true, nil, "never", time.Time{}, []byte{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		var body []byte
		err := d.Read(t.Context(), func(tx *Tx) error {
			rows, err := tx.Query("SELECT key, n FROM thing")
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var k string
				var n int64
				if err := rows.Scan(&k, &n); err != nil {
					return err
				}
				got[k] = n
			}
			if err := rows.Err(); err != nil {
				return err
			}
			return tx.QueryRow("SELECT body FROM thing WHERE key = ?", "time").Scan(&body)
		})
		if err != nil || !Time(got["time"]).Equal(stamp) || got["yes"] != 1 || !Time(got["never"]).IsZero() || string(body) != "\x00\x01\xff" {
			t.Errorf("%v, %q (%v)", got, body, err)
		}
	})
}

func TestLockedRowsLoseNoUpdate(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		if err := insert(t.Context(), d, "counter"); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if err := d.Write(t.Context(), func(tx *Tx) error {
					var n int64
					if err := tx.QueryRow("SELECT n FROM thing WHERE key = ?"+tx.ForUpdate(), "counter").Scan(&n); err != nil {
						return err
					}
					_, err := tx.Exec("UPDATE thing SET n = ? WHERE key = ?", n+1, "counter")
					return err
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var n int64
		if err := d.QueryRow(t.Context(), "SELECT n FROM thing WHERE key = ?", "counter").Scan(&n); err != nil || n != 101 {
			t.Errorf("counter is %d (%v)", n, err)
		}
	})
}

func TestACutConnectionIsNamedAndMended(t *testing.T) {
	dsn := testenv.Postgres(t)
	d := open(t, dsn)
	err := d.Write(t.Context(), func(tx *Tx) error {
		if _, err := tx.Exec("INSERT INTO thing (key, n) VALUES (?, ?)", "lost", 1); err != nil {
			return err
		}
		testenv.CutPostgres(t, dsn)
		_, err := tx.Exec("INSERT INTO thing (key, n) VALUES (?, ?)", "lost too", 1)
		return err
	})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a cut connection is %v (%v)", fault.KindOf(err), err)
	}
	if err := insert(t.Context(), d, "kept"); err != nil {
		t.Errorf("the next write: %v", err)
	}
	if n := count(t, d); n != 1 {
		t.Errorf("%d rows, want the one that was acknowledged", n)
	}
}

// Connections that PostgreSQL closed while they lay idle are nobody's failure.
func TestIdleConnectionsThatWereCut(t *testing.T) {
	dsn := testenv.Postgres(t)
	d := open(t, dsn)
	for range 20 {
		var wg sync.WaitGroup
		var inside sync.WaitGroup
		inside.Add(idle)
		for range idle { // at the same time, so that as many lie idle afterwards
			enter := sync.OnceFunc(inside.Done)
			wg.Go(func() {
				if err := d.Read(t.Context(), func(tx *Tx) error { enter(); inside.Wait(); return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		testenv.CutPostgres(t, dsn)
		if err := d.Read(t.Context(), func(*Tx) error { return nil }); err != nil {
			t.Fatalf("a read: %v", err)
		}
		if err := d.Write(t.Context(), func(*Tx) error { return nil }); err != nil {
			t.Fatalf("a write: %v", err)
		}
	}
}

func TestRebind(t *testing.T) {
	got := rebind(postgresDialect, "UPDATE a SET b = ?, c = '?' WHERE d = ?")
	if want := "UPDATE a SET b = $1, c = '?' WHERE d = $2"; got != want {
		t.Errorf("rebind = %s", got)
	}
}
