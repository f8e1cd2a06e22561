package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// lookUp fetches the caller's view of the policy.
func (g *Gate) lookUp(ctx context.Context, c *call) error {
	if g.guards.Kin == nil {
		return unguarded()
	}
	who, err := g.principal(ctx, c.caller)
	if err != nil {
		return err
	}
	compiled, err := g.policies(ctx, c.caller.Tenant)
	if err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	c.view, c.kin, c.real = compiled.View(who, g.db.Now()), g.guards.Kin, g.links.Real
	if c.caller.Kind == op.Session || slices.ContainsFunc(who.AuthorityChain, isSession) || len(who.Narrowed) > 0 {
		c.whose = func(r op.Resource) []string { return g.guards.Whose(ctx, c.caller.Tenant, r) }
	}
	if c.caller.Door == op.DoorPanel && c.caller.Kind == op.Person && c.caller.Present == "" {
		self := policy.PrincipalRef{Kind: policy.Person, ID: c.caller.Name}
		who.Principal, who.AuthorityChain = policy.PrincipalRef{Kind: policy.Local, ID: "local"}, []policy.PrincipalRef{self}
		c.program = compiled.View(who, g.db.Now())
	}
	return nil
}

func isSession(p policy.PrincipalRef) bool { return p.Kind == policy.Session }

// principal is the caller as policy names it.
func (g *Gate) principal(ctx context.Context, caller op.Caller) (policy.StrictTenantContext, error) {
	who := policy.StrictTenantContext{Tenant: caller.Tenant,
		Principal: policy.PrincipalRef{Kind: policy.PrincipalKind(caller.Kind), ID: caller.Name}}
	var err error
	if who.AuthorityChain, err = principals(caller.For); err != nil {
		return who, err
	}
	for _, chain := range caller.Prompted {
		p, err := principals(chain)
		if err != nil {
			return who, err
		}
		who.Prompters = append(who.Prompters, p)
	}
	for _, by := range op.Narrowings(caller) {
		n, err := g.guards.Narrowed(ctx, caller, by)
		if err != nil {
			return who, err
		}
		who.Narrowed = append(who.Narrowed, n)
	}
	if len(caller.Scope) > 0 {
		who.Ceiling = &policy.Ceiling{Rights: caller.Scope}
	}
	return who, nil
}

