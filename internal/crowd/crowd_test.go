package crowd

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

type thing struct {
	source string
	at     time.Time
}

// list is a Line in memory, the oldest first.
type list struct{ waiting []thing }

func (l *list) From(source string) (n int, oldest time.Time, err error) {
	for _, w := range l.waiting {
		if w.source == source {
			if n == 0 {
				oldest = w.at
			}
			n++
		}
	}
	return n, oldest, nil
}

func (l *list) All() (int, error) { return len(l.waiting), nil }

func (l *list) Most() (most string, err error) {
	best := 0
	for _, w := range l.waiting {
		if n, _, _ := l.From(w.source); n > best {
			best, most = n, w.source
		}
	}
	return most, nil
}

func (l *list) Drop(source string) error {
	for i, w := range l.waiting {
		if w.source == source {
			l.waiting = append(l.waiting[:i:i], l.waiting[i+1:]...)
			return nil
		}
	}
	return nil
}

// Whatever comes from wherever: the shares hold, a source is turned away for what it left itself alone, and nothing of a source that has
// less than another gives way.
func TestAFloodKeepsNobodyOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bound{From: 3, All: 8, Settles: time.Minute}
		l, now := &list{}, time.Unix(0, 0)
		for range rapid.IntRange(1, 60).Draw(t, "things") {
			source := rapid.SampledFrom([]string{"a", "a", "a", "b", "c", "d", "e", "f", "g", "h", "i"}).Draw(t, "source")
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			mine, oldest, _ := l.From(source)
			before, most := len(l.waiting), 0
			for _, w := range l.waiting {
				n, _, _ := l.From(w.source)
				most = max(most, n)
			}
			wait, err := b.Admit(l, source, now)
			switch {
			case err != nil:
				t.Fatal(err)
			case wait > 0 && (mine < b.From || now.Sub(oldest) >= b.Settles || len(l.waiting) != before):
				t.Fatalf("turned away with %d waiting, the oldest for %s", mine, now.Sub(oldest))
			case wait == 0:
				l.waiting = append(l.waiting, thing{source, now})
			}
			if n, _, _ := l.From(source); n > b.From || len(l.waiting) > b.All {
				t.Fatalf("%d of %s, %d of all", n, source, len(l.waiting))
			}
			if after, _, _ := l.From(source); wait == 0 && mine < b.From && after == mine && mine < most {
				t.Fatalf("%s has %d, another %d, and its own gave way", source, mine, most)
			}
		}
	})
}
