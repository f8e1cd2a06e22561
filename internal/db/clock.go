package db

import (
	"sync"
	"time"
)

// clock gives transactions their time. Somebody may set the machine's clock while the program runs; beside it there is one that nobody
// can set, and while the two disagree nobody knows what has ended.
type clock struct {
	wall func() time.Time

	mu    sync.Mutex
	since func() time.Duration // how long the machine runs; nil where there is nothing to hold the wall's clock against
	base  time.Time            // the wall's clock
	at    time.Duration        // and the other one, when they last agreed
	last  time.Time            // what was told last
	hold  time.Time            // while a clock that was set back is being settled, it is this late
}

// Disagree is how far the two clocks may be apart.
const Disagree = time.Minute

// Clock is how the two clocks stand.
type Clock struct {
	Off  time.Duration // by how much the wall's clock is ahead of the other one
	Sure bool          // they agree, so what has ended by them has ended
}

// Steady has the wall's clock watched: since is how long the machine runs, also while it
// slept; nil where nothing tells.
func (d *DB) Steady(since func() time.Duration) {
	c := d.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since, c.base = since, c.wall(); since != nil {
		c.at = since()
	}
}

// Clock tells how the clocks stand.
func (d *DB) Clock() Clock {
	c := d.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _, state := c.read()
	return state
}

// Agree takes the wall's clock as it is now as the right one. What had ended by the time that was told until now has to be written down
// before: from here on it is the wall's time.
func (d *DB) Agree() {
	c := d.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since != nil {
		c.base, c.at = c.wall(), c.since()
	}
	c.last, c.hold = time.Time{}, time.Time{}
}

// Hold lets it be at least t until Agree.
func (d *DB) Hold(t time.Time) {
	c := d.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = t
}

// read is the earliest and the latest that it may be. The caller holds mu.
func (c *clock) read() (early, late time.Time, state Clock) {
	early, state = c.wall().UTC().Truncate(time.Microsecond), Clock{Sure: true}
	late = early
	if c.since != nil {
		other := c.base.Add(c.since() - c.at).UTC().Truncate(time.Microsecond)
		state.Off = early.Sub(other)
		if state.Sure = state.Off.Abs() <= Disagree; !state.Sure && other.After(late) {
			late = other
		} else if !state.Sure {
			early = other
		}
	}
	if late.Before(c.hold) {
		late = c.hold
	}
	// A step of some seconds back is waited out.
	if state.Sure && late.Before(c.last) && c.last.Sub(late) <= Disagree {
		late = c.last
	}
	return early, late, state
}

// times is what a transaction is told: now, by which things end, and the time by which others may act on that.
func (c *clock) times() (now, ended time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	early, late, state := c.read()
	c.last = late
	if state.Sure {
		early = late
	}
	return late, early
}
