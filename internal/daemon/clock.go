package daemon

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

// ahead moves the daemon's clock, e.g. 2160h. Nothing but the linker sets it,
// for the proof that nothing happens by itself on a later day either.
var ahead string

// clock is the clock that every row and event gets its time from; nil is the
// system's.
func clock(ahead string) func() time.Time {
	by, err := time.ParseDuration(ahead)
	if err != nil {
		return moved
	}
	return func() time.Time { return time.Now().Add(by) }
}

// believed is how long a clock that was set has to go on steadily before it is taken as the right one. A start takes it at once.
const believed = 10 * time.Minute

// unkept is how far the time that was told can be ahead of the one that was kept: a turn of the housekeeping, and what it waits for.
const unkept = time.Minute

// clockWatch remembers how the clocks stood at the last look.
type clockWatch struct {
	off   atomic.Int64              // nanoseconds, as told; 0 while they agree
	from  atomic.Pointer[time.Time] // by the clock that nobody sets
	jumps atomic.Int64
}

// settleClock begins with the time that was told last: what had ended by then is written down as ended when the clock went back since.
func (d *Daemon) settleClock(ctx context.Context) error {
	var seen int64
	err := d.db.Read(ctx, func(tx *db.Tx) (err error) { seen, err = installation.Seen(tx); return err })
	if err != nil {
		return err
	}
	if newest, err := d.journal.Newest(ctx); err != nil {
		return err
	} else if n := db.Micros(newest); n > seen {
		seen = n
	}
	was, now := db.Time(seen), d.db.Now()
	d.db.Steady(sinceBoot())
	if !now.Before(was) {
		return nil
	}
	if !d.self.Elder { // another machine's clock told that time, and may be ahead by a little
		d.Log.Warn("this machine's clock is behind that of another server", "by", was.Sub(now).String())
		return nil
	}
	if was.Sub(now) > db.Disagree { // a server that was killed may have told a later time than it kept, and called something ended by it
		was = was.Add(unkept)
	}
	d.db.Hold(was)
	return d.goBack(ctx, was)
}

// goBack writes down what has ended by the time that was told until now, tells of the step, and takes the wall's clock.
func (d *Daemon) goBack(ctx context.Context, was time.Time) error {
	ctx = op.WithCaller(ctx, d.system())
	d.sweepAll(ctx)
	ended, err := installation.End(ctx, d.db, was)
	if err != nil {
		return err
	}
	d.db.Agree() // from here on it is now: the next start is told this time, and ends nothing once more
	if err := d.tellClock(ctx, journal.WentBack, map[string]any{"what": "set back", "was": was, "ended": ended}); err != nil {
		return err
	}
	d.Log.Warn("the clock went back", "was", was, "is", d.db.Now(), "ended", ended)
	return nil
}

// tellClock puts a step of the clock into the journal: times that run backwards behind it are explained by it.
func (d *Daemon) tellClock(ctx context.Context, about string, facts map[string]any) error {
	return d.db.Write(ctx, func(tx *db.Tx) error {
		payload, err := json.Marshal(facts)
		if err != nil {
			return err
		}
		_, err = d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "server.clock", Phase: journal.Done,
			Actor: identity.System, Resource: about, Payload: payload})
		if err != nil || about != journal.WentBack {
			return err
		}
		return installation.See(tx)
	})
}

// watchClock looks whether the wall's clock was set, at every turn of the housekeeping.
func (d *Daemon) watchClock(ctx context.Context) {
	w, now := &d.clockWatch, time.Now()
	off := time.Duration(w.off.Load())
	state := d.db.Clock()
	var err error
	switch {
	case state.Sure && off != 0:
		err = d.tellClock(ctx, "server:/clock", map[string]any{"what": "right again", "was_off_secs": int64(off.Seconds())})
		d.Log.Info("the clock is right again", "was_off", off.String())
		w.off.Store(0)
	case state.Sure:
	case off == 0 || (state.Off-off).Abs() > 5*time.Second:
		w.off.Store(int64(state.Off))
		w.from.Store(&now)
		w.jumps.Add(1)
		d.Log.Error("the clock was set", "off", state.Off.String(), "reasons", d.clockReason(state).text)
		err = d.tellClock(ctx, "server:/clock", map[string]any{"what": "set", "off_secs": int64(state.Off.Seconds())})
	case now.Sub(*w.from.Load()) >= believed:
		w.off.Store(0)
		if off < 0 {
			err = d.goBack(ctx, d.db.Now())
		} else {
			d.db.Agree()
			err = d.tellClock(ctx, "server:/clock", map[string]any{"what": "taken as right", "off_secs": int64(off.Seconds())})
		}
		d.Log.Warn("the clock is taken as right", "off", off.String(), "after", believed.String())
	}
	if err != nil {
		d.Log.Error("tell of the clock", "err", err)
	}
}

// clockReason is what readiness says while the clocks disagree.
func (d *Daemon) clockReason(c db.Clock) reason {
	how := "ahead of"
	if c.Off < 0 {
		how = "behind"
	}
	return reason{part: "clock", text: fmt.Sprintf("the clock was set: it is %s %s the time that passed; until that is settled "+
		"what has ended by either is refused, and nothing is given to others", c.Off.Abs().Round(time.Second), how),
		next: fmt.Sprintf("set the clock right (timedatectl); when it is right now, it is taken so after %d minutes, or at once: "+
			"tandem up --replace", int(believed.Minutes()))}
}

// witness keeps the time that was told, while somebody uses the server.
func (d *Daemon) witness(ctx context.Context) error {
	if !d.db.Clock().Sure {
		return nil
	}
	return d.db.Write(ctx, func(tx *db.Tx) error { return installation.See(tx) })
}
