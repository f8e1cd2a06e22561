package automation

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"tandem/internal/approval"
	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// gatesOf is what the gates of an automation touch.
func gatesOf(name, node string) op.Resource {
	return op.Resource{Kind: "automation", Path: "/" + name + "/gate/" + node}
}

// higherOf is what a gate touches that nobody answered in time: others may answer it.
func higherOf(name, node string) op.Resource {
	return op.Resource{Kind: "automation", Path: "/" + name + "/escalated/" + node}
}

func passing(in wire.PassIn) op.Resource {
	if in.Escalated {
		return higherOf(in.Name, in.Node)
	}
	return gatesOf(in.Name, in.Node)
}

// looks reports whether a wait is to be looked at: a key may be there, or what becomes an artifact was handed over.
func looks(n *spec.Node, s run.Step) bool {
	return n.Wait != nil && (n.Wait.Condition != "" || s.Handover != nil)
}

// claimHeld claims the gates that nobody was asked about yet, or whose ask is to be looked at, and the waits for what is elsewhere.
func (r *Room) claimHeld(h *held, take func(*stepRow)) error {
	for _, s := range h.run.Steps() {
		if n := h.node(s.Node); s.Phase != run.Held || n.Asks() == nil && !looks(n, s) {
			continue
		}
		row := h.alive(s.Node, s.Item)
		if row == nil {
			row = &stepRow{node: s.Node, item: s.Item, attempt: 1}
			for _, old := range h.steps {
				if old.node == s.Node {
					row.attempt = max(row.attempt, old.attempt+1)
				}
			}
		} else if !row.free(r.Owner, h.tx.Now()) {
			continue
		}
		if err := h.claim(row, r.Owner); err != nil {
			return err
		}
		take(row)
	}
	return nil
}

// ends is until when a gate can be answered.
func (r *Room) ends(ctx context.Context, in wire.PassIn) (time.Time, error) {
	look := looking{ctx, r.DB}
	row, err := scanRun(look.QueryRow("SELECT "+runColumns+" FROM automation_run WHERE tenant = ? AND id = ?", op.CallerFrom(ctx).Tenant,
		in.Run))
	if db.NoRows(err) {
		return time.Time{}, noRun(in.Run)
	}
	if err != nil {
		return time.Time{}, err
	}
	h, err := r.fold(look, row)
	if err != nil {
		return time.Time{}, err
	}
	s, _ := h.run.Step(in.Node, -1)
	return s.Ends, nil
}

// ask has a person asked whether a run goes on, through the gate of the house: the ask is bound to exactly what is shown.
func (r *Room) ask(ctx context.Context, j *job, caller op.Caller) result {
	g := j.node.Asks()
	in := wire.PassIn{Name: j.name, Run: j.id, Node: j.step.node, Attempt: j.step.attempt, Text: g.Text, Shows: j.inputs,
		Rework: g.Rework, Escalated: j.escalated}
	caller.Scope = []string{"automation.run", "approval.read"}
	ctx = op.WithCaller(ctx, caller)
	_, err := op.Do(ctx, r.Rooms, wire.Pass, in)
	var f *fault.Error
	errors.As(err, &f)
	switch {
	case err == nil:
		by := "a person"
		if a := r.answered(ctx, strings.TrimPrefix(j.step.waits, "ask:")); a != nil {
			by = a.DecidedBy
		}
		return result{Event: run.Event{Kind: run.Answered, Answer: "approve", By: by}}
	case f != nil && f.Kind == fault.Denied && f.Data["approval"] != "":
		a := r.answered(ctx, f.Data["approval"])
		if a == nil || a.Unanswered() { // it is asked anew when its time is over
			return result{waits: "ask:" + f.Data["approval"], look: r.DB.Now().Add(time.Hour)}
		}
		e := run.Event{Kind: run.Answered, Answer: "cancel", Text: orElse(a.Feedback, a.DecidedBy+" said no"), By: a.DecidedBy}
		if a.State == approval.Rework && g.Rework != "" {
			e.Answer = "rework"
		}
		return result{Event: e}
	case f != nil && f.Kind == fault.Pending:
		res := r.failed(ctx, r.Find(string(wire.Pass)), err)
		if j.ends.Before(res.look) && j.ends.After(r.DB.Now()) { // the ask ends then, and who is to be reminded is asked anew
			res.look = j.ends
		}
		return res
	}
	r.Log.Error("nobody can be asked at a gate", "run", j.id, "node", j.step.node, "err", err)
	return result{waits: "nobody can be asked: " + said(err), look: r.DB.Now().Add(longest)}
}

