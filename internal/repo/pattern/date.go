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
	if kind != "after" && kind != "before" {
		if _, err := ParseDate(text, now); err != nil {
			return Date{}, err
		}
		return Date{}, fmt.Errorf("Invalid date pattern kind `%s:`", kind)
	}
	t, err := ParseDate(text, now)
	if err != nil {
		return Date{}, err
	}
	return Date{After: kind == "after", Millis: t.UnixMilli()}, nil
}

var (
	errDate = errors.New("expected unsupported identifier as position of unsupported date time")
	errEnd  = errors.New("expected week day or month name")
)

// ParseDate reads forms such as "2024-02-03", "2024-02-03 14:00", "2 days ago",
// "yesterday, 5pm", "last friday" and "3/25/2023".
func ParseDate(text string, now time.Time) (time.Time, error) {
	s := strings.ToLower(strings.TrimSpace(text))
	for _, layout := range []string{time.RFC3339, "2006-01-02t15:04:05z07:00", "2006-01-02 15:04:05 z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
		if t, err := time.Parse(layout, strings.ToUpper(s)); err == nil {
			return t, nil
		}
	}
	s = strings.ReplaceAll(s, ",", " ")
	if len(s) > 10 && s[10] == 't' {
		s = s[:10] + " " + s[11:]
	}
	p := &dateParser{words: strings.Fields(s), now: now}
	return p.parse()
}

type dateParser struct {
	words []string
	now   time.Time
	at    int
}

func (p *dateParser) peek() string {
	if p.at < len(p.words) {
		return p.words[p.at]
	}
	return ""
}

func midnight(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, t.Location())
}

func (p *dateParser) parse() (time.Time, error) {
	if len(p.words) == 0 {
		return time.Time{}, errEnd
	}
	day, timed, err := p.date()
	if err != nil {
		return time.Time{}, err
	}
	if p.at == len(p.words) {
		return day, nil
	}
	if timed {
		return time.Time{}, errDate
	}
	return p.clock(day)
}

// date reads the day; timed says that the result already has a time of day.
func (p *dateParser) date() (t time.Time, timed bool, err error) {
	w := p.peek()
	switch w {
	case "now":
		p.at++
		return p.now, true, nil
	case "today":
		p.at++
		return midnight(p.now), false, nil
	case "yesterday":
		p.at++
		return midnight(p.now.AddDate(0, 0, -1)), false, nil
	case "tomorrow":
		p.at++
		return midnight(p.now.AddDate(0, 0, 1)), false, nil
	case "last", "next":
		p.at++
		return p.relativeDay(w == "last")
	}
	if wd, ok := weekday(w); ok {
		p.at++
		return p.lastDay(wd, false), false, nil
	}
	if t, ok := digits(w, p.now.Location()); ok {
		p.at++
		return t, false, nil
	}
	if m, ok := month(w); ok {
		return p.monthFirst(m)
	}
	if n, unit, ok := glued(w); ok {
		p.at++
		return p.shift(n, unit)
	}
	if n, err := strconv.Atoi(w); err == nil {
		p.at++
		return p.counted(n)
	}
	if strings.Contains(w, ":") || strings.HasSuffix(w, "am") || strings.HasSuffix(w, "pm") {
		return midnight(p.now), false, nil
	}
	return t, false, errEnd
}

func (p *dateParser) relativeDay(last bool) (time.Time, bool, error) {
	w := p.peek()
	p.at++
	if wd, ok := weekday(w); ok {
		return p.lastDay(wd, !last), false, nil
	}
	n := 1
	if last {
		n = -1
	}
	switch strings.TrimSuffix(w, "s") {
	case "week":
		return midnight(p.now.AddDate(0, 0, 7*n)), false, nil
	case "month":
		return midnight(p.now.AddDate(0, n, 0)), false, nil
	case "year":
		return midnight(p.now.AddDate(n, 0, 0)), false, nil
	}
	return time.Time{}, false, errEnd
}

func (p *dateParser) lastDay(wd time.Weekday, next bool) time.Time {
	step := -1
	if next {
		step = 1
	}
	t := midnight(p.now)
	for {
		t = t.AddDate(0, 0, step)
		if t.Weekday() == wd {
			return t
		}
	}
}

// counted reads "2 days ago", "2 days" or "4 July 2023" after the number.
func (p *dateParser) counted(n int) (time.Time, bool, error) {
	if m, ok := month(p.peek()); ok {
		p.at++
		year := p.now.Year()
		if y, err := strconv.Atoi(p.peek()); err == nil && len(p.peek()) == 4 {
			p.at++
			year = y
		}
		return time.Date(year, m, n, 0, 0, 0, 0, p.now.Location()), false, nil
	}
	unit := p.peek()
	p.at++
	return p.shift(n, unit)
}

