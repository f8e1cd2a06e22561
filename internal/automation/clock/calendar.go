package clock

import (
	"math/bits"
	"time"
)

// set is which numbers of a field hold, a bit each.
type set uint64

func (s set) has(n int) bool { return s>>uint(n)&1 != 0 }

// from is the first member that is at least n, or -1.
func (s set) from(n int) int {
	if rest := s >> uint(n); n < 64 && rest != 0 {
		return n + bits.TrailingZeros64(uint64(rest))
	}
	return -1
}

func span(from, to int) (s set) {
	for n := from; n <= to; n++ {
		s |= 1 << uint(n)
	}
	return s
}

// calendar is a schedule of minutes, hours and days.
type calendar struct {
	minutes, hours, days, months, weekdays set
	last                                   bool // the last day of the month, beside days
	anyDay, anyWeekday                     bool // the field was *: cron then looks at the other one alone
}

func (c *calendar) everyHour() bool { return c.hours == span(0, 23) }

// date is a day without a zone.
type date struct {
	year  int
	month time.Month
	day   int
}

func dateOf(t time.Time) date { y, m, d := t.Date(); return date{y, m, d} }

func (d date) add(n int) date {
	return dateOf(time.Date(d.year, d.month, d.day+n, 12, 0, 0, 0, time.UTC))
}

func (d date) last() bool { return d.add(1).day == 1 }

func (d date) weekday() time.Weekday {
	return time.Date(d.year, d.month, d.day, 12, 0, 0, 0, time.UTC).Weekday()
}

// holds says whether the schedule has this day. As in cron, when both the day of the month and the weekday are restricted, either is
// enough.
func (c *calendar) holds(d date) bool {
	if !c.months.has(int(d.month)) {
		return false
	}
	day := c.days.has(d.day) || c.last && d.last()
	weekday := c.weekdays.has(int(d.weekday()))
	switch {
	case c.anyDay && c.anyWeekday:
		return true
	case c.anyDay:
		return weekday
	case c.anyWeekday:
		return day
	}
	return day || weekday
}

// nextFixed is the next moment of a schedule with fixed hours: day by day, and in each day by the clock on the wall.
func (c *calendar) nextFixed(t time.Time, zone *time.Location) (time.Time, bool) {
	// A moment that falls into a gap is moved to its end, so the day before may still have something to come.
	for d, end := dateOf(t.In(zone)).add(-1), t.Add(horizon); ; d = d.add(1) {
		if !c.holds(d) {
			if time.Date(d.year, d.month, d.day, 0, 0, 0, 0, zone).After(end) {
				return time.Time{}, false
			}
			continue
		}
		for h := c.hours.from(0); h >= 0; h = c.hours.from(h + 1) {
			for m := c.minutes.from(0); m >= 0; m = c.minutes.from(m + 1) {
				if at := moment(d, h, m, 0, zone); at.After(t) {
					return at, true
				}
			}
		}
	}
}

// nextPassing is the next moment of a schedule that holds for every hour: minute by minute as time passes, in steps.
func (c *calendar) nextPassing(t time.Time, zone *time.Location) (time.Time, bool) {
	end := t.Add(horizon)
	for t = t.Truncate(time.Minute).Add(time.Minute).In(zone); t.Before(end); {
		d := dateOf(t)
		if !c.holds(d) {
			next := moment(d.add(1), 0, 0, 0, zone)
			if !next.After(t) { // the clock went back over midnight, and this is the day's second part
				next = t.Add(time.Minute)
			}
			t = next.In(zone)
			continue
		}
		if c.minutes.has(t.Minute()) {
			return t, true
		}
		step := 60 - t.Minute()
		if m := c.minutes.from(t.Minute()); m >= 0 {
			step = m - t.Minute()
		}
		next := t.Add(time.Duration(step) * time.Minute)
		if _, change := t.ZoneBounds(); !change.IsZero() && change.Before(next) { // the wall's minutes jump in between
			next = change.In(zone)
		}
		t = next
	}
	return time.Time{}, false
}

// moment is when the clock on the wall shows a time: the first time when it does so twice, the end of the gap when it never does.
func moment(d date, hour, minute, second int, zone *time.Location) time.Time {
	wall := time.Date(d.year, d.month, d.day, hour, minute, second, 0, time.UTC)
	before, after := offset(wall.Add(-26*time.Hour), zone), offset(wall.Add(26*time.Hour), zone)
	first := wall.Add(-max(before, after)) // the larger offset is the earlier moment
	for _, at := range []time.Time{first, wall.Add(-min(before, after))} {
		if offset(at, zone) == wall.Sub(at) {
			return at.In(zone)
		}
	}
	// No offset gives this time: the gap ends where the zone that holds afterwards begins.
	begins, _ := wall.Add(-min(before, after)).In(zone).ZoneBounds()
	return begins.In(zone)
}

func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
