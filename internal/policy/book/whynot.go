package book

import (
	"context"
	"fmt"
	"strings"

	"tandem/internal/op"
	"tandem/internal/policy"
)

// Need is one thing that has to change before an actor may do something.
type Need struct {
	What string `json:"what"`
	Next string `json:"next,omitempty" jsonschema:"what a person types for it"`
}

// WhyNotOut says what would be needed. Each need was tried: with those before it, it is the next thing that is in the way.
type WhyNotOut struct {
	Actor string `json:"actor"`
	Answer
	Needs []Need `json:"needs" jsonschema:"what has to change, in this order"`
	Then  string `json:"then" jsonschema:"allow, ask or deny: the answer once all that is done"`
}

// maxNeeds bounds how far a question is followed.
const maxNeeds = 32

// trial is a policy that is changed until it answers yes.
type trial struct {
	*policy.Compiled
	written policy.Source // what stands beside the grants, for when that changes
	ref     policy.PrincipalRef
	chain   []policy.PrincipalRef
	narrow  []*policy.Narrowed
	req     policy.Request
	wants   Wants
	out     *WhyNotOut
}

func (b *Book) whyNot(ctx context.Context, in Case) (WhyNotOut, error) {
	c := op.CallerFrom(ctx)
	if in.Actor == "" {
		in.Actor = c.Name
	}
	out := WhyNotOut{Needs: []Need{}}
	t := trial{out: &out}
	var err error
	if t.req, err = b.request(in, b.db.Now()); err != nil {
		return out, err
	}
	if t.ref, t.chain, err = b.who(ctx, c.Tenant, in.Actor); err != nil {
		return out, err
	}
	if t.narrow, err = b.narrowings(ctx, c.Tenant, t.chain); err != nil {
		return out, err
	}
	k, err := b.current(ctx, c.Tenant)
	if err != nil {
		return out, err
	}
	t.Compiled, t.written = k.Compiled, k.written
	t.written.Rules = k.rules
	out.Actor = t.ref.String()
	for first := true; len(out.Needs) < maxNeeds; first = false {
		d := t.decide(t.Compiled, t.ref, t.chain)
		if first {
			out.Answer = answer(d)
		}
		out.Then = d.Effect.String()
		if more, err := t.mend(d); err != nil {
			return out, refusal("policy.why_not", err)
		} else if !more {
			break
		}
	}
	if in.Op != "" {
		t.wants, _ = b.wants(in.Op)
		t.beside()
	}
	return out, nil
}

// beside adds what the operation wants whatever the policy says.
func (t *trial) beside() {
	if t.out.Then == policy.Deny.String() { // the policy is in the way for good, and said so
		return
	}
	person := t.ref.Kind == policy.Person
	switch {
	case (t.wants.People || t.wants.Present) && !person:
		t.needs("", "a person does it: %s never may", t.ref)
		t.out.Then = policy.Deny.String()
		return
	case t.wants.Present && !t.req.Present:
		t.needs("", "%s proves to be present, with a PIN or a passkey", t.ref)
	}
	if t.wants.Socket {
		t.needs("", "it is done on the server's own machine, by its control socket")
	}
}

func (t *trial) decide(c *policy.Compiled, ref policy.PrincipalRef, chain []policy.PrincipalRef) policy.Decision {
	view := c.View(policy.StrictTenantContext{Tenant: t.written.Tenant, Principal: ref, AuthorityChain: chain, Narrowed: t.narrow}, t.req.Now)
	d := view.Decide(led(t.req))
	if as := view.Decide(t.req); narrower(as, d) {
		d = as
	}
	return d
}

func (t *trial) needs(next, what string, args ...any) {
	t.out.Needs = append(t.out.Needs, Need{What: fmt.Sprintf(what, args...), Next: next})
}

// try goes on with a policy that is different.
func (t *trial) try(to policy.Change) (more bool, err error) {
	to.Version = t.Version()
	c, err := t.Changed(to)
	if err == nil {
		t.Compiled = c
	}
	return err == nil, err
}