func (p *dateParser) shift(n int, unit string) (time.Time, bool, error) {
	if p.peek() == "ago" {
		p.at++
		n = -n
	}
	unit = strings.TrimSuffix(unit, "s")
	switch unit {
	case "":
		return p.now.Add(time.Duration(n) * time.Second), true, nil
	case "sec", "second":
		return p.now.Add(time.Duration(n) * time.Second), true, nil
	case "min", "minute", "m":
		return p.now.Add(time.Duration(n) * time.Minute), true, nil
	case "h", "hr", "hour":
		return p.now.Add(time.Duration(n) * time.Hour), true, nil
	case "d", "day":
		return p.now.AddDate(0, 0, n), false, nil
	case "w", "week":
		return p.now.AddDate(0, 0, 7*n), false, nil
	case "mon", "month":
		return p.now.AddDate(0, n, 0), false, nil
	case "y", "yr", "year":
		return p.now.AddDate(n, 0, 0), false, nil
	}
	return time.Time{}, false, errDate
}

func glued(w string) (int, string, bool) {
	i := 0
	for i < len(w) && (w[i] >= '0' && w[i] <= '9' || i == 0 && w[i] == '-') {
		i++
	}
	n, err := strconv.Atoi(w[:i])
	if err != nil || i == len(w) || strings.ContainsAny(w[i:], ":-/") || w[i:] == "am" || w[i:] == "pm" {
		return 0, "", false
	}
	return n, w[i:], true
}

func (p *dateParser) monthFirst(m time.Month) (time.Time, bool, error) {
	p.at++
	d, err := strconv.Atoi(p.peek())
	if err != nil {
		return time.Time{}, false, errEnd
	}
	p.at++
	year := p.now.Year()
	if y, err := strconv.Atoi(p.peek()); err == nil && len(p.peek()) == 4 {
		p.at++
		year = y
	}
	return time.Date(year, m, d, 0, 0, 0, 0, p.now.Location()), false, nil
}

// clock reads a time of day and perhaps a zone.
func (p *dateParser) clock(day time.Time) (time.Time, error) {
	w := p.peek()
	p.at++
	half := ""
	for _, suffix := range []string{"am", "pm"} {
		if rest, ok := strings.CutSuffix(w, suffix); ok && rest != "" {
			w, half = rest, suffix
		}
	}
	if half == "" && (p.peek() == "am" || p.peek() == "pm") {
		half = p.peek()
		p.at++
	}
	zone := day.Location()
	if i := strings.IndexAny(w, "+-z"); i > 0 {
		z, ok := offset(w[i:])
		if !ok {
			return time.Time{}, errDate
		}
		zone, w = z, w[:i]
	} else if p.at < len(p.words) {
		if z, ok := offset(p.peek()); ok {
			zone = z
			p.at++
		}
	}
	h, mi, sec, ok := hms(w)
	if !ok || p.at != len(p.words) {
		return time.Time{}, errDate
	}
	if half == "pm" && h < 12 {
		h += 12
	}
	if half == "am" && h == 12 {
		h = 0
	}
	y, m, d := day.Date()
	return time.Date(y, m, d, h, mi, sec, 0, zone), nil
}

func hms(w string) (h, m, s int, ok bool) {
	parts := strings.Split(w, ":")
	if len(parts) > 3 {
		return 0, 0, 0, false
	}
	vals := [3]int{}
	for i, p := range parts {
		p, _, _ = strings.Cut(p, ".")
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 || v > 59 || (i == 0 && v > 23) {
			return 0, 0, 0, false
		}
		vals[i] = v
	}
	return vals[0], vals[1], vals[2], true
}

func offset(w string) (*time.Location, bool) {
	if w == "z" || w == "utc" || w == "gmt" {
		return time.UTC, true
	}
	sign := 1
	switch {
	case strings.HasPrefix(w, "-"):
		sign = -1
	case !strings.HasPrefix(w, "+"):
		return nil, false
	}
	d := strings.ReplaceAll(w[1:], ":", "")
	v, err := strconv.Atoi(d)
	if err != nil || len(d) > 4 {
		return nil, false
	}
	if len(d) <= 2 {
		v *= 100
	}
	return time.FixedZone("", sign*(v/100*3600+v%100*60)), true
}

func digits(w string, loc *time.Location) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02", "2006-1-2", "1/2/2006", "1/2/06"} {
		if t, err := time.ParseInLocation(layout, w, loc); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func weekday(w string) (time.Weekday, bool) {
	if len(w) < 3 {
		return 0, false
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.HasPrefix(strings.ToLower(d.String()), w) {
			return d, true
		}
	}
	return 0, false
}

func month(w string) (time.Month, bool) {
	if len(w) < 3 {
		return 0, false
	}
	for m := time.January; m <= time.December; m++ {
		if strings.HasPrefix(strings.ToLower(m.String()), w) {
			return m, true
		}
	}
	return 0, false
}
