package crowd

import (
	"fmt"
	"testing"
	"time"
)

func TestARateLetsABurstThroughAndThenOneEachWhile(t *testing.T) {
	r := &Rate{Most: 3, Each: time.Second, Sources: 10}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 3 {
		if r.Spent("a", now) || !r.Take("a", now) {
			t.Fatalf("the %d. of a burst is turned away", i+1)
		}
	}
	if !r.Spent("a", now) || r.Take("a", now) {
		t.Error("the fourth of three is let through")
	}
	if !r.Take("b", now) {
		t.Error("another source is turned away for it")
	}
	for _, later := range []struct {
		by   time.Duration
		want int
	}{{time.Second, 1}, {time.Hour, 3}} {
		now = now.Add(later.by)
		got := 0
		for range 5 {
			if r.Take("a", now) {
				got++
			}
		}
		if got != later.want {
			t.Errorf("%s later %d of five are let through, want %d", later.by, got, later.want)
		}
	}
}

// However many knock, whoever comes from elsewhere is let through to ask.
func TestManySourcesShutNobodyOut(t *testing.T) {
	r := &Rate{Most: 1, Each: time.Second, Sources: 10}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 100 {
		if !r.Take(fmt.Sprint(i), now) {
			t.Fatalf("source %d is turned away for what others did", i)
		}
		if len(r.free) > 10 {
			t.Fatalf("%d sources are remembered", len(r.free))
		}
	}
}
