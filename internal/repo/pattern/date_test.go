package pattern

import (
	"testing"
	"time"
)

// now is a Thursday.
var now = time.Date(2024, 2, 29, 13, 45, 10, 0, time.FixedZone("", 3600))

func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"2024-02-03":                    "2024-02-03T00:00:00+01:00",
		"2024-02-03 14:00":              "2024-02-03T14:00:00+01:00",
		"2024-02-03T14:00:05Z":          "2024-02-03T14:00:05Z",
		"2024-02-03 14:00:05 -0330":     "2024-02-03T14:00:05-03:30",
		"2024-02-03 14:00:05.250+01:00": "2024-02-03T14:00:05+01:00",
		"1969":                          "1969-01-01T00:00:00+01:00",
		"now":                           "2024-02-29T13:45:10+01:00",
		"yesterday":                     "2024-02-28T13:45:10+01:00",
		"yesterday 5pm":                 "2024-02-28T17:00:00+01:00",
		"tomorrow 12:30 am":             "2024-03-01T00:30:00+01:00",
		"2 days ago":                    "2024-02-27T13:45:10+01:00",
		"3 hours ago":                   "2024-02-29T10:45:10+01:00",
		"- 5 minutes":                   "2024-02-29T13:40:10+01:00",
		"1 year ago":                    "2023-02-28T00:00:00+01:00",
		"last friday":                   "2024-02-23T00:00:00+01:00",
		"friday":                        "2024-03-01T00:00:00+01:00",
		"thursday 9am":                  "2024-03-07T09:00:00+01:00",
		"last week":                     "2024-02-22T13:45:10+01:00",
		"4 July 2017":                   "2017-07-04T00:00:00+01:00",
		"july 4, 2017":                  "2017-07-04T00:00:00+01:00",
		"3/25/2023":                     "2023-03-25T00:00:00+01:00",
		"3/25/99":                       "1999-03-25T00:00:00+01:00",
		"last 3/25":                     "2023-03-25T00:00:00+01:00",
		"14.30":                         "2024-02-29T14:30:00+01:00",
		"5 pm":                          "2024-02-29T17:00:00+01:00",
	} {
		got, err := ParseDate(text, now)
		if err != nil || got.Truncate(time.Second).Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v; want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
	for text, want := range map[string]string{
		"":             "expected empty date string at the end of the input",
		"invalid date": "expected unsupported identifier as position 0..7",
		"2024-02-30":   "date could not be parsed from input",
		"2024-02":      "expected '-' at the end of the input",
		"5 parsecs":    "expected month or time unit as position 2..9",
		"2 days hence": "expected 'ago' as position 7..12",
		":5":           "date could not be parsed from input",
	} {
		if _, err := ParseDate(text, now); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

func FuzzDate(f *testing.F) {
	for _, s := range []string{"2024-02-03 14:00:05.25 +01:00", "last friday 5pm", "- 9999 years", "1/2/3 4.5am"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { ParseDate(text, now) })
}

func FuzzString(f *testing.F) {
	f.Add("glob", "a*{b,[!c-d]}?\\", "abd")
	f.Add("regex-i", "(a|b)*$", "AB")
	f.Fuzz(func(t *testing.T, kind, text, s string) {
		if p, err := New(kind, text); err == nil {
			p.Match(s)
		}
	})
}
