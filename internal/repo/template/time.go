package template

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/text"
)

// TimeRange is a span of time.
type TimeRange struct{ Start, End repo.Timestamp }

// Time is a timestamp as a time in its own zone.
func Time(t repo.Timestamp) time.Time {
	return time.UnixMilli(t.Millis).In(time.FixedZone("", int(t.Offset)*60))
}

const defaultTime = "%Y-%m-%d %H:%M:%S.%3f %:z"

// FormatTime prints a timestamp in full.
func FormatTime(t repo.Timestamp) string {
	s, _ := Strftime(Time(t), defaultTime)
	return s
}

// RFC3339 prints a timestamp as JSON shows it.
func RFC3339(t repo.Timestamp) string {
	layout := "2006-01-02T15:04:05"
	if t.Millis%1000 != 0 {
		layout += ".000"
	}
	return Time(t).Format(layout + "Z07:00")
}

func timestampType() Type {
	t := Type{
		Name:  "Timestamp",
		Write: func(o *text.Text, v any) error { o.Str(FormatTime(v.(repo.Timestamp))); return nil },
		JSON:  func(v any) any { return RFC3339(v.(repo.Timestamp)) },
	}
	t.Methods = func() map[string]Method {
		return map[string]Method{
			"ago": Getter(StringType, func(ts repo.Timestamp) (any, error) {
				return Ago(time.Since(time.UnixMilli(ts.Millis)))
			}),
			"utc":    Field(TimestampType, func(ts repo.Timestamp) any { ts.Offset = 0; return ts }),
			"local":  localTime,
			"format": formatMethod,
			"after":  dateMethod,
			"before": dateMethod,
			"since": func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
				args, err := call.Expect(1, 1)
				if err != nil {
					return nil, err
				}
				other, err := b.Build(args[0])
				if err != nil {
					return nil, err
				}
				if other.Type != TimestampType {
					return nil, b.wrong(args[0], "Timestamp", other)
				}
				return Map(self, RangeType, func(end repo.Timestamp) (any, error) {
					start, err := other.Eval()
					if err != nil {
						return nil, err
					}
					return TimeRange{start.(repo.Timestamp), end}, nil
				}), nil
			},
		}
	}
	return t
}

func localTime(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
	if _, err := call.Expect(0, 0); err != nil {
		return nil, err
	}
	offset := b.Lang.LocalOffset
	return Pure(self, TimestampType, func(ts repo.Timestamp) any { ts.Offset = int32(offset()); return ts }), nil
}

func formatMethod(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
	args, err := call.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	format, err := b.Stringed(args[0])
	if err != nil {
		return nil, err
	}
	if inner, _ := dsl.Skip(args[0]); inner.Kind == dsl.String {
		if _, ok := Strftime(time.Time{}, inner.Name); !ok {
			return nil, dsl.Catch(args[0], func(n *dsl.Node) error { return dsl.Exprf(n.Span, "Invalid time format") })
		}
	}
	return Map(self, StringType, func(ts repo.Timestamp) (any, error) {
		f, err := format()
		if err != nil {
			return nil, err
		}
		s, ok := Strftime(Time(ts), f)
		if !ok {
			return nil, fmt.Errorf("Invalid time format: %s", f)
		}
		return s, nil
	}), nil
}

