package automation

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/automation/wire"
)

// Time passes here for the worker itself, which nobody calls: it sleeps until something is due, and is away while the laptop sleeps.

// A house that is shut for a day, in which a thousand moments pass, deals with them by itself when it is back: none is forgotten, and no
// more runs begin than the policy says. What comes then is on time.
func TestALaptopSleepsADay(t *testing.T) {
	for _, c := range []struct {
		misfire, more string
		runs          int
	}{{"skip", "", 0}, {"once", "", 1}, {"catch-up", "catch_up = 5", 5}} {
		t.Run(c.misfire, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				h.switchOn(fmt.Sprintf(often, "every 80s", c.misfire, c.more))
				h.close()
				time.Sleep(24*time.Hour + 70*time.Second) // the last moment was 70 s ago: late
				h.open(0)
				time.Sleep(time.Second)
				runs, skipped, rows := h.dealt()
				if runs != c.runs || runs+skipped != 1080 || rows > 6 {
					t.Errorf("%d runs and %d skipped in %d rows", runs, skipped, rows)
				}
				h.close()
				h.open(0) // nothing is due again
				time.Sleep(time.Second)
				if again, more, _ := h.dealt(); again != runs || more != skipped {
					t.Errorf("started again it made %d runs and %d skipped", again, more)
				}
				time.Sleep(2 * 80 * time.Second)
				if now, _, _ := h.dealt(); now != runs+2 {
					t.Errorf("two moments later there were %d runs after %d", now, runs)
				}
				all := do(h, wire.Runs, wire.RunsIn{Name: "all", Limit: 100}).Runs
				if open := slices.DeleteFunc(slices.Clone(all), isOver); len(all) != runs+2 || len(open) > 0 {
					t.Errorf("of %d runs there are %d, and %d go on", runs+2, len(all), len(open))
				}
			})
		})
	}
}

// Half past two comes once a day for a worker that is awake all the time, also on the days on which clocks are put forward and back; and
// when it comes is what a watch on the wall shows.
func TestAWorkerIsAwakeAsClocksAreChanged(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before time.Time
		at     []string
	}{
		{time.Date(2000, 3, 25, 12, 0, 0, 0, berlin), []string{"2000-03-26 03:00 CEST", "2000-03-27 02:30 CEST"}},
		{time.Date(2000, 10, 28, 12, 0, 0, 0, berlin), []string{"2000-10-29 02:30 CEST", "2000-10-30 02:30 CET"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(c.before))
			h := newHouse(t)
			h.switchOn(fmt.Sprintf(often, "every day at 2:30", "once", ""))
			time.Sleep(48 * time.Hour)
			ticks := do(h, wire.Ticks, wire.NameIn{Name: "all"}).Ticks // the newest first
			if len(ticks) != len(c.at) {
				t.Fatalf("from %s on there are %+v", c.before, ticks)
			}
			for i, want := range c.at {
				k := ticks[len(ticks)-1-i]
				if got := k.Due.In(berlin).Format("2006-01-02 15:04 MST"); got != want || k.Run == "" || k.At.Sub(k.Due) > time.Second {
					t.Errorf("due %s, dealt with at %s with run %q; want %s", got, k.At, k.Run, want)
				}
			}
		})
	}
}

// Two servers on one database, both awake, begin one run of each moment.
func TestTwoWorkersFireOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "t.db")
		make := func() *house {
			h := &house{t: t, file: file, outside: &outside{acted: map[string]int{}}, beside: true}
			h.open(0)
			t.Cleanup(h.close)
			return h
		}
		a, b := make(), make()
		a.switchOn(fmt.Sprintf(often, "every 80s", "once", ""))
		const moments = 12
		time.Sleep(moments*80*time.Second + time.Second)
		if runs, skipped, rows := b.dealt(); runs != moments || skipped != 0 || rows != moments {
			t.Errorf("%d runs and %d skipped in %d rows", runs, skipped, rows)
		}
		if n := len(do(b, wire.Runs, wire.RunsIn{Name: "all", Limit: 500}).Runs); n != moments {
			t.Errorf("there are %d runs of %d moments", n, moments)
		}
	})
}
