package clock

import (
	"fmt"
	"strings"
	"time"
)

// maxText is how long a schedule may be.
const maxText = 200

// horizon is how far ahead a moment is looked for: the longest wait of a calendar is eight years, for a 29th of February across a century.
const horizon = 9 * 366 * 24 * time.Hour

// minInterval is the shortest interval.
const minInterval = time.Second

// Schedule is when something is due, again and again.
type Schedule struct {
	text  string
	zone  *time.Location
	every time.Duration // an interval, counted from the anchor; or
	from  time.Time     // the anchor
	days  int           // an interval in whole days, at the anchor's time of day
	cal   *calendar     // a calendar
}

// Parse reads a schedule. Intervals are counted from the anchor, calendars are read in the zone.
func Parse(text string, zone *time.Location, anchor time.Time) (Schedule, error) {
	s := Schedule{text: strings.Join(strings.Fields(text), " "), zone: zone, from: anchor}
	switch {
	case s.text == "":
		return s, fmt.Errorf("a schedule is missing: write for example \"every weekday at 9:30\" or \"30 9 * * mon-fri\"")
	case len(text) > maxText:
		return s, fmt.Errorf("a schedule has at most %d characters", maxText)
	case zone == nil:
		return s, fmt.Errorf("a schedule needs a time zone")
	}
	var err error
	words := strings.Fields(strings.ToLower(s.text))
	if words[0] == "every" {
		err = s.readWords(words[1:])
	} else {
		s.cal, err = readCron(words)
	}
	if err != nil {
		return s, fmt.Errorf("%q is not a schedule: %w", s.text, err)
	}
	if _, ok := s.Next(anchor); !ok {
		return s, fmt.Errorf("%q never comes", s.text)
	}
	return s, nil
}

// Next is the first moment after t at which it is due.
func (s Schedule) Next(t time.Time) (time.Time, bool) {
	switch {
	case s.every > 0:
		if t.Before(s.from) {
			return s.from.Add(s.every), true
		}
		return s.from.Add((t.Sub(s.from)/s.every + 1) * s.every), true
	case s.days > 0:
		return s.nextDays(t), true
	case s.cal.everyHour():
		return s.cal.nextPassing(t, s.zone)
	}
	return s.cal.nextFixed(t, s.zone)
}

// nextDays is the next moment of an interval in days, which keeps the anchor's time of day when clocks change.
func (s Schedule) nextDays(t time.Time) time.Time {
	a := s.from.In(s.zone)
	n := int(max(0, t.Sub(s.from)/(24*time.Hour))) / s.days // at most one too many, when a day had 23 hours
	for n = max(0, n-1); ; n++ {
		day := date{a.Year(), a.Month(), a.Day()}.add((n + 1) * s.days)
		if at := moment(day, a.Hour(), a.Minute(), a.Second(), s.zone); at.After(t) {
			return at
		}
	}
}