func (r *Room) answered(ctx context.Context, ask string) *approval.Ask {
	if ask == "" {
		return nil
	}
	a, err := op.Do(ctx, r.Rooms, approval.AskGet, approval.IDIn{ID: ask})
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Error("an answer cannot be read", "ask", ask, "err", err)
		}
		return nil
	}
	return a
}

// passed is the other side of a gate: whoever comes here was let through.
func (r *Room) passed(ctx context.Context, _ *db.Tx, in wire.PassIn) (wire.OK, error) {
	if c := op.CallerFrom(ctx); c.Door != op.DoorInside || c.Name != actorName(in.Name) {
		return wire.OK{}, fault.New(fault.Denied, string(wire.Pass), "a run does this by itself, and nobody else").
			WithNext("answer its gate: tandem approvals")
	}
	op.Row(ctx, passSeal(op.CallerFrom(ctx).Tenant, in.Run, in.Node))
	return wire.OK{OK: true}, nil
}

// Tenants are those in which a step waits for an answer.
func (r *Room) Tenants(ctx context.Context) ([]string, error) {
	rows, err := r.DB.Query(ctx, "SELECT DISTINCT tenant FROM automation_step WHERE state = ? AND waits LIKE 'ask:%'", parked)
	return db.Collect(rows, err, func(rows *sql.Rows) (t string, err error) { return t, rows.Scan(&t) })
}

// Answered has the step looked at that waits for an ask.
func (r *Room) Answered(ctx context.Context, tenant, ask string) error {
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		n, err := tx.Changed("UPDATE automation_step SET look_at = 1 WHERE tenant = ? AND state = ? AND waits = ?", tenant, parked, "ask:"+ask)
		if n > 0 {
			tx.AfterCommit(r.rouse)
		}
		return err
	})
}

// hear has a step looked at again whose ask was answered before the step was parked: whoever told of the answer found nobody that waits.
func (r *Room) hear(ctx context.Context, j *job, waits string) {
	if waits == onRun {
		r.hearChild(ctx, j)
		return
	}
	ask, asks := strings.CutPrefix(waits, "ask:")
	if !asks && waits != onTurn {
		return
	}
	caller, err := r.As(ctx, j.tenant, j.version.actor)
	if err == nil && waits == onTurn {
		if t, err := r.turnOf(ctx, caller, j.step.session, j.step.turn); err == nil && t.State.Ended() {
			r.TurnEnded(t.ID)
		}
		return
	}
	if err == nil {
		caller.Scope = []string{"approval.read"}
		a := r.answered(op.WithCaller(ctx, caller), ask)
		if a == nil || a.State == approval.Pending || a.Unanswered() {
			return
		}
		err = r.Answered(ctx, j.tenant, ask)
	}
	if err != nil && ctx.Err() == nil {
		r.Log.Error("an answer is not heard", "ask", ask, "err", err)
	}
}

// LookAgain has every step looked at that waits for an ask: what was answered while nobody listened is heard.
func (r *Room) LookAgain(ctx context.Context) error {
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		tx.AfterCommit(r.rouse)
		_, err := tx.Exec("UPDATE automation_step SET look_at = 1 WHERE state = ? AND waits LIKE 'ask:%'", parked)
		return err
	})
}

// letGo ends what a run that is over still waits for: an answer would do nothing.
func (r *Room) letGo(h *held) error {
	for _, s := range h.steps {
		if s.state != parked || s.waits == onTurn { // a turn is ended first
			continue
		}
		if err := r.drop(h.tx, s, h.version.actor, "the run "+h.id+" is over"); err != nil {
			return err
		}
	}
	return nil
}

// letSkipped ends the rows of gates and waits that wait for nobody any more, because a person skipped them or their time was over.
func (r *Room) letSkipped(h *held) error {
	for _, s := range h.steps {
		if s.state == over || !h.node(s.node).Holds() || s.state == claimed && (!s.free(r.Owner, h.tx.Now()) || r.holds(s)) {
			continue
		}
		if at, _ := h.run.Step(s.node, s.item); at.Phase == run.Held {
			continue
		}
		if err := r.drop(h.tx, s, h.version.actor, "the run "+h.id+" goes on without "+s.node); err != nil {
			return err
		}
	}
	return nil
}

// drop ends the row of a step, and its ask.
func (r *Room) drop(tx *db.Tx, s *stepRow, actor, why string) error {
	if _, err := tx.Exec("UPDATE automation_step SET state = ?, ended_at = ? WHERE "+stepKey, over, tx.Now(), s.tenant, s.run, s.node, s.item,
		s.attempt); err != nil {
		return err
	}
	s.state = over
	r.vacate(tx, s, actor)
	if ask, ok := strings.CutPrefix(s.waits, "ask:"); ok {
		if _, err := r.Abandon(tx, s.tenant, actor, ask, why); err != nil {
			return err
		}
	}
	return nil
}
