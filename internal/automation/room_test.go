package automation

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// A change for whose run the whole house has no room stays to be dealt with. One that is not what was seen is not dealt with at all.
func TestAChangeWaitsForTheHouse(t *testing.T) {
	h := newHouse(t)
	h.switchOn(fmt.Sprintf(watches, 10, "bookmark = \"main\"\nrepo = \"app\"", marks))
	h.looked()
	at := "aaaa"
	h.bookmark.Store(&at)
	h.Noticed()
	testenv.Eventually(t, "a run", testPatience, func() bool { return h.ran() == 1 })
	h.cancel()
	<-h.ended
	change := func(state string) wire.TickOut {
		out, err := op.Do(op.WithCaller(t.Context(), h.self("all")), h.gate, wire.Changed,
			wire.ChangedIn{Name: "all", Trigger: "in", Sum: sumOf(state)})
		h.must(err)
		return out
	}
	stands := func(want string) {
		t.Helper()
		var seen string
		h.must(h.DB.QueryRow(t.Context(), "SELECT seen FROM automation_trigger").Scan(&seen))
		if seen != want {
			t.Errorf("it stood at %q, want %q", seen, want)
		}
	}
	if out := change("bbbb"); len(out.Runs) != 0 { // nothing is written ahead
		t.Errorf("it was switched on anew meanwhile, and a run began: %+v", out)
	}
	stands("aaaa")
	h.must(h.write("UPDATE automation_trigger SET ahead = 'bbbb'"))
	h.fill("other", "somebody", maxOpen, 0)
	if out := change("bbbb"); out.Skipped != 1 || len(out.Runs) != 0 {
		t.Errorf("there is no room: %+v", out)
	}
	stands("aaaa")
	h.must(h.write("DELETE FROM automation_run WHERE name = 'other'"))
	if out := change("bbbb"); len(out.Runs) != 1 {
		t.Errorf("there is room again: %+v", out)
	}
	stands("bbbb")
}

// However often a folder is heard, it is not gone through more than ten times a second. A run that has no place writes no journal.
func TestARestlessFolderIsWatchedInRest(t *testing.T) {
	dir := real(t)
	h := newHouse(t)
	h.switchOn(fmt.Sprintf(watches, 1, fmt.Sprintf("files = \"*\"\nfolder = %q\nquiet = \"100ms\"", dir), "[node.wait]\nfor = \"6h\""))
	h.looked()
	put(t, filepath.Join(dir, "a"), "1")
	testenv.Eventually(t, "a run", testPatience, func() bool { return h.ran() == 1 })
	h.cancel()
	<-h.ended
	var gone atomic.Int64
	h.Ours = func() bool { gone.Add(1); return true }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { h.watchAll(ctx); close(ended) }()
	put(t, filepath.Join(dir, "b"), "1")
	entries := func() (n int) {
		h.must(h.DB.QueryRow(t.Context(), "SELECT count(*) FROM journal_event").Scan(&n))
		return n
	}
	before := entries()
	began := time.Now()
	testenv.Eventually(t, "a row that says why", testPatience, func() bool {
		for range 1000 {
			h.stirFolder(dir)
		}
		var n int
		h.must(h.DB.QueryRow(t.Context(), "SELECT count(*) FROM automation_tick WHERE why LIKE '%it begins when one has ended%'").Scan(&n))
		return n == 1 && time.Since(began) > time.Second
	})
	cancel()
	<-ended
	if n, most := gone.Load(), int64(time.Since(began)/rounds)+5; n > most {
		t.Errorf("it was gone through %d times in %s", n, time.Since(began))
	}
	if n := entries(); n != before {
		t.Errorf("that it waits is %d entries of the journal", n-before)
	}
}
