package journal

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// Who follows one type does not look at, or wake for, the others again and
// again.
func TestNextTellsHowFarItLooked(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		for _, typ := range []string{"a.done", "b.done", "a.done", "b.done", "b.done"} {
			add(t, d, j, Event{Type: typ})
		}
		for _, c := range []struct {
			after int64
			limit int
			typ   string
			found int
			at    int64
		}{{0, 10, "a.*", 2, 5}, {0, 1, "a.*", 1, 1}, {1, 1, "a.*", 1, 3}, {3, 1, "a.*", 0, 5}, {0, 10, "c.*", 0, 5}, {5, 10, "", 0, 5},
			{9, 10, "", 0, 9}} {
			page, at, err := j.Next(t.Context(), "ten_a", c.after, c.limit, Filter{Type: c.typ})
			if err != nil || len(page) != c.found || at != c.at {
				t.Errorf("behind %d, %q: %d entries up to %d, %v; want %d up to %d", c.after, c.typ, len(page), at, err, c.found, c.at)
			}
		}
	})
}

// A type that is rare in a long journal is found piece by piece: no call passes
// more than so many entries by, and each says where to go on.
func TestALongLogIsReadInPieces(t *testing.T) {
	was := passes
	passes = 4
	defer func() { passes = was }()
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		ctx := op.WithMay(op.WithCaller(t.Context(), op.Caller{Tenant: "ten_a", Actor: "act_1", Kind: op.Person}),
			func(string, op.Resource) bool { return true })
		for i := range 15 {
			typ := "often.done"
			if i == 2 || i == 13 {
				typ = "rare.done"
			}
			add(t, d, j, Event{Type: typ, Actor: typ})
		}
		for _, newest := range []bool{false, true} {
			var found []int64
			calls := 0
			for in := (LogIn{Type: "rare.done", Newest: newest}); ; calls++ {
				out, err := j.log(ctx, in)
				if err != nil || calls > 10 {
					t.Fatalf("call %d: %v", calls, err)
				}
				for _, e := range out.Entries {
					found = append(found, e.Seq)
				}
				if !out.More {
					break
				}
				if in.After = out.At; newest {
					in.After, in.Before = 0, out.At
				}
			}
			if want := [2]int64{3, 14}; len(found) != 2 || !newest && [2]int64(found) != want || newest && [2]int64{found[1], found[0]} != want ||
				calls != 3 {
				t.Errorf("newest %t: %v after %d more calls", newest, found, calls)
			}
		}
		if out, err := j.log(ctx, LogIn{Actor: "rare.done", Newest: true}); err != nil || seqs(out) != "[14 3]" || out.More {
			t.Errorf("an actor is in an index: %s, more %t, %v", seqs(out), out.More, err)
		}
	})
}

// One of all who wait asks a shared database. Whoever waits for what is far away asks for those who wait for the next.
func TestAFarReaderHidesNothing(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		add(t, d, New(d, j.pair.key), Event{}) // another server's
		waits, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- j.Wait(waits, 1<<60) }()
		cancelled, cancel := context.WithCancel(t.Context())
		cancel() // so that only what is known already is told
		testenv.Eventually(t, "what the far reader found is told to the others", 30*time.Second, func() bool {
			return j.Wait(cancelled, 0) == nil
		})
		stop()
		if err := <-ended; err == nil {
			t.Error("the far reader was told of an event that is not there")
		}
	})
}

// Signing goes on after the database was away.
func TestRunOutlivesFailures(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := Key(filepath.Join(t.TempDir(), "journal.key"))
	if err != nil {
		t.Fatal(err)
	}
	j := New(d, key)
	d.Close() // every question fails from here on
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var failures atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		j.Run(ctx, time.Millisecond, func(error) {
			if failures.Add(1) == 5 {
				cancel()
			}
		})
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it does not end with its context")
	}
	if n := failures.Load(); n < 5 {
		t.Errorf("it gave up after %d failures", n)
	}
}

// A name that has to be mended is mended in the event, not in the caller.
func TestMendingLeavesTheCallerAlone(t *testing.T) {
	chain := []string{"person:a", "person:\x00"}
	e := Event{Tenant: "t", Type: "a.b", For: chain}
	if err := e.check(); err != nil || e.For[1] != "person:\uFFFD" || chain[1] != "person:\x00" {
		t.Errorf("%q, %q, %v", e.For, chain, err)
	}
}
