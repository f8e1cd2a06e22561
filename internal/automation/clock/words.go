package clock

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

var units = map[string]time.Duration{
	"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// maxInterval is the longest interval: a year.
const maxInterval = 366 * 24 * time.Hour

// readWords reads what follows "every": an interval, or days and the time at which they begin.
func (s *Schedule) readWords(words []string) error {
	if len(words) == 0 {
		return errors.New("every what? Write for example \"every 15m\" or \"every day at 9:00\"")
	}
	if every, ok, err := interval(words); ok || err != nil {
		if every%(24*time.Hour) == 0 {
			s.days = int(every / (24 * time.Hour))
		} else {
			s.every = every
		}
		return err
	}
	days, times, ok := cut(words, "at")
	if !ok {
		return errors.New("say at what time: \"every monday at 8:00\"")
	}
	c := &calendar{months: span(1, 12), anyDay: true, anyWeekday: true}
	if err := c.readDays(days); err != nil {
		return err
	}
	if err := c.readTimes(times); err != nil {
		return err
	}
	s.cal = c
	return nil
}

func cut(words []string, at string) (before, after []string, ok bool) {
	for i, w := range words {
		if w == at {
			return words[:i], words[i+1:], true
		}
	}
	return words, nil, false
}

// interval reads "15m", "2 hours", "hour".
func interval(words []string) (every time.Duration, ok bool, err error) {
	defer func() {
		if ok && err == nil && (every < minInterval || every > maxInterval) {
			err = errors.New("an interval is between a second and a year")
		}
	}()
	switch len(words) {
	case 1:
		if d, err := time.ParseDuration(words[0]); err == nil {
			return d, true, nil
		}
		d, ok := units[words[0]]
		return d, ok, nil
	case 2:
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return 0, false, nil
		}
		d, ok := units[strings.TrimSuffix(words[1], "s")]
		switch {
		case !ok:
			return 0, true, fmt.Errorf("%q is no unit: seconds, minutes, hours, days, weeks", words[1])
		case n < 1 || n > int(maxInterval/d):
			return 0, true, errors.New("an interval is between a second and a year")
		}
		return time.Duration(n) * d, true, nil
	}
	return 0, false, nil
}

// readDays reads "day", "weekday", "monday and thursday", "month on the 1st and the last day".
func (c *calendar) readDays(words []string) error {
	if len(words) > 0 && words[0] == "month" {
		return c.readMonth(words[1:])
	}
	for _, w := range listed(words) {
		switch full := strings.TrimSuffix(w, "s"); {
		case full == "day" && len(words) == 1:
			return nil
		case full == "weekday":
			c.weekdays |= span(1, 5)
		case full == "weekend":
			c.weekdays |= 1<<0 | 1<<6
		default:
			n := weekday(full)
			if n < 0 {
				return fmt.Errorf("%q is no day: day, weekday, weekend, monday …, month on the 1st", w)
			}
			c.weekdays |= 1 << uint(n)
		}
		c.anyWeekday = false
	}
	if c.anyWeekday {
		return errors.New("no day is named")
	}
	return nil
}

func weekday(word string) int {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if full := strings.ToLower(d.String()); word == full || word == full[:3] {
			return int(d)
		}
	}
	return -1
}

// readMonth reads "on the 1st and the last day".
func (c *calendar) readMonth(words []string) error {
	if len(words) < 2 || words[0] != "on" {
		return errors.New("say on which day: \"every month on the 1st at 6:00\"")
	}
	c.anyDay = false
	for _, w := range listed(words[1:]) {
		switch w {
		case "the", "day":
			continue
		case "last":
			c.last = true
			continue
		}
		n, err := strconv.Atoi(strings.TrimRight(w, "stndrh"))
		if err != nil || n < 1 || n > 31 {
			return fmt.Errorf("%q is no day of a month", w)
		}
		c.days |= 1 << uint(n)
	}
	if c.days == 0 && !c.last {
		return errors.New("no day of the month is named")
	}
	return nil
}

// listed are the words of a list without what joins them.
func listed(words []string) []string {
	var out []string
	for _, w := range words {
		for _, part := range strings.Split(w, ",") {
			if part != "" && part != "and" {
				out = append(out, part)
			}
		}
	}
	return out
}

// readTimes reads "9:30 and 14:30". Hours and minutes are fields of their own, so times that differ in their minutes are refused rather
// than multiplied.
func (c *calendar) readTimes(words []string) error {
	minutes := -1
	for _, w := range listed(words) {
		h, m, _ := strings.Cut(w, ":")
		if m == "" {
			m = "0"
		}
		hour, err := number(h, 0, 23, nil)
		if err != nil {
			return fmt.Errorf("hour %w", err)
		}
		minute, err := number(m, 0, 59, nil)
		if err != nil {
			return fmt.Errorf("minute %w", err)
		}
		if minutes >= 0 && minute != minutes {
			return errors.New("times of one schedule have the same minutes: write a second schedule for the others")
		}
		minutes = minute
		c.hours |= 1 << uint(hour)
		c.minutes |= 1 << uint(minute)
	}
	if minutes < 0 {
		return errors.New("no time is named after \"at\"")
	}
	return nil
}
