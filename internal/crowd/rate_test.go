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
	if now = now.Add(time.Second); !r.Take("a", now) || r.Take("a", now) {
		t.Error("a second later it is one more, and not two")
	}
	if now = now.Add(time.Hour); !r.Take("a", now) || !r.Take("a", now) || !r.Take("a", now) || r.Take("a", now) {
		t.Error("an hour later it is a burst again, and no more than that")
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
