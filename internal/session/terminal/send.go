package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// drivable finds an open session that generic tools may drive.
func (d *Driver) drivable(ctx context.Context, name string) (*row, error) {
	r, err := d.named(ctx, op.CallerFrom(ctx).Tenant, strings.TrimPrefix(name, Prefix))
	if err != nil {
		return nil, err
	}
	if !op.May(ctx, "session.read", at(r.Session)) {
		return nil, op.NoSuch("session", name)
	}
	if r.Relay != "" {
		return nil, owned(r)
	}
	return r, nil
}

// driven refuses a session that would open or close another one than its own. One whose row was changed in the database can be closed.
func (d *Driver) driven(ctx context.Context, r *row) error {
	s, err := d.room.AsItIs(ctx, r.Tenant, r.Session)
	if err != nil {
		return err
	}
	return s.DrivenBy(op.CallerFrom(ctx))
}

func (d *Driver) send(ctx context.Context, in SendIn) (SendOut, error) {
	r, err := d.drivable(ctx, in.Name)
	if err != nil {
		return SendOut{}, err
	}
	return d.Send(ctx, r.Session, in)
}

// Send prompts a session as the caller of ctx and waits a bounded time for the end of the turn.
func (d *Driver) Send(ctx context.Context, id string, in SendIn) (SendOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	if op.CallerFrom(ctx).Session == id {
		return SendOut{}, fault.New(fault.Conflict, "session.send", "a session that sends to itself would wait for itself")
	}
	s, err := d.room.Get(ctx, tenant, id)
	if err != nil {
		return SendOut{}, err
	}
	agent, _, _ := strings.Cut(s.Model, "/")
	if err := agents.Check(agent, in.Model, in.Effort); err != nil {
		return SendOut{}, err
	}
	cursor, turn := int64(0), ""
	if in.Cursor != nil {
		cursor = *in.Cursor
	}
	if in.Text != "" {
		if err := CheckText(in.Text); err != nil {
			return SendOut{}, err
		}
		live := d.present(ctx, id)
		if live == nil || live.view().State.Gone() {
			return SendOut{}, fault.New(fault.Conflict, "session.send", "%s is not live", in.Name).
				WithNext("start it again in the same conversation: tandem session open %s --resume", strings.TrimPrefix(in.Name, Prefix))
		}
		if err := live.hearsAs(ctx, s.For(op.CallerFrom(ctx))); err != nil {
			return SendOut{}, err
		}
		if in.Cursor == nil {
			cursor = s.Events
		}
		p := session.PromptIn{ID: id, Text: in.Text, Options: session.Options{Effort: in.Effort}}
		if in.Model != "" {
			p.Options.Model = agent + "/" + in.Model
		}
		t, err := op.Do(ctx, d.gate, session.SessionPrompt, p)
		if err != nil {
			return SendOut{}, err
		}
		turn = t.ID
	}
	wait := d.Wait
	if in.Wait != nil {
		wait = min(time.Duration(max(*in.Wait, 0))*time.Millisecond, 10*time.Minute)
	}
	t, err := d.await(ctx, tenant, id, turn, wait)
	if ctx.Err() != nil { // the server ends, and the program goes on: who waits is told where the turn stands, while there is a moment
		short, end := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer end()
		waited := turn
		if t != nil {
			waited = t.ID // another one may be open by now
		}
		if ctx = short; waited != "" {
			t, err = d.room.Turn(ctx, tenant, waited)
		} else {
			t, err = d.room.Next(ctx, tenant, id)
		}
	}
	if err != nil {
		return SendOut{}, err
	}
	only := ""
	if in.Cursor == nil {
		only = turn
	}
	return d.report(ctx, id, in.Name, t, cursor, only)
}

