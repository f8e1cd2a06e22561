package ui

import (
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, "never"},
		{now.Add(-3 * time.Second), "just now"},
		{now.Add(-59 * time.Second), "59 s ago"},
		{now.Add(-90 * time.Second), "1 min ago"},
		{now.Add(-47 * time.Hour), "47 h ago"},
		{now.Add(-49 * time.Hour), "2 d ago"},
		{now.Add(-90 * 24 * time.Hour), "17 Aug 2026"},
		{now.Add(30 * time.Minute), "in 30 min"},
	} {
		if got := Ago(now, c.at); got != c.want {
			t.Errorf("%s: %q, want %q", c.at, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", -1234567: "-1\u202f234\u202f567"} {
		if got := Count(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
