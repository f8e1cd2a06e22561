package db

import (
	"testing"
	"time"
)

// Somebody sets the clock of the machine: what has ended by either clock is refused, and nothing that has ended by one of them alone is
// acted on. A step of some seconds is waited out.
func TestAClockThatIsSet(t *testing.T) {
	day := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	var wall time.Time
	var runs time.Duration
	c := &clock{wall: func() time.Time { return wall }}
	d := &DB{clock: c}
	wall = day
	d.Steady(func() time.Duration { return runs })
	pass := func(by time.Duration) { wall, runs = wall.Add(by), runs+by }
	expect := func(what string, now, ended time.Time, sure bool) {
		t.Helper()
		gotNow, gotEnded := c.times()
		if !gotNow.Equal(now) || !gotEnded.Equal(ended) || d.Clock().Sure != sure {
			t.Errorf("%s: now %s, ended %s, sure %v", what, gotNow, gotEnded, d.Clock().Sure)
		}
	}
	expect("at first", day, day, true)
	pass(time.Hour)
	at := day.Add(time.Hour)
	expect("an hour later", at, at, true)
	wall = wall.Add(-30 * time.Second)
	expect("half a minute back", at, at, true)
	pass(time.Minute)
	at = at.Add(30 * time.Second)
	expect("caught up", at, at, true)
	wall = wall.Add(48 * time.Hour)
	expect("two days ahead", at.Add(48*time.Hour), at.Add(30*time.Second), false)
	wall = wall.Add(-72 * time.Hour)
	expect("a day back", at.Add(30*time.Second), at.Add(-24*time.Hour), false)
	d.Agree()
	expect("and that is taken as right", at.Add(-24*time.Hour), at.Add(-24*time.Hour), true)
	d.Hold(at)
	expect("held until it is settled", at, at, true)
}