// await waits for a turn (any open one when turn is empty) to end or to need somebody.
func (d *Driver) await(ctx context.Context, tenant, id, turn string, wait time.Duration) (t *session.Turn, err error) {
	moves := d.room.Moves(tenant, id)
	defer moves.Close()
	tell, end := d.teller(ctx, id), time.Now().Add(wait)
	for {
		next, late := moves.Next(), !time.Now().Before(end)
		if moves.New() || late {
			if turn == "" {
				if t, err = d.room.Next(ctx, tenant, id); err != nil || t == nil {
					return t, err
				}
				turn = t.ID
			} else if t, err = d.room.Turn(ctx, tenant, turn); err != nil {
				return nil, err
			}
			waits := t.State == session.Waiting && !t.Cancel // an ask that a cancelled turn still filed goes with it
			if t.State.Ended() || waits || late {
				return t, nil
			}
		}
		tell()
		select {
		case <-ctx.Done():
			return t, nil
		case <-next:
		case <-time.After(min(glanceAtSeat, time.Until(end))):
		}
	}
}

// glanceAtSeat is how often whoever waits is told what the program does now: that is in memory, and no row.
const glanceAtSeat = 100 * time.Millisecond

// teller tells whoever waits what the program does, when that changes and every few seconds.
func (d *Driver) teller(ctx context.Context, id string) func() {
	var last string
	var next time.Time
	began := time.Now()
	return func() {
		s := d.live(id)
		if s == nil {
			return
		}
		v := s.view()
		now := strings.TrimSpace(string(v.State) + " " + v.Detail)
		if now == last && time.Now().Before(next) {
			return
		}
		last, next = now, time.Now().Add(5*time.Second)
		op.Progress(ctx, fmt.Sprintf("%s, %d s", now, int(time.Since(began).Seconds())))
	}
}

// report is what a session said behind a place, or only in one turn.
func (d *Driver) report(ctx context.Context, id, name string, t *session.Turn, cursor int64, only string) (SendOut, error) {
	rows, err := d.rows(ctx, "tenant = ? AND session = ?", op.CallerFrom(ctx).Tenant, id)
	if err != nil || len(rows) == 0 {
		return SendOut{}, err
	}
	v := rows[0].Seat
	if s := d.live(id); s != nil {
		v = s.view()
	}
	out := SendOut{Name: name, Status: "idle", Idle: true, State: v.State, Signal: v.Signal, Cursor: cursor}
	var said []string
	for {
		page, err := op.Do(ctx, d.gate, session.SessionEvents, session.EventsIn{ID: id, After: out.Cursor, Limit: 1000})
		if err != nil {
			return SendOut{}, err
		}
		events := page.Events
		for _, e := range events {
			out.Cursor = e.Seq
			if e.Type != session.EventMessage {
				continue
			}
			var m session.Message
			if err := json.Unmarshal(e.Body, &m); err != nil {
				return SendOut{}, err
			}
			if text := words(m); m.Role == session.RoleAssistant && text != "" && (only == "" || m.Turn == only) {
				said = append(said, text)
			}
		}
		if len(events) < 1000 {
			break
		}
	}
	out.Report = strings.Join(said, "\n\n")
	if v.State.Gone() {
		out.Status, out.Reason = string(v.State), v.Detail
	}
	if t == nil {
		return out, nil
	}
	out.Turn, out.Reason, out.Ask = t.ID, t.Reason, t.Ask
	out.Idle = t.State.Ended()
	switch t.State {
	case session.Done:
		out.Status, out.Signal = "done", v.EndedBy
	case session.Failed:
		out.Status, out.Signal = "failed", v.EndedBy
	case session.Cancelled:
		out.Status, out.Signal = "interrupted", v.EndedBy
	case session.Waiting:
		out.Status = "waiting"
	default:
		out.Status = "running"
	}
	return out, nil
}

func words(m session.Message) string {
	var all []string
	for _, b := range m.Blocks {
		if b.Text != "" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}

func owned(r *row) error {
	return fault.New(fault.Conflict, "session", "%s belongs to the relay %s", r.Name, r.Relay).
		WithNext("steer it with the relay tool: inject, enqueue or stop")
}
