package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/source/boxed"
	"tandem/internal/tool"
)

// CallIn is one call of a tool, as the gate sees it. Its digest is what an approval is bound to.
type CallIn struct {
	Session string          `json:"session,omitempty" jsonschema:"the session whose agent calls; empty when the caller acts itself"`
	Turn    string          `json:"turn,omitempty"`
	Call    string          `json:"call,omitempty"`
	Args    json.RawMessage `json:"args"`

	plan *planned // while it passes the gate
}

// CallOut is what a call brought.
type CallOut struct {
	Title  string          `json:"title"`
	Result tool.Result     `json:"result"`
	Asks   []tool.Question `json:"asks,omitempty" jsonschema:"the agent wants these answered first"`
	Child  string          `json:"child,omitempty" jsonschema:"the turn of a child session that does the work"`
}

// ToolOp is the operation behind a tool.
func ToolOp(name string) string { return "tool." + name }

// outputs carries the live output of running calls to whoever shows it.
type outputs struct {
	mu sync.Mutex
	to map[string]func(string)
}

func (o *outputs) set(call string, f func(string)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == nil {
		o.to = map[string]func(string){}
	}
	if f == nil {
		delete(o.to, call)
		return
	}
	o.to[call] = f
}

func (o *outputs) get(call string) func(string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to[call]
}

// Watch sends the live output of a call to f until stop is called.
func (r *Room) Watch(call string, f func(string)) (stop func()) {
	r.outputs.set(call, f)
	return func() { r.outputs.set(call, nil) }
}

// toolOps makes a row of each tool: what its calls need, what they touch and what they do come from one plan, made anew from the
// arguments each time, so nobody can ask for one thing and do another.
func (r *Room) toolOps() []op.Op {
	var out []op.Op
	for _, t := range r.tools.All() {
		spec := t.Spec()
		line, _, _ := strings.Cut(spec.Doc, "\n")
		s := op.Spec{Name: ToolOp(spec.Name), Right: spec.Right, MCP: "-", Doc: line}
		resource := func(in CallIn) op.Resource { return in.resource(spec) }
		run := func(ctx context.Context, in CallIn) (CallOut, error) { return r.runCall(ctx, t, in) }
		o := op.Read(s, resource, run)
		switch {
		case spec.Passes:
			o = op.Call(s, resource, run)
		case spec.Changes:
			o = op.Effect(s, resource, run, func(ctx context.Context, in CallIn) (CallOut, bool, error) { return recoverCall(ctx, in.planned()) })
		}
		out = append(out, r.planning(o, t))
	}
	return out
}

// envOf is what a call may use, as its caller sees it now.
func (r *Room) envOf(ctx context.Context, t tool.Tool, in CallIn) (*tool.Env, error) {
	env, err := r.env(ctx, in, op.CallerFrom(ctx).Tenant)
	if err == nil {
		env.Scope, err = r.seeing(ctx, env.Scope, t.Spec().Name)
	}
	return env, err
}

// Refuse ends a call that can never run, and records it as denied: what an agent tried is worth knowing.
func (r *Room) Refuse(ctx context.Context, t *Turn, c *Call, why *fault.Error) error {
	_, err := r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		if err := r.happen(tx, s, t, callRefused{c, why}); err != nil {
			return err
		}
		_, err := r.journal.Append(tx, journal.Event{Tenant: s.Tenant, Type: ToolOp(c.Tool), Phase: journal.Denied, Actor: s.ID, For: s.chain,
			Resource: at(s.ID).String(),
			Payload:  []byte(encode(map[string]any{"reason": why.Msg, "turn": t.ID, "call": c.ID, "args": c.Args}))})
		return err
	})
	return err
}

