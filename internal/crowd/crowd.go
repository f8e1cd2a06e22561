// Package crowd owns one rule: how much those whom nobody knows may leave
// waiting. Each source has a share of its own, in which the oldest gives way once
// it has had its time; where all sources together are too many, the oldest of the
// source with most gives way at once. So a flood keeps nobody out who comes from
// elsewhere. The rooms keep what waits, and say how large the shares are.
package crowd

import "time"

// Bound is how much may wait in one place.
type Bound struct {
	From    int           // of one source
	All     int           // of all of them
	Settles time.Duration // how long a thing is safe from the next ones of its own source
}

// Line is what waits in one place: rows of a table, or a map.
type Line interface {
	// From counts what waits of a source, and says since when the oldest does.
	From(source string) (n int, oldest time.Time, err error)
	// All counts what waits.
	All() (int, error)
	// Most is the source of which most waits.
	Most() (source string, err error)
	// Drop ends the oldest of a source.
	Drop(source string) error
}

// Admit makes room for one more thing of a source. Where there is none it says how long the source has to wait, and nothing is dropped.
func (b Bound) Admit(l Line, source string, now time.Time) (wait time.Duration, err error) {
	mine, oldest, err := l.From(source)
	if err != nil {
		return 0, err
	}
	if mine >= b.From {
		if age := now.Sub(oldest); age < b.Settles {
			return b.Settles - age, nil
		}
		if err := l.Drop(source); err != nil {
			return 0, err
		}
	}
	all, err := l.All()
	if err != nil || all < b.All {
		return 0, err
	}
	most, err := l.Most()
	if err != nil {
		return 0, err
	}
	return 0, l.Drop(most)
}

// Minutes is a wait in words for whoever has to wait: whole minutes, one at least.
func Minutes(wait time.Duration) int { return int(wait/time.Minute) + 1 }
