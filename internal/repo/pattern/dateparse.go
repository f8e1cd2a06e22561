package pattern

import (
	"strings"
	"time"
)

// dateParser reads a day and a time of day, the parts in turn.
type dateParser struct {
	text string
	at   int
	now  time.Time
	// A number that turned out to be an hour while a day was looked for, and
	// what followed it: 'a' or 'p' for am and pm, ':' or '.', or 0 for nothing yet.
	hour     int
	hourKind byte
	hasHour  bool
}

func (p *dateParser) next() dateToken {
	t := scanDate(p.text, p.at)
	p.at = t.end
	return t
}

func (p *dateParser) peek() dateToken { return scanDate(p.text, p.at) }

func (p *dateParser) number() (int, error) {
	t := p.next()
	if t.kind != '0' {
		return 0, t.want("number")
	}
	return t.num, nil
}

// date reads the day, or nothing when the text starts with a time.
func (p *dateParser) date() (day, error) {
	t := p.next()
	minus, directed, way := false, false, here
	switch {
	case t.kind == '-':
		minus = true
		t = p.next()
	case t.kind == 'a':
		switch t.word {
		case "now", "today":
			return span{}.from, nil
		case "yesterday":
			return span{days: -1}.from, nil
		case "tomorrow":
			return span{days: 1}.from, nil
		case "next":
			directed, way = true, next
		case "last":
			directed, way = true, last
		case "this":
			directed = true
		}
		if directed {
			t = p.next()
		}
	}
	switch {
	case t.kind == 0:
		return nil, t.want("empty date string")
	case t.kind == 'a' && minus:
		return nil, t.want("number")
	case t.kind == 'a':
		return p.wordFirst(t, way)
	case t.kind == '0':
		return p.numberFirst(t.num, minus, directed, way)
	}
	return nil, errNoDate
}

func (p *dateParser) wordFirst(t dateToken, way direction) (day, error) {
	if m, ok := month(t.word); ok {
		d := p.next()
		if d.kind != '0' {
			return named(m, 1, way), nil
		}
		if p.peek().kind != ',' {
			return named(m, d.num, way), nil
		}
		p.next()
		y, err := p.number()
		return absolute(y, m, d.num), err
	}
	if wd, ok := weekday(t.word); ok {
		return weekdayOf(wd, way), nil
	}
	if u, ok := unit(t.word); ok {
		return u.times(map[direction]int{last: -1, here: 0, next: 1}[way]).from, nil
	}
	return nil, t.want("unsupported identifier")
}

func (p *dateParser) numberFirst(n int, minus, directed bool, way direction) (day, error) {
	t := p.next()
	switch {
	case t.kind == 0 && minus:
		return nil, t.want("duration")
	case t.kind == 'a':
		return p.numberWord(n, t, minus, way)
	case t.kind != 0 && strings.IndexByte(":.-/", t.kind) < 0:
		return nil, t.want("date")
	case directed && t.kind != '/':
		return nil, dateToken{}.want("day or month name")
	}
	switch t.kind {
	case 0:
		return absolute(n, 1, 1), nil
	case '-':
		return p.isoDate(n)
	case '/':
		return p.slashDate(n, way)
	}
	p.hour, p.hourKind, p.hasHour = n, t.kind, true
	return nil, nil
}

// numberWord reads what follows a number: "4 July", "2 days ago", "5 pm".
func (p *dateParser) numberWord(n int, t dateToken, minus bool, way direction) (day, error) {
	if m, ok := month(t.word); ok {
		if y := p.next(); y.kind == '0' {
			return absolute(y.num, m, n), nil
		}
		return named(m, n, way), nil
	}
	if u, ok := unit(t.word); ok {
		if minus {
			return u.times(-n).from, nil
		}
		switch after := p.next(); {
		case after.kind == 'a' && after.word == "ago":
			return u.times(-n).from, nil
		case after.kind == 'a':
			return nil, after.want("'ago'")
		case after.kind == '0':
			p.hour, p.hasHour = after.num, true
		}
		return u.times(n).from, nil
	}
	if t.word == "am" || t.word == "pm" {
		p.hour, p.hourKind, p.hasHour = n, t.word[0], true
		return nil, nil
	}
	return nil, t.want("month or time unit")
}

