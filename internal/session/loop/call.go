package loop

import (
	"context"
	"errors"
	"strings"

	"tandem/internal/connector/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/tool"
)

// offer is a tool as the loop handles it: one of our own, or one of a connector's.
type offer struct {
	tool.Spec
	connector string // "" for our own
	remote    string // its name there
}

// offered are the tools that this turn's model sees: what the session may not use is masked before the model is called.
func (r *Runner) offered(ctx context.Context, s *session.Session, t *session.Turn) ([]offer, error) {
	if t.Options.ToolChoice == "none" {
		return nil, nil
	}
	scope, err := r.room.Scope(ctx, s)
	if err != nil {
		return nil, err
	}
	plan, err := r.room.Planning(ctx, s, t.Options)
	if err != nil {
		return nil, err
	}
	up, err := r.room.Lineage(ctx, s)
	if err != nil {
		return nil, err
	}
	allowed := func(name string) bool {
		for _, p := range up { // who does a task has no tool that its parent lacks
			if !has(p.Config, name) {
				return false
			}
		}
		return has(s.Config, name) && session.Listed(t.Options.Tools, name)
	}
	ctx = op.WithCaller(ctx, s.At(t))
	var out []offer
	for _, tl := range r.room.Tools().All() {
		spec := tl.Spec()
		switch {
		case plan && spec.Changes:
		case len(scope.Folders()) == 0 && needsFiles(spec):
		case !allowed(spec.Name) || !r.room.Ready(ctx, s, spec):
		case !r.gate.May(ctx, r.gate.Table().Get(session.ToolOp(spec.Name))) || r.denied(ctx, spec.Name) != "":
		default:
			out = append(out, offer{Spec: spec})
		}
	}
	if r.Connectors == nil || plan || !r.gate.May(ctx, r.gate.Table().Get(string(wire.Call))) {
		return out, nil
	}
	outside, err := r.Connectors.Offers(ctx, s.Tenant)
	for _, o := range outside {
		if n := o.WireName(); allowed(n) {
			out = append(out, offer{tool.Spec{Name: n, Doc: o.Tool.Doc, Schema: o.Tool.Schema, Changes: true}, o.Connector, o.Tool.Name})
		}
	}
	return out, err
}

func needsFiles(s tool.Spec) bool { return strings.HasPrefix(s.Right, "folder.") || s.Name == "bash" }

// has tells whether a session was given a tool, or has it for what it was bound to.
func has(c session.Config, name string) bool {
	return c.Gives(name) || name == session.ToolTandem && c.Reader()
}

// call runs one call of a tool, through the gate. parked says that the turn has to wait for a person.
func (r *Runner) call(ctx context.Context, s *session.Session, t *session.Turn, c *session.Call) (parked bool, err error) {
	switch c.Awaits {
	case session.AwaitsAnswer:
		return true, nil // answering it ends the call
	case session.AwaitsTask:
		return r.report(ctx, t, c)
	}
	can, err := r.offered(ctx, s, t)
	if err != nil {
		return false, err
	}
	var spec offer
	for _, o := range can {
		if o.Name == c.Tool {
			spec = o
		}
	}
	if spec.Name == "" {
		if why := r.ungranted(ctx, s, c.Tool); why != nil {
			return false, r.room.Refuse(ctx, t, c, why)
		}
		if why := r.denied(op.WithCaller(ctx, s.At(t)), c.Tool); why != "" && r.room.Tools().Get(c.Tool) != nil {
			return false, r.room.Refuse(ctx, t, c, fault.New(fault.Denied, "tool", "the tool %s is denied here: %s", c.Tool, why).
				WithNext("see why: tandem policy explain --actor %s --op %s", s.ID, session.ToolOp(c.Tool)))
		}
		return false, r.room.Refuse(ctx, t, c, fault.New(fault.Denied, "tool", "there is no tool %.60q here", c.Tool))
	}
	if over, err := r.overBudget(ctx, s, t, c); err != nil || over != nil {
		if over != nil {
			err = r.room.Refuse(ctx, t, c, over)
		}
		return false, err
	}
	as := s.At(t)
	as.Idempotency = c.ID
	if spec.connector != "" {
		return r.callOutside(op.WithCaller(ctx, as), t, c, spec)
	}
	in, title, err := r.room.PlanCall(op.WithCaller(ctx, as), c.Tool, session.CallIn{Session: s.ID, Turn: t.ID, Call: c.ID, Args: c.Args})
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Kind != fault.Internal {
		return false, r.room.Refuse(ctx, t, c, f)
	} else if err != nil {
		return false, err
	}
	c.Title = title
	var part *session.Writer
	var output strings.Builder
	var lost error // the first failure to show output, which must not hide the result
	made := op.WithCaller(ctx, as)
	if spec.Changes && c.State != session.CallRunning {
		r.begun(ctx, s) // its folder may have been granted in the middle of the turn
		made = op.WithFirst(made, r.room.RunCall(t, c))
	}
	stop := r.room.Watch(c.ID, func(text string) {
		if part == nil && lost == nil {
			part, lost = r.room.StartPart(ctx, s, t.ID, session.Part{ID: c.ID, Kind: provider.ResultOf, Call: c.ID})
		}
		if part != nil && output.Len() < 1<<20 {
			output.WriteString(text)
			part.Add(text)
		}
	})
	got, err := r.gate.Invoke(made, session.ToolOp(c.Tool), in)
	stop()
	if err != nil && context.Cause(ctx) != nil {
		return false, context.Cause(ctx)
	}
	if fault.Is(err, fault.Pending) {
		return true, r.park(ctx, t, c, err, part, output.String())
	}
	out, _ := got.(session.CallOut)
	if err == nil && len(out.Asks) > 0 {
		_, err := r.room.Ask(ctx, t, c, out.Asks)
		return true, err
	}
	if err == nil && out.Child != "" {
		_, err := r.room.Await(ctx, t, c, out.Child)
		return true, err
	}
	return false, r.finish(ctx, t, c, &out.Result, part, output.String(), err)
}

