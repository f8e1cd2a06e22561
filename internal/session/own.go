package session

import (
	"context"
	"encoding/json"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/tool"
)

// House is tandem itself as sessions use it: an invoker that decides, and what a caller may use of it.
type House struct {
	Invoker op.Invoker
	May     func(ctx context.Context, o *op.Op) bool
	All     func() []*op.Op
	// Sight is what a caller sees of folders with a tool.
	Sight func(ctx context.Context, tool string) (*policy.Sight, error)
	// Tool says why a caller may not use a tool at all; "" when that is not so.
	Tool func(ctx context.Context, tool string) (string, error)
	// Still says why a caller who was let in would not be let in again.
	Still func(ctx context.Context, c op.Caller) error
}

// Through gives sessions the rest of the house, which is made after this room.
func (r *Room) Through(h House) { r.house = h }

// forSessions tells whether an operation is one that an agent uses of tandem. Its own session is not: it would raise its
// budget or prompt itself. Tools are called as tools, and a child session is a task.
func forSessions(o *op.Op) bool {
	return o.ToolName() != "" && o.Class != op.ClassStream && !o.Present && !o.People && !strings.HasPrefix(o.Name, "tool.") &&
		(!o.Changes() || !strings.HasPrefix(o.Name, "session."))
}

// operations lists what the session of ctx may use. In plan mode only what looks.
func (r *Room) operations(ctx context.Context, plan bool) []tool.Operation {
	var out []tool.Operation
	if r.house.All == nil {
		return nil
	}
	for _, o := range r.house.All() {
		if !forSessions(o) || plan && o.Changes() || !r.house.May(ctx, o) {
			continue
		}
		schema, err := o.InSchema()
		if err != nil {
			continue // a row that cannot be described is caught by the tests of the doors
		}
		raw, err := json.Marshal(schema)
		if err != nil {
			continue
		}
		out = append(out, tool.Operation{Name: o.Name, Tool: o.ToolName(), Doc: o.Doc, Schema: raw, Changes: o.Changes()})
	}
	return out
}

// operate runs one as the session, under the name of its call: what a crash repeats is answered and not done again. In plan
// mode the gate refuses whatever changes anything, listed or not.
func (r *Room) operate(ctx context.Context, plan bool, name string, input json.RawMessage) (any, error) {
	if plan {
		ctx = op.Looking(ctx)
	}
	for _, o := range r.operations(ctx, plan) {
		if o.Name == name {
			return r.house.Invoker.Invoke(ctx, name, input)
		}
	}
	return nil, fault.New(fault.NotFound, "tandem", "there is no operation %.60q for you", name)
}

// Planning tells whether a turn may only look: its session, the turn itself or whoever handed it the task says so.
func (r *Room) Planning(ctx context.Context, s *Session, o Options) (bool, error) {
	if orElse(o.Mode, s.Mode) == PlanMode {
		return true, nil
	}
	up, err := r.Lineage(ctx, s)
	for _, p := range up {
		if p.Mode == PlanMode {
			return true, nil
		}
	}
	return false, err
}

// planningTurn is Planning for a turn by its id. What cannot be read may only look.
func (r *Room) planningTurn(ctx context.Context, s *Session, turn string) bool {
	t, err := r.Turn(ctx, s.Tenant, turn)
	if err != nil {
		return true
	}
	plan, err := r.Planning(ctx, s, t.Options)
	return plan || err != nil
}
