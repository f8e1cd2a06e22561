package automation

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/automation/wire"
)

const often = `
name = "all"
[limits]
runs = 1000
[[trigger]]
id = "often"
schedule = %q
zone = "Europe/Berlin"
misfire = %q
%s
[[node]]
id = "mark"
[node.operation]
name = "mark.add"
input = { text = "due" }
`

// asleep is a house whose clock the test moves, as a laptop's is that sleeps.
func asleep(t *testing.T, at time.Time) (h *house, wakeAt func(time.Time)) {
	var now atomic.Int64
	now.Store(at.UnixMicro())
	h = newHouseAt(t, func() time.Time { return time.UnixMicro(now.Load()) })
	return h, func(t time.Time) {
		now.Store(t.UnixMicro())
		h.must(h.fire(context.Background()))
	}
}

// dealt counts what is written about moments: those with a run, and those without.
func (h *house) dealt() (runs, skipped, rows int) {
	for _, k := range do(h, wire.Ticks, wire.NameIn{Name: "all"}).Ticks {
		rows++
		if k.Run != "" {
			runs += k.Count
		} else if skipped += k.Count; k.Why == "" {
			h.t.Errorf("a tick without a run does not say why: %+v", k)
		}
	}
	return runs, skipped, rows
}

// A laptop that slept a day, with more than a thousand moments due, neither forgets nor floods: each is a run or is told of.
func TestADayOfSleep(t *testing.T) {
	begin := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		misfire, more string
		runs          int
	}{{"skip", "", 0}, {"once", "", 1}, {"catch-up", "catch_up = 5", 5}} {
		t.Run(c.misfire, func(t *testing.T) {
			h, wakeAt := asleep(t, begin)
			a := do(h, wire.Add, wire.AddIn{Text: fmt.Sprintf(often, "every 80s", c.misfire, c.more)})
			do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
			wakeAt(begin.Add(24*time.Hour + 70*time.Second)) // the last moment was 70 s ago: late
			runs, skipped, rows := h.dealt()
			if runs != c.runs || runs+skipped != 1080 || rows > 6 {
				t.Errorf("%d runs and %d skipped in %d rows", runs, skipped, rows)
			}
			wakeAt(begin.Add(24*time.Hour + 75*time.Second)) // nothing is due again
			if again, more, _ := h.dealt(); again != runs || more != skipped {
				t.Errorf("looking again made %d runs and %d skipped", again, more)
			}
			wakeAt(begin.Add(24*time.Hour + 81*time.Second)) // on time
			if now, _, _ := h.dealt(); now != runs+1 {
				t.Errorf("on time there were %d runs after %d", now, runs)
			}
		})
	}
}

// Where clocks are put forward and back, half past two comes once a day all the same.
func TestClocksArePutForwardAndBack(t *testing.T) {
	for _, first := range []time.Time{time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC), time.Date(2026, 10, 23, 12, 0, 0, 0, time.UTC)} {
		h, wakeAt := asleep(t, first)
		a := do(h, wire.Add, wire.AddIn{Text: fmt.Sprintf(often, "every day at 2:30", "once", "")})
		do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
		for hour := range 4 * 24 {
			wakeAt(first.Add(time.Duration(hour+1) * time.Hour))
		}
		if runs, skipped, _ := h.dealt(); runs != 4 || skipped != 0 {
			t.Errorf("from %s on there were %d runs and %d skipped in four days", first, runs, skipped)
		}
	}
}

// What is due while as many runs are open as may be is told of, and switched off nothing is due.
func TestATickSaysWhyItBeganNothing(t *testing.T) {
	begin := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	h, wakeAt := asleep(t, begin)
	text := fmt.Sprintf(often, "every 80s", "once", "")
	text = strings.ReplaceAll(text, "runs = 1000", "runs = 1")
	text = strings.ReplaceAll(text, "[node.operation]\nname = \"mark.add\"\ninput = { text = \"due\" }", "[node.wait]\nfor = \"6h\"")
	a := do(h, wire.Add, wire.AddIn{Text: text})
	do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	wakeAt(begin.Add(81 * time.Second))
	wakeAt(begin.Add(161 * time.Second))
	if runs, skipped, _ := h.dealt(); runs != 1 || skipped != 1 {
		t.Errorf("%d runs and %d skipped", runs, skipped)
	}
	do(h, wire.Off, wire.NameIn{Name: "all"})
	wakeAt(begin.Add(time.Hour))
	if runs, skipped, _ := h.dealt(); runs != 1 || skipped != 1 {
		t.Errorf("switched off there are %d runs and %d skipped", runs, skipped)
	}
}
