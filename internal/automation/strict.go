package automation

import (
	"context"
	"errors"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// acts reports whether a piece of work does something: all do, but for makers.
func acts(b *spec.Body) bool { return len(b.Kinds()) == 1 && b.Make == nil }

// mayAct asks a person before a step of a strict automation acts, with exactly what it is given. What only reads is not asked about.
func (r *Room) mayAct(ctx context.Context, j *job, caller op.Caller) (result, bool) {
	if !j.strict || !acts(j.body) || j.step.turn != "" || j.step.child != "" {
		return result{}, true
	}
	if b := j.body; b.Operation != nil {
		if o := r.Find(b.Operation.Name); o == nil || o.Class == op.ClassRead {
			return result{}, true
		}
	}
	caller.Scope, caller.Idempotency = []string{"automation.run", "approval.read"}, caller.Idempotency+"/strict"
	ctx = op.WithCaller(ctx, caller)
	_, err := op.Do(ctx, r.Rooms, wire.Pass, wire.PassIn{Name: j.name, Run: j.id, Node: j.step.node, Attempt: j.step.attempt,
		Text: act(j.body), Shows: j.inputs})
	var f *fault.Error
	if err == nil {
		return result{}, true
	}
	if errors.As(err, &f) && f.Kind == fault.Denied && f.Data["approval"] != "" {
		if a := r.answered(ctx, f.Data["approval"]); a == nil || a.Unanswered() {
			return result{waits: "ask:" + f.Data["approval"], look: r.DB.Now().Add(lookAtTurn)}, false
		}
	}
	return r.failed(ctx, r.Find(string(wire.Pass)), err), false
}
