package db

import (
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// fencedPair is a server with its fence, and another one on the same database.
func fencedPair(t *testing.T, dsn string) (a, b *DB, lost *atomic.Int64) {
	t.Helper()
	a, b, lost = open(t, dsn), open(t, dsn), new(atomic.Int64)
	if err := insert(t.Context(), b, "live"); err != nil {
		t.Fatal(err)
	}
	a.Fence(Fence{Live: "SELECT 1 FROM thing WHERE key = 'live'", Lost: func() { lost.Add(1) }})
	if err := insert(t.Context(), a, "early"); err != nil {
		t.Fatal(err)
	}
	return a, b, lost
}

func takeOver(t *testing.T, b *DB) {
	t.Helper()
	if err := b.Write(t.Context(), func(tx *Tx) error { _, err := tx.Exec("DELETE FROM thing WHERE key = 'live'"); return err }); err != nil {
		t.Fatal(err)
	}
}

// A server that was taken for dead had only slept: what it writes afterwards is refused, and it is told once.
func TestAFenceRefusesEveryLaterWrite(t *testing.T) {
	for name, dsn := range map[string]func(*testing.T) string{
		"sqlite":    func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") },
		"postgres":  func(t *testing.T) string { return testenv.Postgres(t) },
		"pgbouncer": func(t *testing.T) string { return testenv.PgBouncer(t, testenv.Postgres(t), "transaction") },
	} {
		t.Run(name, func(t *testing.T) {
			a, b, lost := fencedPair(t, dsn(t))
			takeOver(t, b)
			if err := b.CutOff(t.Context(), a.Link()); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := insert(t.Context(), a, "late"); !errors.Is(err, ErrFenced) {
					t.Errorf("a late write: %v", err)
				}
			}
			if n := count(t, a); n != 1 {
				t.Errorf("%d rows, want the one from before", n)
			}
			testenv.Eventually(t, "the server hears of it", time.Minute, func() bool { return lost.Load() == 1 })
			if err := insert(t.Context(), b, "other"); err != nil {
				t.Errorf("the one that took over: %v", err)
			}
		})
	}
}

// It slept in the middle of a change: that is cut off, and does not come later.
func TestWhatWasUnderWayIsCutOff(t *testing.T) {
	dsn := testenv.Postgres(t)
	a, b, _ := fencedPair(t, dsn)
	asleep, wake, outcome := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		outcome <- a.Write(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec("INSERT INTO thing (key, n) VALUES ('under way', 1)")
			if first {
				first = false
				close(asleep)
				<-wake
			}
			return err
		})
	}()
	<-asleep
	takeOver(t, b)
	if err := b.CutOff(t.Context(), a.Link()); err != nil {
		t.Fatal(err)
	}
	close(wake)
	if err := <-outcome; err == nil {
		t.Error("the change was acknowledged")
	}
	if n := count(t, b); n != 1 {
		t.Errorf("%d rows, want the one from before", n)
	}
}

// Who ends when a write was refused can wait until it is known who took over.
func TestWhoEndsHearsOfTheFenceFirst(t *testing.T) {
	a := open(t, filepath.Join(t.TempDir(), "a.db"))
	let, heard := make(chan struct{}), false
	a.FenceTold() // nobody was refused yet
	a.Fence(Fence{Live: "SELECT 1 FROM thing WHERE key = 'live'", Lost: func() { <-let; heard = true }})
	if err := insert(t.Context(), a, "late"); !errors.Is(err, ErrFenced) {
		t.Fatal(err)
	}
	close(let)
	if a.FenceTold(); !heard {
		t.Error("it ended before it was told")
	}
}
