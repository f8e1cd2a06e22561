package crowd

import (
	"fmt"
	"testing"
	"time"
)

func TestARateLetsABurstThroughAndThenOneEachWhile(t *testing.T) {
	r := NewRate(3, time.Second, 10)
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
	r := NewRate(1, time.Second, 10)
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

// Whoever used all of its share before the machine's clock was set back by a day was turned away for that day.
func TestAClockSetBackTurnsNobodyAwayForLong(t *testing.T) {
	r := NewRate(3, time.Second, 10)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for range 3 {
		r.Take("a", now)
	}
	now = now.Add(-24 * time.Hour)
	if r.Take("a", now) {
		t.Error("setting the clock back gives a share anew")
	}
	if now = now.Add(time.Second); !r.Take("a", now) || r.Take("a", now) {
		t.Error("a second later not one is let through")
	}
}

// A rate whose numbers were forgotten let everything through.
func TestARateHasBounds(t *testing.T) {
	for name, numbers := range map[string]struct {
		most    int
		each    time.Duration
		sources int
	}{"most": {0, 1, 1}, "each": {1, 0, 1}, "sources": {1, 1, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("one without %s is made", name)
				}
			}()
			NewRate(numbers.most, numbers.each, numbers.sources)
		}()
	}
}
