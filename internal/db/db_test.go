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

	"tandem/internal/fault"
)

func open(t *testing.T) *DB {
	t.Helper()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
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
	d := open(t)
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
}

func TestAfterCommitRunsOnlyAfterCommit(t *testing.T) {
	d := open(t)
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
}

func TestExistsAndFaultsPassThrough(t *testing.T) {
	d := open(t)
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
}

func TestCancelledBeforeItBeginsChangesNothing(t *testing.T) {
	d := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := insert(ctx, d, "a"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("err = %v", err)
	}
	if n := count(t, d); n != 0 {
		t.Errorf("%d rows", n)
	}
}

func TestMigrationsAreNeverEditedNorTakenBack(t *testing.T) {
	d := open(t)
	edited := Migrations{"thing", fstest.MapFS{"schema/0001_thing.sql": {Data: []byte("CREATE TABLE other (key TEXT);\n")}}}
	if _, err := d.Migrate(t.Context(), edited); err == nil || !strings.Contains(err.Error(), "edited after it ran") {
		t.Errorf("edited migration: %v", err)
	}
	older := Migrations{"thing", fstest.MapFS{}}
	if _, err := d.Migrate(t.Context(), older); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "newer tandem") {
		t.Errorf("older program: %v", err)
	}
}

func TestClosedDatabaseSaysSo(t *testing.T) {
	d := open(t)
	d.Close()
	if err := insert(t.Context(), d, "a"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("err = %v", err)
	}
}

func TestRebind(t *testing.T) {
	got := rebind(postgresDialect, "UPDATE a SET b = ?, c = '?' WHERE d = ?")
	if want := "UPDATE a SET b = $1, c = '?' WHERE d = $2"; got != want {
		t.Errorf("rebind = %s", got)
	}
}