// mend changes the policy by what is in the way now. It says no where nothing is, or where only a person can tell how.
func (t *trial) mend(d policy.Decision) (more bool, err error) {
	switch {
	case d.Effect == policy.Allow:
		return false, nil
	case d.House() && d.Effect == policy.Ask:
		line := t.line(t.ref, led(t.req).Resource, policy.Suggest(t.req.Tool, t.req.Facts))
		t.needs(line, "an approval of this very call, by %s; or a grant, so that nobody has to be asked",
			strings.Join(names(d.Approvers), " or "))
		return false, nil
	case d.Effect == policy.Ask:
		t.needs("tandem approvals", "an approval of this very call, by %s, because %s asks", strings.Join(names(d.Approvers), " or "), said(d.By))
		return false, nil
	case d.Code == policy.CodeNoGrant:
		return t.grant(d.Class)
	case d.Code == policy.CodeDenied:
		id := strings.TrimPrefix(d.By, "grant:")
		g, whose := t.Grant(id), ""
		if g != nil && g.Principal != t.ref {
			whose = fmt.Sprintf(", for %s and all of %s", g.Principal, g.Scope.Root)
		}
		t.needs("tandem grant revoke "+id, "the denial %s is taken back%s: %s", id, whose, d.Reason)
		if g != nil {
			return t.try(policy.Change{TakenBack: []string{id}})
		}
	case d.Code == policy.CodeBoundary:
		t.needs("tandem policy edit", "data of the class %s may pass", d.Class)
		t.written.Boundary = policy.DataBoundary{}
		return t.try(policy.Change{Written: &t.written})
	case d.Code == policy.CodePresence && t.ref.Kind == policy.Person && !t.req.Present:
		t.needs("", "%s proves to be present, with a PIN or a passkey", t.ref)
		t.req.Present = true
		return true, nil
	case d.Code == policy.CodePresence:
		t.needs("", "a person does it, who is present: %s never may", t.ref)
	case d.Code == policy.CodeForbidden || d.Code == policy.CodeRuleError:
		t.needs("tandem policy edit", "%s does not forbid it any more: %s", said(d.By), d.Reason)
	default:
		t.needs("", "%s", d.Reason)
	}
	return false, nil
}

// grant gives what is lacking to everybody of the chain who lacks it: an actor may what all for whom it acts may, too.
func (t *trial) grant(class policy.DataClass) (more bool, err error) {
	right, err := policy.ParseRight(t.req.Right)
	if err != nil {
		return false, nil
	}
	var given []policy.ScopedGrant
	for i, p := range append([]policy.PrincipalRef{t.ref}, t.chain...) {
		id := fmt.Sprint("why-not-", i)
		if d := t.decide(t.Compiled, p, nil); t.Grant(id) != nil || d.Code != policy.CodeNoGrant && (i > 0 || len(t.chain) > 0) {
			continue
		}
		g := policy.ScopedGrant{ID: id, Principal: p, Source: policy.Direct, Effect: policy.Allow,
			Scope: policy.ResourceScope{Root: led(t.req).Resource}, Permissions: []policy.AccessPermission{right.Permission}}
		g.Scope.Root.Of, g.Scope.Root.Written = "", ""
		pattern := policy.Suggest(t.req.Tool, t.req.Facts)
		if narrow := g; pattern != "" {
			narrow.ToolPatterns = []string{pattern}
			if t.enough(p, narrow) {
				g = narrow
			} else {
				pattern = ""
			}
		}
		line := t.line(p, g.Scope.Root, pattern)
		if class != "" && class != policy.Public && class != policy.Internal && class != policy.SourceCode {
			g.DataClasses = []policy.DataClass{class}
			line += " --class " + string(class)
		}
		t.needs(line, "a grant to %s for %s to %s", right.Permission, g.Scope.Root, p)
		given = append(given, g)
	}
	if len(given) == 0 {
		t.needs("tandem policy edit", "a rule that permits it: a grant alone does not")
		return false, nil
	}
	return t.try(policy.Change{Given: given})
}

// enough says whether a grant is what somebody lacks.
func (t *trial) enough(p policy.PrincipalRef, g policy.ScopedGrant) bool {
	c, err := t.Changed(policy.Change{Given: []policy.ScopedGrant{g}})
	return err == nil && t.decide(c, p, nil).Code != policy.CodeNoGrant
}

// line is how a person gives somebody what the question is about, and of a tool no more than calls like it.
func (t *trial) line(p policy.PrincipalRef, r policy.ResourceRef, pattern string) string {
	right, _ := policy.ParseRight(t.req.Right) // it was read before
	line := fmt.Sprintf("tandem grant add %s %s --can %s", word(p.String()), word(r.String()), right.Permission)
	if pattern != "" {
		line += " --tool " + word(pattern)
	}
	return line
}

func said(by string) string {
	if by == "" {
		return "the policy"
	}
	return by
}

// word is one word of a command line.
func word(s string) string {
	plain := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._-"
	if strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
