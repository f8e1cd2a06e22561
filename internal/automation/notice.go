package automation

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// listener is an event trigger of a version that is switched on, and up to which event it was dealt with.
type listener struct {
	tenant, name, id, event, actor string
	seq                            int64
}

func (l *listener) key() string { return l.tenant + "/" + l.name + "/" + l.id }

// behind is how many events a listener may be ahead of what is written down of it: after a restart it reads those again.
const behind = 1000

// Noticed has event triggers look at the journal, which grew.
func (r *Room) Noticed() {
	r.mu.Lock()
	r.grew = true
	waits := r.listens
	r.mu.Unlock()
	if waits {
		r.rouse()
	}
	r.stirFolder("")
}

// rearm has triggers looked at, which are others from now on.
func (r *Room) rearm() {
	r.mu.Lock()
	r.grew, r.listens = true, true
	clear(r.rests)
	r.watches, r.rewatch = true, true
	r.mu.Unlock()
	r.rouse()
	r.stirFolder("")
}

// listen deals with the events that triggers wait for, each listener as its automation: what that may not read begins nothing.
func (r *Room) listen(ctx context.Context) error {
	if !r.toListen() && !r.Shared {
		return nil
	}
	rows, err := r.DB.Query(ctx, `SELECT t.tenant, t.name, t.trigger_id, t.event, t.seq, a.actor FROM automation_trigger t JOIN automation a
		ON a.tenant = t.tenant AND a.name = t.name WHERE t.event <> '' AND a.live <> ''`)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (l listener, err error) {
		return l, rows.Scan(&l.tenant, &l.name, &l.id, &l.event, &l.seq, &l.actor)
	})
	r.mu.Lock()
	if err != nil {
		r.grew = true // it is looked for again
		r.mu.Unlock()
		return err
	}
	r.listens = len(all) > 0
	rests := maps.Clone(r.rests)
	r.mu.Unlock()
	for _, l := range all {
		if _, rests := rests[l.key()]; rests {
			continue
		}
		if err := r.hearEvents(ctx, l); err != nil && ctx.Err() == nil {
			r.Log.Error("events are not heard", "automation", l.name, "trigger", l.id, "err", err)
			r.rest(ctx, l, err)
		}
	}
	return nil
}

// toListen reports whether there is something to look for: the journal grew, or a listener has rested. It is asked once.
func (r *Room) toListen() (yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	yes, r.grew = r.grew, false
	for key, until := range r.rests {
		if !until.After(r.DB.Now()) {
			delete(r.rests, key)
			yes = true
		}
	}
	return yes
}

// rest has a listener that failed looked at again in a while, and not before: a denial is an event itself, and would wake it at once.
func (r *Room) rest(ctx context.Context, l listener, failure error) {
	wait, why := patience(l.name, failure)
	now := r.DB.Now()
	r.mu.Lock()
	r.rests[l.key()] = now.Add(wait)
	r.mu.Unlock()
	if err := r.DB.Write(ctx, func(tx *db.Tx) error {
		return leaveFailure(tx, trigger{tenant: l.tenant, name: l.name, id: l.id, next: now}, why)
	}); err != nil && ctx.Err() == nil {
		r.Log.Error("why events are not heard cannot be written down", "automation", l.name, "trigger", l.id, "err", err)
	}
}

// restsUntil is when the next listener has rested, zero when none rests.
func (r *Room) restsUntil() (first time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, until := range r.rests {
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	return first
}

func (r *Room) hearEvents(ctx context.Context, l listener) error {
	c, err := r.As(ctx, l.tenant, l.actor)
	if err != nil {
		return err
	}
	key := l.key()
	from := max(l.seq, r.heardTo[key])
	want, prefix := l.event, ""
	if p, some := strings.CutSuffix(l.event, "*"); some {
		noun, _, _ := strings.Cut(l.event, ".")
		want, prefix = noun+".*", p
	}
	for {
		// With all that it may see: events about what it may not are left out.
		out, err := op.Do(op.WithCaller(ctx, c), r.Rooms, journal.AuditLog, journal.LogIn{Type: want, After: from, Limit: 200})
		if err != nil {
			return err
		}
		for _, e := range out.Entries {
			if !strings.HasPrefix(e.Type, prefix) || e.Phase != journal.Done && e.Phase != journal.Outcome || byAutomation(e) {
				continue
			}
			doer := c
			doer.Scope = []string{"automation.run"}
			if _, err := op.Do(op.WithCaller(ctx, doer), r.Rooms, wire.Notice, wire.NoticeIn{Name: l.name, Trigger: l.id, Seq: e.Seq, Type: e.Type,
				Resource: e.Resource, Actor: e.Actor}); err != nil {
				return err
			}
			from = e.Seq
		}
		if from = max(from, out.At); !out.More {
			from = max(from, out.Head)
			break
		}
	}
	r.heardTo[key] = from
	if from-l.seq < behind {
		return nil
	}
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE automation_trigger SET seq = ? WHERE tenant = ? AND name = ? AND trigger_id = ? AND seq < ?", from, l.tenant,
			l.name,
			l.id, from)
		return err
	})
}

// byAutomation reports whether an automation did it: that begins no run, so that none feeds itself or another for ever.
func byAutomation(e journal.Entry) bool {
	acts := func(who string) bool { return strings.HasPrefix(who, "service:automation.") }
	return strings.HasPrefix(e.Actor, "automation.") || slices.ContainsFunc(e.For, acts)
}

func (r *Room) notice(ctx context.Context, tx *db.Tx, in wire.NoticeIn) (wire.TickOut, error) {
	out := wire.TickOut{}
	c := op.CallerFrom(ctx)
	if c.Door != op.DoorInside || c.Name != actorName(in.Name) {
		return out, fault.New(fault.Denied, string(wire.Notice), "the server does this by itself, and nobody else").
			WithNext("to begin a run now: tandem automation run %s", in.Name)
	}
	s, err := find(tx, c.Tenant, in.Name)
	if err != nil || s == nil {
		return out, orNone(err, in.Name)
	}
	n, err := tx.Changed("UPDATE automation_trigger SET seq = ? WHERE tenant = ? AND name = ? AND trigger_id = ? AND event <> '' AND seq < ?",
		in.Seq,
		c.Tenant, s.Name, in.Trigger, in.Seq)
	if err != nil || n == 0 { // it was dealt with
		return out, err
	}
	v, err := versionIn(tx, c.Tenant, s.Name, s.Live)
	if err != nil || v == nil {
		return out, orNone(err, in.Name)
	}
	a, err := r.read(v)
	if err != nil {
		return out, err
	}
	begin := wire.BeginIn{Name: s.Name, Input: map[string]any{}}
	if a.Inputs["event"] != nil {
		begin.Input["event"] = in.Type
	}
	if a.Inputs["body"] != nil {
		begin.Input["body"] = map[string]any{"type": in.Type, "resource": in.Resource, "actor": in.Actor, "seq": in.Seq}
	}
	why := ""
	begun, err := r.beginIn(ctx, tx, begin, origin{cause: fmt.Sprintf("event %d, %s", in.Seq, in.Type)})
	switch {
	case err == nil:
		out.Runs = []string{begun.ID}
	case fault.KindOf(err) == fault.Internal:
		return out, err
	default:
		why = said(err)
		out.Skipped = 1
	}
	t := trigger{tenant: s.tenant, name: s.Name, id: in.Trigger}
	return out, leaveTick(tx, t, []time.Time{tx.Now()}, 1, strings.Join(out.Runs, ""), why)
}
