package ui

import (
	"fmt"
	"time"
)

// Ago says how far t is from now in the way people speak: "3 min ago", "in 2 h".
// The panel's script keeps it true while the page is open, by the same steps.
func Ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	future := d < 0
	if future {
		d = -d
	}
	if d < 5*time.Second {
		return "just now"
	}
	var s string
	switch {
	case d < time.Minute:
		s = fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		s = fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		s = fmt.Sprintf("%d h", int(d.Hours()))
	case d < 60*24*time.Hour:
		s = fmt.Sprintf("%d d", int(d.Hours()/24))
	default:
		return t.UTC().Format("2 Jan 2006")
	}
	if future {
		return "in " + s
	}
	return s + " ago"
}

// Stamp is a moment to the second, in UTC.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// Count writes a number with thin groups of three: 12 408.
func Count(n int64) string {
	s := fmt.Sprint(n)
	neg := ""
	if n < 0 {
		neg, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return neg + s
}
