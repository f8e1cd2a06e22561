package pattern

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Date matches times at or after, or before, a moment.
type Date struct {
	After  bool
	Millis int64
}

// Match reports whether a time in milliseconds since 1970 matches.
func (d Date) Match(millis int64) bool {
	if d.After {
		return millis >= d.Millis
	}
	return millis < d.Millis
}

// NewDate reads a date in words or digits, seen from now.
func NewDate(kind, text string, now time.Time) (Date, error) {
	t, err := ParseDate(text, now)
	if err != nil {
		return Date{}, err
	}
	if kind != "after" && kind != "before" {
		return Date{}, fmt.Errorf("Invalid date pattern kind `%s:`", kind)
	}
	return Date{After: kind == "after", Millis: t.UnixMilli()}, nil
}

// ParseDate reads forms such as "2024-02-03", "2024-02-03 14:00", "2 days ago",
// "yesterday 5pm", "last friday", "3/25/2023" and "1975". What the text leaves
// open is taken from now, and its zone.
func ParseDate(text string, now time.Time) (time.Time, error) {
	p := &dateParser{text: text, now: now}
	day, err := p.date()
	if err != nil {
		return time.Time{}, err
	}
	clock, err := p.clock()
	if err != nil {
		return time.Time{}, err
	}
	switch {
	case day != nil:
		if t, ok := day(now, clock); ok {
			return t, nil
		}
		return time.Time{}, errNoDate
	case clock != nil:
		y, m, d := now.Date()
		if t, ok := clock.on(y, int(m), d, now.Location()); ok {
			return t, nil
		}
	}
	return time.Time{}, errNoTime
}

var (
	errNoDate = errors.New("date could not be parsed from input")
	errNoTime = errors.New("time could not be parsed from input")
)

// day turns now and a time of day into a moment; it fails for days that do not
// exist.
type day func(now time.Time, c *clock) (time.Time, bool)

// clock is a time of day, perhaps in a zone of its own.
type clock struct {
	hour, min, sec, micro int
	zone                  *time.Location
}

func (c *clock) on(y, m, d int, zone *time.Location) (time.Time, bool) {
	if m < 1 || m > 12 || d < 1 || d > time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() || c.min > 59 || c.sec > 59 {
		return time.Time{}, false
	}
	if c.zone != nil {
		zone = c.zone
	}
	return time.Date(y, time.Month(m), d, c.hour, c.min, c.sec, 1000*c.micro, zone), true
}

func orMidnight(c *clock) *clock {
	if c == nil {
		return &clock{}
	}
	return c
}

// absolute is a day of the calendar.
func absolute(y, m, d int) day {
	return func(now time.Time, c *clock) (time.Time, bool) { return orMidnight(c).on(y, m, d, now.Location()) }
}

// direction says which one is meant of days that come again.
type direction int

const (
	here direction = iota
	next
	last
)

// towards corrects a day that lies on the wrong side of now.
func (d direction) towards(t, now time.Time) int {
	switch {
	case d == last && t.After(now):
		return -1
	case d == next && t.Before(now):
		return 1
	}
	return 0
}

// named is a month, with a day or as a whole.
func named(m, d int, way direction) day {
	return func(now time.Time, c *clock) (time.Time, bool) {
		y, nm, nd := now.Date()
		today := time.Date(y, nm, nd, 0, 0, 0, 0, time.UTC)
		y += way.towards(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC), today)
		return orMidnight(c).on(y, m, d, now.Location())
	}
}

// weekdayOf is a day of the week: the next one unless said otherwise.
func weekdayOf(wd int, way direction) day {
	if way == here {
		way = next
	}
	return func(now time.Time, c *clock) (time.Time, bool) {
		c = orMidnight(c)
		y, m, d := now.Date()
		today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		diff := wd - (int(now.Weekday())+6)%7
		t := today.AddDate(0, 0, diff)
		t = t.AddDate(0, 0, 7*way.towards(t, today))
		if diff == 0 {
			at := today.Add(time.Duration(c.hour)*time.Hour + time.Duration(c.min)*time.Minute + time.Duration(c.sec)*time.Second)
			clockNow := today.Add(time.Duration(now.Hour())*time.Hour + time.Duration(now.Minute())*time.Minute +
				time.Duration(now.Second())*time.Second)
			t = t.AddDate(0, 0, 7*way.towards(at, clockNow))
		}
		return c.on(t.Year(), int(t.Month()), t.Day(), now.Location())
	}
}

// span is a length of time in one of three measures.
type span struct{ seconds, days, months int }

func (s span) times(n int) span { return span{n * s.seconds, n * s.days, n * s.months} }

// from is the moment at that distance from now.
func (s span) from(now time.Time, c *clock) (time.Time, bool) {
	y, m, d := now.Date()
	switch {
	case s.seconds != 0:
		return now.Add(time.Duration(s.seconds) * time.Second), true
	case s.months != 0:
		first := time.Date(y, m+time.Month(s.months), 1, 0, 0, 0, 0, time.UTC)
		d = min(d, first.AddDate(0, 1, -1).Day())
		return orMidnight(c).on(first.Year(), int(first.Month()), d, now.Location())
	}
	t := time.Date(y, m, d+s.days, 0, 0, 0, 0, time.UTC)
	if c == nil {
		c = &clock{hour: now.Hour(), min: now.Minute(), sec: now.Second(), micro: now.Nanosecond() / 1000}
	}
	return c.on(t.Year(), int(t.Month()), t.Day(), now.Location())
}

func shorten(s string) string { return s[:min(3, len(s))] }

func weekday(s string) (int, bool) {
	i := strings.Index("montuewedthufrisatsun", shorten(s))
	return i / 3, len(s) >= 3 && i >= 0 && i%3 == 0
}

func month(s string) (int, bool) {
	i := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", shorten(s))
	return i/3 + 1, len(s) >= 3 && i >= 0 && i%3 == 0
}

func unit(s string) (span, bool) {
	for _, u := range []struct {
		letter, start string
		span          span
	}{
		{"s", "se", span{seconds: 1}}, {"m", "mi", span{seconds: 60}}, {"h", "ho", span{seconds: 3600}}, {"d", "da", span{days: 1}},
		{"w", "we", span{days: 7}}, {"", "mo", span{months: 1}}, {"y", "ye", span{months: 12}},
	} {
		if s == u.letter || strings.HasPrefix(s, u.start) {
			return u.span, true
		}
	}
	return span{}, false
}

// dateToken is a number of at most four digits, a word, or one sign.
type dateToken struct {
	kind       byte // '0' for a number, 'a' for a word, else the sign; 0 at the end
	num        int
	word       string
	start, end int
}

func (t dateToken) want(what string) error {
	if t.kind == 0 {
		return fmt.Errorf("expected %s at the end of the input", what)
	}
	return fmt.Errorf("expected %s as position %d..%d", what, t.start, t.end)
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// scanDate reads the token at a place.
func scanDate(s string, at int) dateToken {
	for at < len(s) && strings.IndexByte(" \t\n\f", s[at]) >= 0 {
		at++
	}
	t := dateToken{start: at, end: at}
	if at == len(s) {
		return t
	}
	switch c := s[at]; {
	case digit(c):
		for t.end < len(s) && t.end < at+4 && digit(s[t.end]) {
			t.end++
		}
		t.kind = '0'
		t.num, _ = strconv.Atoi(s[at:t.end])
	case letter(c):
		for t.end < len(s) && letter(s[t.end]) {
			t.end++
		}
		t.kind, t.word = 'a', strings.ToLower(s[at:t.end])
	default:
		t.kind, t.end = c, at+1
	}
	return t
}