// denied says why the caller of ctx has no such tool: it is denied whole, whatever it would be used on.
func (r *Runner) denied(ctx context.Context, name string) string {
	why, err := r.gate.Tool(ctx, name)
	if err != nil {
		return "the policy cannot be read"
	}
	return why
}

// ungranted says why a session has no tool for files: nobody granted the folder that it works in. nil when that is not why.
func (r *Runner) ungranted(ctx context.Context, s *session.Session, name string) *fault.Error {
	t := r.room.Tools().Get(name)
	if t == nil || !needsFiles(t.Spec()) {
		return nil
	}
	scope, err := r.room.Scope(ctx, s)
	if err != nil || len(scope.Folders()) > 0 {
		return nil
	}
	if s.Directory == "" {
		return fault.New(fault.Denied, "tool", "this session has no folder, so there is no tool %s", name)
	}
	return fault.New(fault.Denied, "tool", "%s is not granted to sessions, so there is no tool %s here", s.Directory, name).
		WithNext("a person can grant it: tandem grant folder %s", s.Directory)
}

// report ends a call whose work a child session did.
func (r *Runner) report(ctx context.Context, t *session.Turn, c *session.Call) (parked bool, err error) {
	res, ended, err := r.room.Report(ctx, t.Tenant, c.Ask)
	if err != nil {
		return false, err
	}
	if !ended {
		_, err := r.room.Await(ctx, t, c, c.Ask)
		return true, err
	}
	state := session.CallDone
	if res.Error {
		state = session.CallFailed
	}
	return false, r.room.EndCall(ctx, t, c, state, res, nil, "")
}

// overBudget says why a call is not made, nil when it may be.
func (r *Runner) overBudget(ctx context.Context, s *session.Session, t *session.Turn, c *session.Call) (*fault.Error, error) {
	accounts, err := r.room.Accounts(ctx, s, t)
	if err != nil || len(accounts) == 0 {
		return nil, err
	}
	var over *fault.Error
	if errors.As(session.LeftForCall(accounts, t.Calls-c.Position+1), &over) {
		return over, nil
	}
	return nil, nil
}

// park lets the turn go until somebody answered the ask that the gate filed.
func (r *Runner) park(ctx context.Context, t *session.Turn, c *session.Call, pending error, part *session.Writer, output string) error {
	var f *fault.Error
	errors.As(pending, &f)
	return r.room.ParkCall(ctx, t, c, f.Data["approval"], f.Msg, part, output)
}

// callOutside calls a connector's tool, through the gate like every other.
func (r *Runner) callOutside(ctx context.Context, t *session.Turn, c *session.Call, o offer) (parked bool, err error) {
	c.Title = o.connector + ": " + o.remote
	if c.State != session.CallRunning {
		if err := r.room.BeginCall(ctx, t, c); err != nil {
			return false, err
		}
	}
	out, err := op.Do(ctx, r.gate, wire.Call, wire.CallIn{Connector: o.connector, Tool: o.remote,
		Args: provider.Call{Args: c.Args}.Object(), Session: c.Session, Turn: t.ID, Call: c.ID})
	if err != nil && context.Cause(ctx) != nil {
		return false, context.Cause(ctx)
	}
	if fault.Is(err, fault.Pending) {
		return true, r.park(ctx, t, c, err, nil, "")
	}
	return false, r.finish(ctx, t, c, &out.Result, nil, "", err)
}

// finish stores a call's result, or the refusal in its place.
func (r *Runner) finish(ctx context.Context, t *session.Turn, c *session.Call, result *tool.Result, part *session.Writer, output string,
	err error) error {
	if err == nil {
		return r.room.EndCall(ctx, t, c, session.CallDone, result, part, output)
	}
	f := fault.Public(err)
	if f.Kind == fault.Internal {
		r.log.Error("tool failed", "tool", c.Tool, "call", c.ID, "err", err)
	}
	return r.room.EndCall(ctx, t, c, session.CallFailed, session.Refusal(f), part, output)
}
