package automation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tandem/internal/automation/run"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
)

func (r *runRow) seen() *wire.Run {
	return &wire.Run{ID: r.id, Name: r.name, Digest: r.digest, Status: r.status, Reason: r.reason, Cause: r.cause,
		Parent: r.parent, By: r.by, Input: r.given, BeganAt: r.began, EndedAt: r.ended, Needs: r.needs}
}

func (r *Room) runs(ctx context.Context, in wire.RunsIn) (wire.RunsOut, error) {
	out := wire.RunsOut{Runs: []*wire.Run{}}
	if in.Limit < 0 || in.Limit > 500 {
		return out, fault.New(fault.Invalid, string(wire.Runs), "limit lies between 1 and 500")
	}
	if in.Limit == 0 {
		in.Limit = 50
	}
	where, args := "tenant = ?", []any{op.CallerFrom(ctx).Tenant}
	if in.Name != "" {
		where, args = where+" AND name = ?", append(args, in.Name)
	}
	if in.Open {
		where += " AND ended_at = 0"
	}
	if in.Needs {
		where, args = where+" AND (needs <> '' OR status = ? AND ended_at > ?)", append(args, run.Failed, r.DB.Now().Add(-24*time.Hour))
	}
	const page = 500
	var listed []*runRow
	for before := ""; ; { // those that the caller may not see take nobody's place
		more, with := "", args
		if before != "" {
			more, with = " AND id < ?", append(slices.Clone(args), before)
		}
		all, err := collectRuns(r.DB.Query(ctx, "SELECT "+runColumns+" FROM automation_run WHERE "+where+more+
			fmt.Sprintf(" ORDER BY id DESC LIMIT %d", page), with...))
		if err != nil {
			return out, err
		}
		for _, row := range all {
			if before = row.id; op.May(ctx, "automation.list", at(row.name)) {
				listed, out.Runs = append(listed, row), append(out.Runs, row.seen())
			}
			if len(out.Runs) == in.Limit {
				break
			}
		}
		if len(all) < page || len(out.Runs) == in.Limit {
			return out, r.tellWhy(ctx, op.CallerFrom(ctx).Tenant, listed, out.Runs)
		}
	}
}

func (r *Room) trace(ctx context.Context, in wire.RunIn) (*wire.Run, error) {
	h, err := r.lookInto(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	first, err := r.read(h.version)
	if err != nil {
		return nil, err
	}
	out := h.seen()
	out.Tokens, out.Cost, out.Repairs = h.run.Tokens, h.run.Cost, h.seenRepairs(first)
	needs := h.run.Spec.Needs()
	for _, s := range h.run.Steps() {
		v := h.shown(s)
		if v.Needs = needs[s.Node]; s.Item >= 0 {
			v.Needs = nil
		}
		if v.State == string(run.Alive) && v.Turn != "" {
			r.atWork(ctx, &v)
		}
		out.Steps = append(out.Steps, v)
		if v.Waits != "" {
			out.Waits = append(out.Waits, v.Node+": "+v.Waits)
		}
	}
	return out, nil
}

// atWork says of a step whose session is at work on what that one waits, to whoever may read the session.
func (r *Room) atWork(ctx context.Context, v *wire.Step) {
	out, err := op.Do(ctx, r.Rooms, session.SessionTurns, session.TurnIn{ID: v.Session, Turn: v.Turn})
	if err != nil || len(out.Turns) == 0 || out.Turns[0].State != session.Waiting {
		return
	}
	t := out.Turns[0]
	v.Waits = "its session waits: " + t.Reason
	if t.Awaits == session.AwaitsApproval {
		v.Ask = t.Ask
	}
}

// shown is a step as people see it.
func (h *held) shown(s run.Step) wire.Step {
	v := wire.Step{Node: s.Node, Item: s.Item + 1, State: string(s.Phase), Attempt: s.Attempt, Reason: s.Reason, Output: s.Output,
		Notes: s.Notes, Input: h.run.Inputs(s.Node, s.Item), Tokens: s.Tokens, Cost: s.Cost}
	for _, row := range h.steps { // the newest attempt is the last
		if row.node == s.Node && row.item == s.Item && row.turn != "" {
			v.Session, v.Turn = row.session, row.turn
		}
		if row.node == s.Node && row.item == s.Item && row.child != "" {
			v.Run = row.child
		}
	}
	n := h.node(s.Node)
	v.Kind = n.Kind()
	if h.run.Status.Over() {
		return v
	}
	if n.Wait != nil && n.Wait.Handoff != "" && s.Handover == nil && (s.Phase == run.Held || s.Phase == run.Waiting) {
		v.Handoff, v.Wants = n.Wait.Handoff, slices.Sorted(maps.Keys(n.Output))
	}
	row := h.alive(s.Node, s.Item)
	v.Waits, v.Due = h.why(s)
	if s.Phase == run.Held && n.Asks() != nil {
		v.Input = h.run.Shown(n)
	}
	if row != nil && row.state == parked {
		v.Ask, v.Waits = row.why(v.Waits)
	}
	return v
}