func dateMethod(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
	args, err := call.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	var date pattern.Date
	err = dsl.Catch(args[0], func(n *dsl.Node) error {
		s, err := Literal(n)
		if err != nil {
			return err
		}
		if date, err = pattern.NewDate(call.Name, s, time.Now()); err != nil {
			return dsl.Exprf(n.Span, "Invalid date pattern").With(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return Pure(self, BooleanType, func(ts repo.Timestamp) any { return date.Match(ts.Millis) }), nil
}

func rangeType() Type {
	return Type{
		Name: "TimestampRange",
		Write: func(o *text.Text, v any) error {
			r := v.(TimeRange)
			o.Str(FormatTime(r.Start) + " - " + FormatTime(r.End))
			return nil
		},
		JSON: func(v any) any {
			r := v.(TimeRange)
			return Object{{"start", RFC3339(r.Start)}, {"end", RFC3339(r.End)}}
		},
		Methods: func() map[string]Method {
			return map[string]Method{
				"start": Field(TimestampType, func(r TimeRange) any { return r.Start }),
				"end":   Field(TimestampType, func(r TimeRange) any { return r.End }),
				"duration": Getter(StringType, func(r TimeRange) (any, error) {
					s, err := inWords(time.Duration(r.End.Millis-r.Start.Millis)*time.Millisecond, time.Microsecond)
					if err == nil && s == "" {
						s = "less than a microsecond"
					}
					return s, err
				}),
			}
		},
	}
}

var errRange = errors.New("Out-of-range date")

// Ago says how long ago something was, in its largest unit.
func Ago(d time.Duration) (string, error) {
	s, err := inWords(d, time.Second)
	if err != nil {
		return "", err
	}
	if s == "" {
		return "now", nil
	}
	return s + " ago", nil
}

func inWords(d, least time.Duration) (string, error) {
	if d < 0 {
		return "", errRange
	}
	day := 24 * time.Hour
	units := []struct {
		size time.Duration
		name string
	}{
		{365*day + 5*time.Hour + 49*time.Minute + 12*time.Second, "year"}, {30*day + 10*time.Hour + 29*time.Minute + 6*time.Second, "month"},
		{7 * day, "week"}, {day, "day"}, {time.Hour, "hour"},
		{time.Minute, "minute"}, {time.Second, "second"}, {time.Millisecond, "millisecond"}, {time.Microsecond, "microsecond"},
	}
	for _, u := range units {
		if u.size < least {
			break
		}
		if n := d / u.size; n > 0 {
			if n == 1 {
				return "1 " + u.name, nil
			}
			return fmt.Sprintf("%d %ss", n, u.name), nil
		}
	}
	return "", nil
}

// Strftime formats a time in chrono's dialect; ok is false for a bad format.
func Strftime(t time.Time, format string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		pad := byte('0')
		custom := false
		if i < len(format) && strings.IndexByte("-_0", format[i]) >= 0 {
			pad, custom = format[i], true
			i++
		}
		if i >= len(format) {
			return "", false
		}
		n, ok := directive(&b, t, format[i:], pad, custom)
		if !ok {
			return "", false
		}
		i += n - 1
	}
	return b.String(), true
}

func number(b *strings.Builder, v, w int, def, pad byte, custom bool) {
	if !custom {
		pad = def
	}
	s := strconv.Itoa(v)
	if pad == '-' {
		w = 0
	}
	if pad == '_' {
		pad = ' '
	}
	for range w - len(s) {
		b.WriteByte(pad)
	}
	b.WriteString(s)
}

// directive writes what the conversion at the start of f stands for and
// returns its length.
func directive(b *strings.Builder, t time.Time, f string, pad byte, custom bool) (int, bool) {
	num := func(v, w int) { number(b, v, w, '0', pad, custom) }
	sub := func(format string) { s, _ := Strftime(t, format); b.WriteString(s) }
	h12 := (t.Hour()+11)%12 + 1
	switch f[0] {
	case 'Y':
		num(t.Year(), 4)
	case 'C':
		num(t.Year()/100, 2)
	case 'y':
		num(t.Year()%100, 2)
	case 'q':
		num((int(t.Month())-1)/3+1, 1)
	case 'm':
		num(int(t.Month()), 2)
	case 'b', 'h':
		b.WriteString(t.Format("Jan"))
	case 'B':
		b.WriteString(t.Format("January"))
	case 'd':
		num(t.Day(), 2)
	case 'e':
		number(b, t.Day(), 2, ' ', pad, custom)
	case 'a':
		b.WriteString(t.Format("Mon"))
	case 'A':
		b.WriteString(t.Format("Monday"))
	case 'w':
		num(int(t.Weekday()), 1)
	case 'u':
		num((int(t.Weekday())+6)%7+1, 1)
	case 'U':
		num((t.YearDay()+6-int(t.Weekday()))/7, 2)
	case 'W':
		num((t.YearDay()+6-(int(t.Weekday())+6)%7)/7, 2)
	case 'G':
		year, _ := t.ISOWeek()
		num(year, 4)
	case 'g':
		year, _ := t.ISOWeek()
		num(year%100, 2)
	case 'V':
		_, week := t.ISOWeek()
		num(week, 2)
	case 'j':
		num(t.YearDay(), 3)
	case 'D', 'x':
		sub("%m/%d/%y")
	case 'F':
		sub("%Y-%m-%d")
	case 'v':
		sub("%e-%b-%Y")
	case 'H':
		num(t.Hour(), 2)
	case 'k':
		number(b, t.Hour(), 2, ' ', pad, custom)
	case 'I':
		num(h12, 2)
	case 'l':
		number(b, h12, 2, ' ', pad, custom)
	case 'P':
		b.WriteString(t.Format("pm"))
	case 'p':
		b.WriteString(t.Format("PM"))
	case 'M':
		num(t.Minute(), 2)
	case 'S':
		num(t.Second(), 2)
	case 'f':
		num(t.Nanosecond(), 9)
	case 'R':
		sub("%H:%M")
	case 'T', 'X':
		sub("%H:%M:%S")
	case 'r':
		sub("%I:%M:%S %p")
	case 'Z':
		b.WriteString(t.Format("-07:00"))
	case 'z':
		b.WriteString(t.Format("-0700"))
	case 'c':
		sub("%a %b %e %H:%M:%S %Y")
	case '+':
		sub("%Y-%m-%dT%H:%M:%S%.f%:z")
	case 's':
		b.WriteString(strconv.FormatInt(t.Unix(), 10))
	case 't':
		b.WriteByte('\t')
	case 'n':
		b.WriteByte('\n')
	case '%':
		b.WriteByte('%')
	default:
		return long(b, t, f)
	}
	return 1, true
}

// long handles the conversions of several characters.
func long(b *strings.Builder, t time.Time, f string) (int, bool) {
	frac := func(digits int) string { return fmt.Sprintf("%09d", t.Nanosecond())[:digits] }
	for _, c := range []struct {
		spell string
		text  func() string
	}{
		{":::z", func() string { return t.Format("-07") }},
		{"::z", func() string { return t.Format("-07:00:00") }},
		{":z", func() string { return t.Format("-07:00") }},
		{"#z", func() string { return t.Format("-07") }},
		{".3f", func() string { return "." + frac(3) }},
		{".6f", func() string { return "." + frac(6) }},
		{".9f", func() string { return "." + frac(9) }},
		{"3f", func() string { return frac(3) }},
		{"6f", func() string { return frac(6) }},
		{"9f", func() string { return frac(9) }},
		{".f", func() string {
			switch ns := t.Nanosecond(); {
			case ns == 0:
				return ""
			case ns%1e6 == 0:
				return "." + frac(3)
			case ns%1e3 == 0:
				return "." + frac(6)
			}
			return "." + frac(9)
		}},
	} {
		if strings.HasPrefix(f, c.spell) {
			b.WriteString(c.text())
			return len(c.spell), true
		}
	}
	return 0, false
}
