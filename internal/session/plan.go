package session

import (
	"context"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// planned is what one call would do and what it may use, or why it cannot be done. Its input carries it through the gate, so that what
// is decided about, approved and run is one look at the world; when a person answered, the call comes back with a new one.
type planned struct {
	*tool.Plan
	env *tool.Env
	err error
}

// plan makes a call's plan for the caller of ctx.
func (r *Room) plan(ctx context.Context, t tool.Tool, in CallIn) *planned {
	env, err := r.envOf(ctx, t, in)
	if err != nil {
		return &planned{err: err}
	}
	p, err := t.Plan(env, in.Args)
	return &planned{p, env, err}
}

// PlanCall is a call with its plan and its title, or why it can never run: arguments that do not fit, a place out of reach.
func (r *Room) PlanCall(ctx context.Context, name string, in CallIn) (CallIn, string, error) {
	in.plan = r.plan(ctx, r.tools.Get(name), in)
	if in.plan.err != nil {
		return in, "", in.plan.err
	}
	return in, in.plan.Title, nil
}

// planning makes the row of a tool's calls: their plans say what they need and touch.
func (r *Room) planning(o op.Op, t tool.Tool) op.Op {
	o = op.Planning(o, func(in CallIn) bool { return in.plan != nil }, func(ctx context.Context, in CallIn) CallIn {
		in.plan = r.plan(ctx, t, in)
		return in
	})
	o = op.Binding(o, func(_ context.Context, in CallIn) ([]op.Bound, error) { return in.bind() })
	return op.Touching(o, func(_ context.Context, in CallIn) op.Touch { return in.touch(t.Spec()) })
}

// planned is the call's plan. One that comes by a way past the gate has none, and is not run.
func (in CallIn) planned() *planned {
	if in.plan == nil {
		return &planned{err: fault.New(fault.Denied, "tool", "a call is planned at the gate")}
	}
	return in.plan
}

// resource is what a call needs its tool's right on.
func (in CallIn) resource(t tool.Spec) op.Resource {
	if p := in.planned(); p.err == nil {
		return p.Resource
	}
	// A call that cannot be planned fails when it runs; until then it is only a call of this tool.
	kind, _, _ := strings.Cut(t.Right, ".")
	if kind == "tool" {
		return op.Resource{Kind: "tool", Path: "/" + t.Name}
	}
	return op.Resource{Kind: kind, Path: "/"}
}

func (in CallIn) touch(t tool.Spec) op.Touch {
	if p := in.planned(); p.err == nil {
		return p.Touch
	}
	return op.Touch{Tool: t.Name, Opaque: true}
}

// bind is what the names in a call stand for now. A change that cannot be made is not asked about.
func (in CallIn) bind() ([]op.Bound, error) {
	p := in.planned()
	if p.err != nil || p.Bind == nil {
		return nil, p.err
	}
	return p.Bind()
}
