package clock

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones do not depend on the machine
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func at(t *testing.T, text string, z *time.Location) time.Time {
	t.Helper()
	got, err := time.ParseInLocation("2006-01-02 15:04", text, z)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNext(t *testing.T) {
	for _, c := range []struct{ schedule, zone, after, want string }{
		{"30 9 * * mon-fri", "Europe/Berlin", "2026-11-13 09:30", "2026-11-16 09:30 CET"},
		{"@hourly", "UTC", "2026-11-16 05:00", "2026-11-16 06:00 UTC"},
		{"*/20 8-9 * * *", "UTC", "2026-11-16 08:40", "2026-11-16 09:00 UTC"},
		{"0 12 13 * fri", "UTC", "2026-11-01 00:00", "2026-11-06 12:00 UTC"}, // either is enough, as in cron
		{"0 0 29 2 *", "UTC", "2097-01-01 00:00", "2104-02-29 00:00 UTC"},
		{"0 18 l * *", "UTC", "2028-02-01 00:00", "2028-02-29 18:00 UTC"},
		{"0 18 1,l * *", "UTC", "2026-11-30 18:00", "2026-12-01 18:00 UTC"},
		{"0 0 * * 7", "UTC", "2026-11-16 00:00", "2026-11-22 00:00 UTC"},
		{"every weekday at 9:30", "Europe/Berlin", "2026-11-13 12:00", "2026-11-16 09:30 CET"},
		{"every monday and thursday at 8", "UTC", "2026-11-16 08:00", "2026-11-19 08:00 UTC"},
		{"every month on the last day at 18:00", "UTC", "2026-11-16 00:00", "2026-11-30 18:00 UTC"},
		{"every month on the 1st and the 15th at 6:00", "UTC", "2026-11-16 00:00", "2026-12-01 06:00 UTC"},
		{"every day at 9:00 and 17:00", "UTC", "2026-11-16 09:00", "2026-11-16 17:00 UTC"},
		{"every 15m", "UTC", "2026-11-16 00:20", "2026-11-16 00:30 UTC"},
		{"every 3 days", "Europe/Berlin", "2026-11-18 00:00", "2026-11-19 00:00 CET"},
		{"every week", "UTC", "2026-11-16 00:01", "2026-11-23 00:00 UTC"},
		// clocks go forward: half past two is not on the wall, so it comes when the gap ends; and not twice with three o'clock
		{"30 2 * * *", "Europe/Berlin", "2026-03-29 00:00", "2026-03-29 03:00 CEST"},
		{"30 2 * * *", "Europe/Berlin", "2026-03-29 03:00", "2026-03-30 02:30 CEST"},
		{"0,30 2,3 * * *", "Europe/Berlin", "2026-03-29 03:00", "2026-03-29 03:30 CEST"},
		// clocks go back: half past two comes twice, and counts the first time
		{"30 2 * * *", "Europe/Berlin", "2026-10-25 00:00", "2026-10-25 02:30 CEST"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25 03:00", "2026-10-26 02:30 CET"},
		// a day that was left out altogether
		{"0 9 30 12 *", "Pacific/Apia", "2011-12-29 12:00", "2011-12-31 00:00 +14"},
	} {
		z := zone(t, c.zone)
		s, err := Parse(c.schedule, z, at(t, "2026-11-16 00:00", z))
		if err != nil {
			t.Errorf("%s: %v", c.schedule, err)
			continue
		}
		got, ok := s.Next(at(t, c.after, z))
		if text := got.In(z).Format("2006-01-02 15:04 MST"); !ok || text != c.want {
			t.Errorf("%s in %s after %s: %s, want %s", c.schedule, c.zone, c.after, text, c.want)
		}
	}
}

func TestWhatIsNoScheduleIsRefused(t *testing.T) {
	for text, why := range map[string]string{
		"": "missing", "every": "every what", "every monday": "at what time", "every blue at 9": "no day", "every day at 25": "hour",
		"every day at 9:61": "minute",
		"every day at":      "no time", "every day at 9:00 and 9:30": "same minutes", "every 0 minutes": "between", "every 1ms": "between",
		"every 3 moons":    "no unit",
		"every month at 9": "on which day", "every month on the 32nd at 9": "no day of a month", "* * * *": "five fields", "60 * * * *": "minute",
		"5-1 * * * *": "backwards",
		"* * 30 2 *":  "never comes", "* * * * mon#2": "weekday", "*/0 * * * *": "step", "every 99999999999999 days": "between",
		"* * * * " + strings.Repeat("1,", 200): "at most",
		"@reboot":                              "five fields", "+5 * * * *": "minute", "every -5m": "between",
	} {
		if _, err := Parse(text, time.UTC, time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", text, err, why)
		}
	}
	if _, err := Parse("@daily", nil, time.Unix(0, 0)); err == nil {
		t.Error("a schedule without a zone passed")
	}
}

// moments finds all of a calendar's moments by looking at every minute that passes, and at the wall's clock in each.
func moments(c *calendar, from, to time.Time, z *time.Location) (out []time.Time) {
	seen := map[string]bool{}
	wall := func(t time.Time) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
	}
	matches := func(w time.Time) bool {
		return c.holds(dateOf(w)) && c.hours.has(w.Hour()) && c.minutes.has(w.Minute())
	}
	var before time.Time
	for t := from; t.Before(to); t = t.Add(time.Minute) {
		w := wall(t.In(z))
		due := matches(w)
		if !c.everyHour() {
			due = due && !seen[w.String()]
			for gap := before.Add(time.Minute); !before.IsZero() && gap.Before(w); gap = gap.Add(time.Minute) {
				due = due || matches(gap)
			}
		}
		seen[w.String()] = true
		if due {
			out = append(out, t)
		}
		before = w
	}
	return out
}

// Whatever the schedule and the zone, the moments are those that a watcher of the wall's clock would count.
func TestNextIsWhatTheWallShows(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	field := func(low, top int) string {
		switch r.IntN(3) {
		case 0:
			return "*"
		case 1:
			return fmt.Sprintf("%d", low+r.IntN(top-low+1))
		}
		return fmt.Sprintf("*/%d", 1+r.IntN(top))
	}
	for _, c := range []struct{ zone, around string }{
		{"Europe/Berlin", "2026-03-29"}, {"Europe/Berlin", "2026-10-25"}, {"America/New_York", "2026-11-01"},
		{"Australia/Lord_Howe", "2026-04-05"},
		{"Australia/Lord_Howe", "2026-10-04"}, {"America/Havana", "2026-11-01"}, {"America/Havana", "2026-03-08"}, {"Africa/Cairo", "2026-10-30"},
		{"Africa/Cairo", "2026-04-24"}, {"America/Asuncion", "2024-03-24"}, {"Pacific/Apia", "2011-12-30"}, {"Asia/Kolkata", "2026-01-01"},
	} {
		z := zone(t, c.zone)
		mid := at(t, c.around+" 00:00", z)
		from, to := mid.Add(-50*time.Hour), mid.Add(50*time.Hour)
		for range 6 {
			text := fmt.Sprintf("%s %s %s * %s", field(0, 59), field(0, 23), field(1, 28), field(0, 6))
			s, err := Parse(text, z, from)
			if err != nil {
				t.Fatal(err)
			}
			want := moments(s.cal, from, to, z)
			var got []time.Time
			for next, ok := s.Next(from.Add(-time.Minute)); ok && next.Before(to); next, ok = s.Next(next) {
				got = append(got, next)
			}
			if a, b := fmt.Sprint(want), fmt.Sprint(inZone(got, from.Location())); a != b {
				t.Fatalf("%s in %s around %s:\nwatched %s\n   next %s", text, c.zone, c.around, a, b)
			}
		}
	}
}

func inZone(all []time.Time, z *time.Location) (out []time.Time) {
	for _, t := range all {
		out = append(out, t.In(z))
	}
	return out
}

// A laptop slept for a day, and a thousand moments passed.
func TestADayOfSleep(t *testing.T) {
	start := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	now := start.Add(1000 * time.Minute)
	s, err := Parse("every 1m", time.UTC, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m           Misfire
		run, missed int
	}{
		{Misfire{Policy: Skip}, 1, 999}, // the thousandth is due this very moment
		{Misfire{Policy: Skip, Grace: 2 * time.Minute}, 3, 997},
		{Misfire{Policy: Once}, 1, 999},
		{Misfire{Policy: CatchUp, Most: 5}, 5, 995},
		{Misfire{Policy: CatchUp, Most: 100}, 100, 900},
	} {
		if err := c.m.Check(); err != nil {
			t.Fatal(err)
		}
		due := Plan(s, start, now, c.m)
		if len(due.Run) != c.run || due.Missed != c.missed || due.AtLeast || !due.Next.Equal(now.Add(time.Minute)) {
			t.Errorf("%+v: %d runs, %d missed, next %v", c.m, len(due.Run), due.Missed, due.Next)
		}
		if !due.First.Equal(start.Add(time.Minute)) || !due.Last.Equal(due.Run[0].Add(-time.Minute)) || !due.Run[len(due.Run)-1].Equal(now) {
			t.Errorf("%+v: missed %v to %v, runs %v", c.m, due.First, due.Last, due.Run)
		}
		if again := Plan(s, now, now, c.m); len(again.Run) != 0 || again.Missed != 0 || !again.First.IsZero() {
			t.Errorf("%+v: asked again: %+v", c.m, again)
		}
	}
}

// Two years of seconds are not walked through one by one.
func TestAnAgeOfSleepIsBounded(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := Parse("every 1s", time.UTC, start)
	if err != nil {
		t.Fatal(err)
	}
	due := Plan(s, start, start.AddDate(2, 0, 0), Misfire{Policy: Once})
	if len(due.Run) != 1 || !due.AtLeast || due.Missed > 2*maxLook {
		t.Errorf("%d runs, %d missed, at least %v", len(due.Run), due.Missed, due.AtLeast)
	}
}

func TestAPolicyThatSaysNothingIsRefused(t *testing.T) {
	for _, m := range []Misfire{{}, {Policy: "often"}, {Policy: CatchUp}, {Policy: CatchUp, Most: 101}, {Policy: Skip, Grace: -1}} {
		if m.Check() == nil {
			t.Errorf("%+v passed", m)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"30 9 * * mon-fri", "every month on the last day at 18:00", "every 15m", "@daily", "*/7 1,2 l * 7",
		"every 3 days"} {
		f.Add(s)
	}
	start := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text, time.UTC, start)
		if err != nil {
			return
		}
		next, ok := s.Next(start)
		if !ok || !next.After(start) {
			t.Errorf("%q: %v %v", text, next, ok)
		}
	})
}
