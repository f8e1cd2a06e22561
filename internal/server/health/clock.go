package health

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/installation"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// Believed is how long a clock that was set has to go on steadily before it is taken as the right one. A start takes it at once.
const Believed = 10 * time.Minute

// unkept is how far the time that was told can be ahead of the one that was kept: a turn of the housekeeping, and what it waits for.
const unkept = time.Minute

// watch remembers how the clocks stood at the last look.
type watch struct {
	off   atomic.Int64              // nanoseconds, as told; 0 while they agree
	from  atomic.Pointer[time.Time] // by the clock that nobody sets
	jumps atomic.Int64
}

// Settle begins with the time that was told last: what had ended by then is written down as ended when the clock went back since.
func (h *Health) Settle(ctx context.Context) error {
	var seen int64
	err := h.house.DB.Read(ctx, func(tx *db.Tx) (err error) { seen, err = installation.Seen(tx); return err })
	if err != nil {
		return err
	}
	if newest, err := h.house.Journal.Newest(ctx); err != nil {
		return err
	} else if n := db.Micros(newest); n > seen {
		seen = n
	}
	was, now := db.Time(seen), h.house.DB.Now()
	h.house.DB.Steady(sinceBoot())
	if !now.Before(was) {
		return nil
	}
	if !h.house.Elder { // another machine's clock told that time, and may be ahead by a little
		h.house.Log.Warn("this machine's clock is behind that of another server", "by", was.Sub(now).String())
		return nil
	}
	if was.Sub(now) > db.Disagree { // a server that was killed may have told a later time than it kept, and called something ended by it
		was = was.Add(unkept)
	}
	h.house.DB.Hold(was)
	return h.goBack(ctx, was)
}

// goBack writes down what has ended by the time that was told until now, tells of the step, and takes the wall's clock.
func (h *Health) goBack(ctx context.Context, was time.Time) error {
	ctx = op.WithCaller(ctx, h.house.System)
	h.house.Sweep(ctx)
	ended, err := installation.End(ctx, h.house.DB, was)
	if err != nil {
		return err
	}
	h.house.DB.Agree() // from here on it is now: the next start is told this time, and ends nothing once more
	if err := h.tellClock(ctx, journal.WentBack, map[string]any{"what": "set back", "was": was, "ended": ended}); err != nil {
		return err
	}
	h.house.Log.Warn("the clock went back", "was", was, "is", h.house.DB.Now(), "ended", ended)
	return nil
}

// tellClock puts a step of the clock into the journal: times that run backwards behind it are explained by it.
func (h *Health) tellClock(ctx context.Context, about string, facts map[string]any) error {
	return h.house.DB.Write(ctx, func(tx *db.Tx) error {
		payload, err := json.Marshal(facts)
		if err != nil {
			return err
		}
		_, err = h.house.Journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "server.clock", Phase: journal.Done,
			Actor: identity.System, Resource: about, Payload: payload})
		if err != nil || about != journal.WentBack {
			return err
		}
		return installation.See(tx)
	})
}

// WatchClock looks whether the wall's clock was set, at every turn of the housekeeping.
func (h *Health) WatchClock(ctx context.Context) {
	w, now := &h.clock, time.Now()
	off := time.Duration(w.off.Load())
	state := h.house.DB.Clock()
	var err error
	switch {
	case state.Sure && off != 0:
		err = h.tellClock(ctx, "server:/clock", map[string]any{"what": "right again", "was_off_secs": int64(off.Seconds())})
		h.house.Log.Info("the clock is right again", "was_off", off.String())
		w.off.Store(0)
	case state.Sure:
	case off == 0 || (state.Off-off).Abs() > 5*time.Second:
		w.off.Store(int64(state.Off))
		w.from.Store(&now)
		w.jumps.Add(1)
		h.house.Log.Error("the clock was set", "off", state.Off.String(), "reasons", clockReason(state).Text)
		err = h.tellClock(ctx, "server:/clock", map[string]any{"what": "set", "off_secs": int64(state.Off.Seconds())})
	case now.Sub(*w.from.Load()) >= Believed:
		w.off.Store(0)
		if off < 0 {
			err = h.goBack(ctx, h.house.DB.Now())
		} else {
			h.house.DB.Agree()
			err = h.tellClock(ctx, "server:/clock", map[string]any{"what": "taken as right", "off_secs": int64(off.Seconds())})
		}
		h.house.Log.Warn("the clock is taken as right", "off", off.String(), "after", Believed.String())
	}
	if err != nil {
		h.house.Log.Error("tell of the clock", "err", err)
	}
}

// clockReason is what readiness says while the clocks disagree.
func clockReason(c db.Clock) Reason {
	how := "ahead of"
	if c.Off < 0 {
		how = "behind"
	}
	return Reason{Part: "clock", Text: fmt.Sprintf("the clock was set: it is %s %s the time that passed; until that is settled "+
		"what has ended by either is refused, and nothing is given to others", c.Off.Abs().Round(time.Second), how),
		Next: fmt.Sprintf("set the clock right (timedatectl); when it is right now, it is taken so after %d minutes, or at once: "+
			"tandem up --replace", int(Believed.Minutes()))}
}

// Keep keeps the time that was told, while somebody uses the server.
func (h *Health) Keep(ctx context.Context) error {
	if !h.house.DB.Clock().Sure {
		return nil
	}
	return h.house.DB.Write(ctx, func(tx *db.Tx) error { return installation.See(tx) })
}

// Jumps is how often the clock was set since the start.
func (h *Health) Jumps() int64 { return h.clock.jumps.Load() }

// SetAt says since when the clock is as it is, by the clock that nobody sets: for a test that does not wait so long.
func (h *Health) SetAt(since time.Time) { h.clock.from.Store(&since) }