func principals(chain []string) (out []policy.PrincipalRef, err error) {
	for _, f := range chain {
		p, err := policy.ParsePrincipal(f)
		if err != nil {
			return nil, fmt.Errorf("the caller acts for %q: %w", f, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// decide answers whether this call may happen now. nil means yes.
func (g *Gate) decide(ctx context.Context, c *call) error {
	if err := g.lookUp(ctx, c); err != nil {
		return err
	}
	if err := forbidden(c.op, c.caller); err != nil {
		return g.refuse(ctx, c, err)
	}
	c.decision = c.weigh(ctx, c.view, g.db.Now())
	// Whoever holds the panel's cookie may be a program of the same user: without
	// presence it does no more than such a program may.
	if c.decision.Effect == policy.Allow && c.program != nil {
		if d := c.weigh(ctx, c.program, g.db.Now()); d.Effect != policy.Allow {
			return g.refuse(ctx, c, fault.New(fault.Denied, c.op.Name, "%s needs a person who is present: %s", c.op.Name, d.Reason).
				With("presence", "required").WithNext("%s", withPresence))
		}
	}
	if _, err := g.cautioned(ctx, c); err != nil {
		return err
	}
	switch {
	case c.decision.Effect == policy.Allow:
		return nil
	case c.decision.Effect == policy.Ask:
		return g.ask(ctx, c)
	case c.op.Masked && unlisted[c.decision.Code]:
		return nil // the handler leaves out what this caller may not see
	}
	return g.refuse(ctx, c, g.denial(c))
}

// unlisted are the refusals of a whole list of which something may be left: the handler leaves out the rest.
var unlisted = map[string]bool{policy.CodeNoGrant: true, policy.CodeBeyond: true, policy.CodeNarrowed: true}

// Weigh says what policy would answer to a call, with its reason, and does nothing: no ask is filed and nothing runs. For
// hooks that may only refuse.
func (g *Gate) Weigh(ctx context.Context, name string, in any) (policy.Decision, error) {
	o := g.table.Get(name)
	if o == nil {
		return policy.Decision{}, fault.New(fault.NotFound, "gate", "there is no operation %s", name)
	}
	c := &call{op: o, caller: op.CallerFrom(ctx)}
	if !c.caller.Known() {
		return policy.Decision{}, fault.New(fault.Unauthenticated, name, "tandem does not know you")
	}
	c.in = o.Plan(ctx, in)
	c.resource = o.Resource(ctx, c.in)
	if err := g.lookUp(ctx, c); err != nil {
		return policy.Decision{}, err
	}
	c.decision = c.weigh(ctx, c.view, g.db.Now())
	if _, err := g.cautioned(ctx, c); err != nil {
		return policy.Decision{}, err
	}
	return c.decision, nil
}

// cautioned turns a yes into an ask where a caution is due.
func (g *Gate) cautioned(ctx context.Context, c *call) (bool, error) {
	if c.decision.Effect != policy.Allow && c.decision.Effect != policy.Ask {
		return false, nil
	}
	why, err := g.dueCaution(ctx, c)
	if err != nil || why == "" {
		return false, err
	}
	if c.decision.Effect == policy.Ask {
		c.decision.By, c.decision.Reason = "", c.decision.Reason+"; "+why
		return true, nil
	}
	c.decision = policy.Decision{Effect: policy.Ask, Code: policy.CodeAsk, Reason: why,
		Approvers: []policy.PrincipalRef{{Kind: "person", ID: "*"}}}
	return true, nil
}

// dueCaution is the house's caution about this call, and the tool's own.
func (g *Gate) dueCaution(ctx context.Context, c *call) (string, error) {
	why, err := g.guards.Caution(ctx, c.caller, c.op, c.in)
	if err != nil {
		return "", err
	}
	c.minded = why != ""
	if t := c.touches(ctx); t != nil && t.Caution != "" {
		if c.minded {
			why += "; "
		}
		why += t.Caution
	}
	return why, nil
}

// weigh asks policy about everything that the call touches; the narrowest answer is the call's.
func (c *call) weigh(ctx context.Context, view *policy.View, now time.Time) policy.Decision {
	req, also := c.request(ctx, now)
	narrowest := view.Decide(req)
	for _, r := range also {
		req.Resource = c.ref(r)
		d := view.Decide(req)
		if d.Effect == narrowest.Effect && d.Recorded() {
			narrowest, d = d, narrowest
		}
		narrowest = view.Both(narrowest, d)
	}
	return c.files(ctx, view, narrowest)
}

// request is the call as policy sees it: the right, the resource, and for a tool's call what its arguments touch.
// also are the further resources that it needs the right on.
func (c *call) request(ctx context.Context, now time.Time) (r policy.Request, also []op.Resource) {
	r = policy.Request{Right: c.op.Right, Op: c.op.Name, Resource: c.ref(c.resource),
		Present: present(c.op, c.caller), Now: now}
	if t := c.touches(ctx); t != nil {
		r.Tool, r.Facts, also = t.Tool, policy.TouchFacts(policy.Facts{Paths: t.Paths, Hosts: t.Hosts, Opaque: t.Opaque, Boxed: t.Boxed,
			Offline: t.Offline, Within: t.Within}, t.Shell), t.Also
		c.tool, c.facts = r.Tool, r.Facts
	}
	return r, also
}

// touches is what the call touches, found out once: the call is judged by one look at the world.
func (c *call) touches(ctx context.Context) *op.Touch {
	if !c.looked {
		c.looked, c.touch = true, c.op.Touch(ctx, c.in)
	}
	return c.touch
}

// Sight is what the caller of ctx sees of folders with a tool; "" is without any. Whatever shows or opens files for a caller asks it.
func (g *Gate) Sight(ctx context.Context, tool string) (*policy.Sight, error) {
	c := &call{caller: op.CallerFrom(ctx)}
	if !c.caller.Known() {
		return nil, fault.New(fault.Unauthenticated, "gate", "tandem does not know you")
	}
	if err := g.lookUp(ctx, c); err != nil {
		return nil, err
	}
	return c.view.Sight(tool, c.kin, c.real), nil
}

// Tool says why the caller of ctx may not use a tool at all, whatever it is used on; "" when that is not so. That nobody granted it says
// nothing: its calls may ask.
func (g *Gate) Tool(ctx context.Context, tool string) (string, error) {
	c := &call{caller: op.CallerFrom(ctx)}
	if err := g.lookUp(ctx, c); err != nil {
		return "", err
	}
	d := c.view.Decide(policy.Request{Right: "tool.execute", Resource: policy.ToolRef(tool), Tool: tool, Facts: &policy.Facts{},
		Now: g.db.Now()})
	if d.Effect != policy.Deny || d.Code == policy.CodeNoGrant {
		return "", nil
	}
	return d.Reason, nil
}

// present reports whether a person is behind this very call: proven now, or by
// a token that a present person minted for deciding.
func present(o *op.Op, c op.Caller) bool {
	return c.Kind == op.Person && (c.Present != "" || c.Decides && decides[o.Name])
}

// decides are the operations for which a present person can mint a token.
var decides = map[string]bool{"approval.decide": true, "approval.decide_several": true, "approval.always": true}

// forbidden is what no grant can give: deciding over MCP, by an agent, or from
// a network door what belongs on the machine.
func forbidden(o *op.Op, c op.Caller) *fault.Error {
	switch {
	case o.Socket && c.Door != op.DoorSocket && c.Door != op.DoorInside:
		return fault.New(fault.NotFound, o.Name, "there is no %s here", o.Name)
	case o.People && (c.Kind != op.Person || c.Door == op.DoorMCP):
		why, next := c.Kind.Words(), withPresence
		switch c.Kind {
		case op.Person:
			why = "a person, but over MCP it may be a model that speaks"
		case op.Local:
			next = asYourself
		}
		return fault.New(fault.Denied, o.Name, "%s is for people: %s is %s", o.Name, c.Name, why).With("presence", "required").
			WithNext("%s", next)
	case o.Present && !present(o, c):
		return fault.New(fault.Denied, o.Name, "%s needs a person who is present", o.Name).With("presence", "required").WithNext("%s",
			withPresence)
	}
	return nil
}

const withPresence = "ask a person to do it: on a terminal with the PIN, or in the panel with a passkey"

// asYourself is what a person types whose command was taken for anybody's, because nothing could ask for the PIN where it ran.
const asYourself = "show that you are a person: type the command on a terminal, which asks for your PIN, or do it in the panel: " +
	"tandem panel open"

// denial is the sentence for a refusal by policy: not found for what the
// caller may not see.
func (g *Gate) denial(c *call) *fault.Error {
	seen := c.ref(c.resource)
	if c.decision.Code == policy.CodeMalformed {
		return fault.New(fault.Invalid, c.op.Name, "%s", c.decision.Reason)
	}
	known := c.view.May(policy.CanView, seen)
	if called := c.resource.Called; called != "" && (!known || c.resource.Path == "/") { // what it was found as is not told, nor that it was
		return op.NoSuch(c.resource.Kind, called)
	}
	if !known {
		return fault.New(fault.NotFound, c.op.Name, "there is no %s %s", c.resource.Kind, strings.TrimPrefix(c.resource.Path, "/"))
	}
	f := fault.New(fault.Denied, c.op.Name, "%s may not %s: %s", c.caller.Name, c.op.Name, c.decision.Reason)
	if c.decision.Code == policy.CodePresence {
		return f.With("presence", "required").WithNext("%s", withPresence)
	}
	who := c.caller.Name
	if c.decision.Prompter != "" { // by itself the caller may
		who = c.decision.Prompter
	}
	return f.WithNext("see why: tandem policy explain --actor %s --op %s%s", who, c.op.Name, c.question())
}

// question is what policy was asked beside who and which operation, as flags of `tandem policy explain`: without the command, a rule
// about commands would give another answer than it gave here.
func (c *call) question() string {
	var all strings.Builder
	add := func(flag, word string) {
		if word != "" && len(word) <= 300 && !strings.ContainsFunc(word, func(r rune) bool { return r == '\'' || !unicode.IsPrint(r) }) {
			all.WriteString(" --" + flag + " '" + word + "'") // what a caller chose, and a person types: a shell must not read it
		}
	}
	if c.resource.Path != "/" {
		add("resource", c.resource.String())
	}
	if c.touch != nil {
		add("tool", c.touch.Tool)
		add("command", c.touch.Shell)
	}
	return all.String()
}

// refuse records a denial of a known caller. When it cannot be recorded the
// call is refused all the same.
func (g *Gate) refuse(ctx context.Context, c *call, why *fault.Error) error {
	c.refused = true
	err := g.db.Write(ctx, func(tx *db.Tx) error {
		_, err := g.append(tx, c, journal.Denied, 0, map[string]any{"reason": why.Msg, "code": c.decision.Code})
		return err
	})
	if err != nil {
		g.log.Error("denial not recorded", "op", c.op.Name, "actor", c.caller.Name, "err", err)
	}
	return why
}
