package clock

import (
	"fmt"
	"time"
)

// Policy is what becomes of moments that passed while nobody looked: a laptop that slept, a server that was down.
type Policy string

// The policies.
const (
	// Skip leaves out what was missed; the next moment comes as usual.
	Skip Policy = "skip"
	// Once makes one run for all that was missed.
	Once Policy = "once"
	// CatchUp makes a run for each of the newest that were missed, up to a number.
	CatchUp Policy = "catch-up"
)

// Misfire is a policy with its bounds.
type Misfire struct {
	Policy Policy
	Most   int           // of CatchUp
	Grace  time.Duration // how late a moment may be and still be on time
}

// Limits of what is planned at once.
const (
	maxCatchUp = 100
	maxLook    = 100_000 // moments that are counted; beyond them only what is recent is looked at
)

// Check refuses a policy that says nothing.
func (m Misfire) Check() error {
	switch {
	case m.Policy != Skip && m.Policy != Once && m.Policy != CatchUp:
		return fmt.Errorf("%q is no policy for missed moments: %s, %s or %s", m.Policy, Skip, Once, CatchUp)
	case m.Policy == CatchUp && (m.Most < 1 || m.Most > maxCatchUp):
		return fmt.Errorf("catching up makes between 1 and %d runs", maxCatchUp)
	case m.Grace < 0:
		return fmt.Errorf("a grace is not negative")
	}
	return nil
}

// Due is what a schedule asks for at a moment.
type Due struct {
	Run     []time.Time // to run now, oldest first
	Missed  int         // how many before those get no run of their own
	AtLeast bool        // Missed is too small: there were more than were counted
	First   time.Time   // the first that was missed, and
	Last    time.Time   // the last
	Next    time.Time   // when to look again
	HasNext bool
}

// Plan says what is due at now when everything up to since was dealt with. Each moment is in Run or counted in Missed, so that what
// was left out can be told; asked again with since = now it answers nothing.
func Plan(s Schedule, since, now time.Time, m Misfire) Due {
	var due Due
	var newest []time.Time
	timely := 0
	at, ok := s.Next(since)
	for looked := 0; ok && !at.After(now); looked++ {
		if due.First.IsZero() {
			due.First = at
		}
		if newest = append(newest, at); len(newest) > maxCatchUp {
			due.Last, due.Missed, newest = newest[0], due.Missed+1, newest[1:]
		}
		if now.Sub(at) <= m.Grace {
			timely++
		}
		if recent := now.Add(-m.Grace - 24*time.Hour); looked == maxLook && at.Before(recent) {
			at, due.AtLeast = recent, true
		}
		at, ok = s.Next(at)
	}
	due.Next, due.HasNext = at, ok
	run := timely
	switch m.Policy {
	case Once:
		run = 1
	case CatchUp:
		run = max(timely, m.Most)
	}
	left := max(0, len(newest)-run)
	due.Run = newest[left:]
	if left > 0 {
		due.Last, due.Missed = newest[left-1], due.Missed+left
	}
	if due.Missed == 0 {
		due.First = time.Time{}
	}
	return due
}