// env is what a call may use: the granted folder that holds the session's directory.
func (r *Room) env(ctx context.Context, in CallIn, tenant string) (*tool.Env, error) {
	e := r.lending(ctx, tenant)
	e.Session, e.Sandbox = in.Session, r.sandbox
	if r.sandbox != nil {
		e.Document = func(ctx context.Context, name string, data []byte) (string, error) {
			return boxed.Text(ctx, r.sandbox.Machine, name, data)
		}
	}
	if in.Session == "" {
		if OpenerOf(op.CallerFrom(ctx)) != "" { // it would have every granted folder, and not its own alone
			return nil, fault.New(fault.Denied, "tool", "a session uses the tools that its own program or model offers")
		}
		folders, err := r.granted(ctx, outside{ctx, r.db}, tenant)
		if err != nil {
			return nil, err
		}
		e.Scope = tool.NewScope(folders, r.Hidden...)
		if len(folders) > 0 {
			e.Dir = folders[0].Path
		}
		return e, nil
	}
	s, err := r.Get(ctx, tenant, in.Session)
	if err != nil {
		return nil, err
	}
	e.Dir = s.Directory
	if e.Scope, err = r.Scope(ctx, s); err != nil {
		return nil, err
	}
	if e.Unconfined, err = r.unconfined(ctx, outside{ctx, r.db}, s); err != nil {
		return nil, err
	}
	e.Before = func(ctx context.Context, path string, content []byte, existed bool) error {
		return r.keepFile(ctx, s, in.Turn, in.Call, path, content, existed)
	}
	e.Kept = func(ctx context.Context, path string) ([]byte, bool, bool, error) {
		return r.kept(ctx, s, in.Call, path)
	}
	e.Delegate = func(ctx context.Context, t tool.Task) (string, error) { return r.delegate(ctx, s, in.Turn, in.Call, t) }
	reader, err := r.readsOnly(ctx, s)
	if err != nil {
		return nil, err
	}
	e.Operations = func(ctx context.Context) []tool.Operation {
		all := r.operations(ctx, r.planningTurn(ctx, s, in.Turn))
		return slices.DeleteFunc(all, func(o tool.Operation) bool { return reader && !slices.Contains(ReadsKnowledge, o.Name) })
	}
	e.Operate = func(ctx context.Context, name string, input json.RawMessage) (any, error) {
		if reader && !slices.Contains(ReadsKnowledge, name) {
			return nil, noOperation(name)
		}
		return r.operate(ctx, r.planningTurn(ctx, s, in.Turn), name, input)
	}
	e.Todos = func(ctx context.Context, list []tool.Todo) error { return r.setTodos(ctx, s, in.Turn, list) }
	return e, nil
}

// lending is an environment that has the tenant's sealed values, and nothing else.
func (r *Room) lending(ctx context.Context, tenant string) *tool.Env {
	return &tool.Env{Secret: func(name string) (value string) {
		err := r.lend(ctx, tenant, name, func(v []byte) error { value = string(v); return nil })
		if err != nil {
			return "" // not there, or not to be had: the tool says what it lacks
		}
		return value
	}}
}

// Ready says whether there is anything behind a tool for a session.
func (r *Room) Ready(ctx context.Context, s *Session, t tool.Spec) bool {
	return t.Ready == nil || t.Ready(r.lending(ctx, s.Tenant))
}

// mayCall lets a session call for itself only, and only from inside: nobody borrows its authority by naming it.
func mayCall(c op.Caller, in CallIn, name string) error {
	if in.Session == "" || c.Kind == op.Session && c.Session == in.Session && c.Door == op.DoorInside {
		return nil
	}
	return fault.New(fault.Denied, name, "a session's tools are called by the session itself")
}

func (r *Room) runCall(ctx context.Context, t tool.Tool, in CallIn) (CallOut, error) {
	c := op.CallerFrom(ctx)
	if err := mayCall(c, in, ToolOp(t.Spec().Name)); err != nil {
		return CallOut{}, err
	}
	p := in.planned()
	if p.err != nil {
		return CallOut{}, p.err
	}
	if p.Lasting {
		var done func()
		again := func(ctx context.Context) (*tool.Scope, error) {
			now, err := r.envOf(ctx, t, in)
			if err != nil {
				return nil, err
			}
			return now.Scope, nil
		}
		ctx, done = r.whileShown(ctx, t.Spec().Name, again, p.env.Scope, p.Touch.Offline)
		defer done()
	}
	res, err := r.runWatched(ctx, p.env, p.Plan, in)
	var w *tool.Waiting
	if errors.As(err, &w) {
		return CallOut{Title: p.Title, Asks: w.Questions}, nil
	}
	var d *tool.Delegated
	if errors.As(err, &d) {
		return CallOut{Title: p.Title, Child: d.Turn}, nil
	}
	op.Note(ctx, "title", p.Title)
	return CallOut{Title: p.Title, Result: res}, err
}

func recoverCall(ctx context.Context, p *planned) (CallOut, bool, error) {
	if p.err != nil || p.Recover == nil {
		return CallOut{}, false, p.err
	}
	res, done, err := p.Recover(ctx)
	var d *tool.Delegated
	if errors.As(err, &d) {
		return CallOut{Title: p.Title, Child: d.Turn}, true, nil
	}
	return CallOut{Title: p.Title, Result: res}, done, err
}
