package db

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// A large read asks a read-only replica, and only one that has everything that was written before: whatever the replica does, nobody misses
// a row.
func TestALargeReadAsksAReplica(t *testing.T) {
	p := testenv.NewCluster(t)
	d, err := Open(t.Context(), p.Address(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tables := fstest.MapFS{"schema/0001_x.sql": {Data: []byte("CREATE TABLE x (n BIGINT NOT NULL)")}}
	if _, err := d.Migrate(t.Context(), Migrations{Room: "x", FS: tables}); err != nil {
		t.Fatal(err)
	}
	anybody := func(*DB) error { return nil }
	if err := d.Follow(t.Context(), p.Address(), p.Dir, anybody); !fault.Is(err, fault.Invalid) {
		t.Errorf("the database as its own replica: %v", err)
	}
	far := p.Standby()
	another := errors.New("another installation's")
	if err := d.Follow(t.Context(), p.Address(), far.Dir, func(*DB) error { return another }); !errors.Is(err, another) || d.replica != nil {
		t.Errorf("what is not ours: %v", err)
	}
	if err := d.Follow(t.Context(), p.Address(), far.Dir, anybody); err != nil {
		t.Fatal(err)
	}
	rows, asked := 0, 0
	look := func() {
		t.Helper()
		if err := d.Write(t.Context(), func(tx *Tx) error { _, err := tx.Exec("INSERT INTO x (n) VALUES (1)"); return err }); err != nil {
			t.Fatal(err)
		}
		rows++
		var n int
		var replica bool
		err := d.Wide(t.Context(), func(from *DB) error {
			return from.QueryRow(t.Context(), "SELECT count(*), pg_is_in_recovery() FROM x").Scan(&n, &replica)
		})
		if err != nil || n != rows {
			t.Fatalf("%d rows of %d, %v", n, rows, err)
		}
		if replica {
			asked++
		}
	}
	testenv.Eventually(t, "the replica is asked", time.Minute, func() bool { d.replica.rests.Store(0); look(); return asked > 0 })
	for range 20 {
		look()
	}
	if err := d.replica.Write(t.Context(), func(*Tx) error { return nil }); err == nil {
		t.Error("a replica takes changes")
	}
	tried := 0
	err = d.Wide(t.Context(), func(from *DB) error {
		if tried++; from != d {
			return errors.New("canceling statement due to conflict with recovery")
		}
		return nil
	})
	if err != nil || asked > 0 && tried == 0 {
		t.Errorf("what a replica gives up: %v after %d tries", err, tried)
	}
	d.replica.rests.Store(0)
	far.SQL("SELECT pg_wal_replay_pause()")
	testenv.Eventually(t, "the replica stands still", time.Minute, func() bool {
		var state string
		err := d.replica.QueryRow(context.Background(), "SELECT pg_get_wal_replay_pause_state()").Scan(&state)
		return err == nil && state == "paused"
	})
	before := asked
	look()
	far.Stop()
	d.replica.rests.Store(0)
	look()
	if asked != before {
		t.Error("a replica that stands still was asked")
	}
}
