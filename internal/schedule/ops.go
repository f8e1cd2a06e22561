package schedule

import (
	"context"
	"encoding/json"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/schedule/wire"
)

func place(kind wire.Kind) op.Resource {
	return op.Resource{Kind: "server", Path: "/schedule/" + string(kind)}
}

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	return []op.Op{
		wire.Set.State(op.Spec{Right: "server.admin", Present: true, People: true, Socket: true, MCP: "-",
			Doc: "Have the server copy everything, or forget old payloads, at set times.\nNeeds a person present, " +
				"and grants the server what it needs for that."},
			func(in wire.SetIn) op.Resource { return place(in.Kind) }, r.set),
		wire.Remove.State(op.Spec{Right: "server.admin", Present: true, People: true, Socket: true, MCP: "-",
			Doc: "Have the server do something no longer, and take its grant back."},
			func(in wire.KindIn) op.Resource { return place(in.Kind) }, r.remove),
		wire.Now.State(op.Spec{Right: "server.admin", Present: true, People: true, Socket: true, MCP: "-",
			Doc: "Have the server do at once what is scheduled, besides the set times.\nNeeds a person present: a copy that is made lets the " +
				"oldest go."},
			func(in wire.KindIn) op.Resource { return place(in.Kind) }, r.now),
		wire.List.Read(op.Spec{Right: "server.read", Method: "GET", Path: "/schedule", MCP: "-",
			Doc: "List what the server does by itself, when it last did it, and whether that failed."},
			func(struct{}) op.Resource { return op.Resource{Kind: "server", Path: "/schedule"} }, r.list),
		wire.Run.Effect(op.Spec{Right: "server.run", Socket: true, MCP: "-",
			Doc: "Do what is scheduled. The server alone calls it, under the grant of the schedule."},
			func(in wire.KindIn) op.Resource { return place(in.Kind) }, r.run, r.cutOff),
	}
}

func (r *Room) set(ctx context.Context, tx *db.Tx, in wire.SetIn) (wire.Schedule, error) {
	if err := check(in, tx.Now()); err != nil {
		return wire.Schedule{}, err
	}
	if _, err := r.takeBack(ctx, tx, in.Kind); err != nil {
		return wire.Schedule{}, err
	}
	body, err := json.Marshal(in.What)
	if err != nil {
		return wire.Schedule{}, err
	}
	c := op.CallerFrom(ctx)
	s := &row{tenant: c.Tenant, body: string(body), since: tx.Now(),
		Schedule: wire.Schedule{Kind: in.Kind, What: in.What, By: c.Name, MadeAt: tx.Now()}}
	if s.Grant, err = r.Grant(ctx, tx, place(in.Kind).String()); err != nil {
		return wire.Schedule{}, err
	}
	if _, err := tx.Exec("INSERT INTO schedule ("+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, '', 0)", s.tenant, string(s.Kind), s.body,
		s.Grant, s.By, tx.Now(), tx.Now()); err != nil {
		return wire.Schedule{}, err
	}
	op.Row(ctx, s.Seal())
	_, s.Next = due(s, tx.Now())
	r.changed(tx)
	return s.Schedule, nil
}

// takeBack removes a schedule with its grant, when there is one.
func (r *Room) takeBack(ctx context.Context, tx *db.Tx, kind wire.Kind) (found bool, err error) {
	var grant string
	err = tx.QueryRow("DELETE FROM schedule WHERE tenant = ? AND kind = ? RETURNING grant_id", op.CallerFrom(ctx).Tenant,
		string(kind)).Scan(&grant)
	if err != nil {
		if db.NoRows(err) {
			err = nil
		}
		return false, err
	}
	op.Seal(ctx, "schedule:"+string(kind))
	if err := r.Revoke(ctx, tx, grant); err != nil && !fault.Is(err, fault.NotFound) { // somebody revoked it already
		return true, err
	}
	return true, nil
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in wire.KindIn) (wire.OK, error) {
	found, err := r.takeBack(ctx, tx, in.Kind)
	if err == nil && !found {
		err = notScheduled("schedule.remove", in.Kind)
	}
	r.changed(tx)
	return wire.OK{OK: true}, err
}

func notScheduled(op string, kind wire.Kind) error {
	return fault.New(fault.NotFound, op, "nothing called %.40q is scheduled", string(kind)).
		WithNext("see what is: tandem server schedule list")
}

// now has it done by whichever server does what is due, as soon as that looks.
func (r *Room) now(ctx context.Context, tx *db.Tx, in wire.KindIn) (wire.Schedule, error) {
	s, err := scan(tx.QueryRow("UPDATE schedule SET asked_at = ? WHERE tenant = ? AND kind = ? RETURNING "+columns, tx.Now(),
		op.CallerFrom(ctx).Tenant, string(in.Kind)))
	if db.NoRows(err) {
		err = notScheduled("schedule.now", in.Kind)
	}
	if err != nil {
		return wire.Schedule{}, err
	}
	r.changed(tx)
	return s.seen(tx.Now()), nil
}

func (r *Room) changed(tx *db.Tx) {
	tx.AfterCommit(func() {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	})
}

func (r *Room) list(ctx context.Context, _ struct{}) (wire.ListOut, error) {
	out := wire.ListOut{Schedules: []wire.Schedule{}}
	rows, err := load(ctx, r.DB)
	for _, s := range rows {
		out.Schedules = append(out.Schedules, s.seen(r.DB.Now()))
	}
	return out, err
}

func (r *Room) run(ctx context.Context, in wire.KindIn) (wire.RunOut, error) {
	if c := op.CallerFrom(ctx); c.Door != op.DoorInside || c.Name != r.System {
		return wire.RunOut{}, fault.New(fault.Denied, "schedule.run", "the server does this by itself, and nobody else").
			WithNext("to have a copy now: tandem server backup PATH")
	}
	rows, err := load(ctx, r.DB)
	if err != nil {
		return wire.RunOut{}, err
	}
	for _, s := range rows {
		if s.Kind != in.Kind {
			continue
		}
		if !r.Vouch.Holds(ctx, s.Seal()) {
			return wire.RunOut{}, fault.New(fault.Denied, "schedule.run", "the schedule of %s was changed in the database, and not by a person here",
				s.Kind).WithNext("look, and set it anew: tandem server schedule list")
		}
		done, err := r.Do[s.Kind](ctx, s.What)
		return wire.RunOut{Done: done}, err
	}
	return wire.RunOut{}, fault.New(fault.NotFound, "schedule.run", "%.40q is not scheduled", string(in.Kind))
}

// cutOff is asked at the next start about work whose end a crash hid: it is done again, and what is half is not used.
func (r *Room) cutOff(context.Context, wire.KindIn) (wire.RunOut, bool, error) {
	return wire.RunOut{}, false, nil
}