func (p *dateParser) isoDate(y int) (day, error) {
	m, err := p.number()
	if err != nil {
		return nil, err
	}
	if t := p.next(); t.kind != '-' {
		return nil, t.want("'-'")
	}
	d, err := p.number()
	return absolute(y, m, d), err
}

// slashDate reads month/day or month/day/year.
func (p *dateParser) slashDate(m int, way direction) (day, error) {
	d, err := p.number()
	if err != nil || p.peek().kind != '/' {
		return named(m, d, way), err
	}
	p.next()
	y, err := p.number()
	switch {
	case y <= 40:
		y += 2000
	case y < 100:
		y += 1900
	}
	return absolute(y, m, d), err
}

// clock reads the time of day, or nothing at the end.
func (p *dateParser) clock() (*clock, error) {
	if p.hasHour {
		switch p.hourKind {
		case 'a', 'p':
			return &clock{hour: half(p.hour, p.hourKind)}, nil
		case ':':
			return p.colonTime(p.hour)
		case '.':
			return p.dotTime(p.hour)
		}
		switch t := p.next(); t.kind {
		case ':':
			return p.colonTime(p.hour)
		case '.':
			return p.dotTime(p.hour)
		default:
			return nil, t.want(": or .")
		}
	}
	if t := p.peek(); t.kind == 'a' && p.text[t.start:t.end] == "T" {
		p.next()
	}
	h := p.next()
	switch h.kind {
	case 0:
		return nil, nil
	case '0':
	default:
		return nil, h.want("number")
	}
	switch t := p.next(); {
	case t.kind == ':':
		return p.colonTime(h.num)
	case t.kind == '.':
		return p.dotTime(h.num)
	case t.kind == 'a' && t.word == "am":
		return &clock{hour: h.num}, nil
	case t.kind == 'a' && t.word == "pm":
		return &clock{hour: h.num + 12}, nil
	case t.kind == 'a':
		return nil, t.want("am/pm")
	default:
		return nil, t.want("am/pm, ':' or '.'")
	}
}

// half is the hour of a clock of twelve hours.
func half(h int, kind byte) int {
	switch {
	case kind == 'a' && h == 12:
		return 0
	case kind == 'p' && h != 12:
		return h + 12
	}
	return h
}

// colonTime reads minutes, seconds and parts of them, and a zone or am and pm.
func (p *dateParser) colonTime(hour int) (*clock, error) {
	c := &clock{hour: hour}
	var err error
	if c.min, err = p.number(); err != nil {
		return nil, err
	}
	t := p.next()
	switch {
	case t.kind == ':':
		if c.sec, err = p.number(); err != nil {
			return nil, err
		}
		if t = p.next(); t.kind == '.' {
			if c.micro, err = p.number(); err != nil {
				return nil, err
			}
			t = p.next()
		}
	case t.kind != 0 && t.kind != 'a' && t.kind != '0':
		return nil, t.want("':'")
	}
	switch {
	case t.kind == 0:
		return c, nil
	case t.kind == '+' || t.kind == '-':
		return c, p.zone(c, t.kind == '-')
	case t.kind == 'a' && t.word == "z":
		c.zone = time.UTC
		return c, nil
	case t.kind == 'a' && (t.word == "am" || t.word == "pm"):
		c.hour = half(c.hour, t.word[0])
		return c, nil
	case t.kind == 'a':
		return nil, t.want("expected Z/am/pm")
	}
	return nil, t.want("expected timezone")
}

// zone reads an offset: 0200 or 02:00.
func (p *dateParser) zone(c *clock, west bool) error {
	h, err := p.number()
	if err != nil {
		return err
	}
	m := h % 100
	if p.peek().kind == ':' {
		p.next()
		if m, err = p.number(); err != nil {
			return err
		}
	} else {
		h /= 100
	}
	seconds := 60 * (m + 60*h)
	if west {
		seconds = -seconds
	}
	c.zone = time.FixedZone("", seconds)
	return nil
}

// dotTime reads minutes after a dot, and am or pm.
func (p *dateParser) dotTime(hour int) (*clock, error) {
	m, err := p.number()
	if err != nil {
		return nil, err
	}
	t := p.next()
	switch {
	case t.kind == 0:
	case t.kind == 'a' && (t.word == "am" || t.word == "pm"):
		hour = half(hour, t.word[0])
	default:
		return nil, t.want("expected am/pm")
	}
	return &clock{hour: hour, min: m}, nil
}
