package clock

import (
	"fmt"
	"strconv"
	"strings"
)

var monthNames = []string{"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
var dayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// nicknames are cron's words for whole lines.
var nicknames = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// readCron reads five fields: minute, hour, day of the month, month, weekday.
func readCron(words []string) (*calendar, error) {
	if line, ok := nicknames[words[0]]; ok && len(words) == 1 {
		words = strings.Fields(line)
	}
	if len(words) != 5 {
		return nil, fmt.Errorf("cron has five fields (minute, hour, day, month, weekday), this has %d", len(words))
	}
	c := &calendar{anyDay: words[2] == "*", anyWeekday: words[4] == "*"}
	if days, last := cutLast(words[2]); last {
		c.last, words[2] = true, days
	}
	for _, f := range []struct {
		name     string
		into     *set
		low, top int
		names    []string
	}{{"minute", &c.minutes, 0, 59, nil}, {"hour", &c.hours, 0, 23, nil}, {"day", &c.days, 1, 31, nil},
		{"month", &c.months, 1, 12, monthNames}, {"weekday", &c.weekdays, 0, 7, dayNames}} {
		text := words[0]
		words = words[1:]
		if text == "" { // the last day stood alone
			continue
		}
		got, err := readField(text, f.low, f.top, f.names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		*f.into = got
	}
	if c.weekdays.has(7) { // both 0 and 7 are Sunday
		c.weekdays |= 1
	}
	return c, nil
}

// cutLast takes "l", the last day of the month, out of a list.
func cutLast(text string) (rest string, last bool) {
	var kept []string
	for _, part := range strings.Split(text, ",") {
		if part == "l" {
			last = true
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ","), last
}

// readField reads a list of numbers, ranges and steps.
func readField(text string, low, top int, names []string) (set, error) {
	var all set
	for _, part := range strings.Split(text, ",") {
		bounds, step, stepped := strings.Cut(part, "/")
		by := 1
		if stepped {
			n, err := number(step, 1, top, nil)
			if err != nil {
				return 0, fmt.Errorf("step %w", err)
			}
			by = n
		}
		from, to := low, top
		if bounds != "*" {
			first, last, ranged := strings.Cut(bounds, "-")
			n, err := number(first, low, top, names)
			if err != nil {
				return 0, err
			}
			from, to = n, n
			if stepped {
				to = top
			}
			if ranged {
				if to, err = number(last, low, top, names); err != nil {
					return 0, err
				}
			}
			if to < from {
				return 0, fmt.Errorf("%q runs backwards", bounds)
			}
		}
		for n := from; n <= to; n += by {
			all |= 1 << uint(n)
		}
	}
	return all, nil
}

func number(text string, low, top int, names []string) (int, error) {
	for i, name := range names {
		if name != "" && text == name {
			return i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > top || strings.HasPrefix(text, "+") {
		return 0, fmt.Errorf("%q is not between %d and %d", text, low, top)
	}
	return n, nil
}
