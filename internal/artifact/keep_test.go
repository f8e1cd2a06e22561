package artifact

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"tandem/internal/artifact/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// shelf is the room alone, on a database.
type shelf struct {
	t *testing.T
	*Room
	open map[string]bool // runs that are not over
	told atomic.Int64
}

func newShelf(t *testing.T, at string) *shelf {
	t.Helper()
	d, err := db.Open(t.Context(), at, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	s := &shelf{t: t, open: map[string]bool{}}
	s.Room = &Room{DB: d, Days: func() int { return 0 }, Open: func(_ *db.Tx, _, run string) (bool, error) { return s.open[run], nil },
		Told: func(*db.Tx, string, wire.RemoveIn, int, string) error { s.told.Add(1); return nil }}
	return s
}

func (s *shelf) kept(run, text string) (a *wire.Artifact, err error) {
	c := op.Caller{Tenant: "t", Name: "automation.weekly", Kind: op.Service, Door: op.DoorInside}
	ctx := op.WithCaller(context.Background(), c)
	return a, s.DB.Write(ctx, func(tx *db.Tx) error {
		a, err = s.keep(ctx, tx, wire.KeepIn{Automation: "weekly", Node: "write", Output: "brief", Run: run, Kind: "markdown",
			Data: []byte(text)})
		return err
	})
}

func (s *shelf) gone(version int) error {
	ctx := op.WithCaller(context.Background(), op.Caller{Tenant: "t", Name: "ben", Kind: op.Person})
	return s.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := s.remove(ctx, tx, wire.RemoveIn{Name: "weekly.write.brief", Version: version})
		return err
	})
}

func each(t *testing.T, test func(*shelf)) {
	t.Run("sqlite", func(t *testing.T) { test(newShelf(t, filepath.Join(t.TempDir(), "t.db"))) })
	t.Run("postgres", func(t *testing.T) { test(newShelf(t, testenv.Postgres(t))) })
}

// A number is used once, also when what had it is removed. What an open run made is not removed, and of the rest somebody is told.
func TestNumbersAreUsedOnce(t *testing.T) {
	each(t, func(s *shelf) {
		for want := 1; want <= 3; want++ {
			a, err := s.kept("run_1", "text")
			if err != nil || a.Version != want {
				s.t.Fatalf("version %d: %+v %v", want, a, err)
			}
			if want == 1 {
				s.open["run_1"] = true
				if err := s.gone(0); !fault.Is(err, fault.Conflict) || s.told.Load() != 0 {
					s.t.Errorf("what an open run made was removed: %v", err)
				}
			}
			s.open["run_1"] = false
			if err := s.gone(0); err != nil || s.told.Load() != int64(want) {
				s.t.Errorf("it was not removed, or not told: %v", err)
			}
		}
	})
}

// Runs that make the same at once each get a version, and its bytes, while others remove theirs.
func TestVersionsMadeAtOnce(t *testing.T) {
	each(t, func(s *shelf) {
		const n = 8
		var all sync.WaitGroup
		var mu sync.Mutex
		var numbers []int
		for i := range n {
			all.Go(func() {
				for round := range 5 {
					a, err := s.kept("run", fmt.Sprint("round ", round))
					if err == nil && i%2 == 1 {
						err = s.gone(a.Version)
					}
					mu.Lock()
					if err != nil {
						s.t.Errorf("%d, round %d: %v", i, round, err)
					} else {
						numbers = append(numbers, a.Version)
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		slices.Sort(numbers)
		if len(slices.Compact(numbers)) != 5*n {
			s.t.Errorf("the versions are %v", numbers)
		}
		var bare int
		if err := s.DB.QueryRow(s.t.Context(), "SELECT count(*) FROM artifact a WHERE NOT EXISTS (SELECT 1 FROM artifact_body b "+
			"WHERE b.tenant = a.tenant AND b.digest = a.digest)").Scan(&bare); err != nil || bare > 0 {
			s.t.Errorf("%d have no bytes: %v", bare, err)
		}
	})
}

// Who writes to the database puts other bytes in the place of those that were checked and that a person looked at: they are shown nobody.
func TestBytesAreThoseOfTheirDigest(t *testing.T) {
	s := newShelf(t, filepath.Join(t.TempDir(), "t.db"))
	a, err := s.kept("run_1", "what was checked")
	if err != nil {
		t.Fatal(err)
	}
	ctx := op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ben", Kind: op.Person})
	read := func() (error, error, error) {
		_, show := s.show(ctx, wire.OneIn{Name: a.Name})
		_, get := s.get(ctx, wire.OneIn{Name: a.Name})
		_, _, text := s.Text(ctx, "t", "weekly", a.ID)
		return show, get, text
	}
	if show, get, text := read(); show != nil || get != nil || text != nil {
		t.Fatal(show, get, text)
	}
	if err := s.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE artifact_body SET body = ?", []byte("something else"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if show, get, text := read(); !fault.Is(show, fault.Denied) || !fault.Is(get, fault.Denied) || !fault.Is(text, fault.Denied) {
		t.Error(show, get, text)
	}
}
