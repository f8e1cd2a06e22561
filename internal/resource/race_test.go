package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/resource/wire"
	"tandem/internal/testenv"
)

// A lock is a key that is put with if_absent: of all who come at once, one
// takes it, on both databases.
func TestOneTakesAnAbsentKey(t *testing.T) {
	for name, dsn := range map[string]func() string{
		"sqlite":   func() string { return filepath.Join(t.TempDir(), "a.db") },
		"postgres": func() string { return testenv.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			d, err := db.Open(t.Context(), dsn(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			if _, err := d.Migrate(t.Context(), Migrations); err != nil {
				t.Fatal(err)
			}
			room := New(d)
			const keys, takers = 20, 6
			var taken [keys]atomic.Int64
			var all sync.WaitGroup
			for i := range keys {
				for who := range takers {
					all.Go(func() {
						ctx := op.WithCaller(context.Background(), op.Caller{Tenant: "t", Actor: "a", Name: fmt.Sprint("taker", who)})
						err := d.Write(ctx, func(tx *db.Tx) error {
							_, err := room.put(ctx, tx, wire.PutIn{Key: fmt.Sprint("lock/", i), Value: json.RawMessage("1"), IfAbsent: true, Own: true})
							return err
						})
						switch {
						case err == nil:
							taken[i].Add(1)
						case !fault.Is(err, fault.Conflict):
							t.Errorf("lock %d: %v", i, err)
						}
					})
				}
			}
			all.Wait()
			for i := range taken {
				if n := taken[i].Load(); n != 1 {
					t.Errorf("lock %d was taken by %d", i, n)
				}
			}
		})
	}
}

// A time to live that would overflow is refused and not taken for a short one.
func TestAnEndlessTimeToLiveIsRefused(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := New(d).put(t.Context(), tx, wire.PutIn{Key: "a", Value: json.RawMessage("1"), TTL: 18446744073710}) // 2^64 ns and a little
		return err
	})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("err = %v", err)
	}
}
