package book

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/db"
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
	src   policy.Source
	ref   policy.PrincipalRef
	chain []policy.PrincipalRef
	req   policy.Request
	wants Wants
	out   *WhyNotOut
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
	if err := b.db.Read(ctx, func(tx *db.Tx) error { t.src, _, err = b.inForce(ctx, tx, c.Tenant); return err }); err != nil {
		return out, err
	}
	out.Actor = t.ref.String()
	for first := true; len(out.Needs) < maxNeeds; first = false {
		compiled, err := policy.Compile(t.src)
		if err != nil {
			return out, refusal("policy.why_not", err)
		}
		d := t.decide(compiled, t.ref, t.chain)
		if first {
			out.Answer = answer(d)
		}
		if out.Then = d.Effect.String(); !t.mend(compiled, d) {
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
	view := c.View(policy.StrictTenantContext{Tenant: t.src.Tenant, Principal: ref, AuthorityChain: chain}, t.req.Now)
	d := view.Decide(led(t.req))
	if as := view.Decide(t.req); narrower(as, d) {
		d = as
	}
	return d
}

func (t *trial) needs(next, what string, args ...any) {
	t.out.Needs = append(t.out.Needs, Need{What: fmt.Sprintf(what, args...), Next: next})
}

// mend changes the policy by what is in the way now. It says no where nothing is, or where only a person can tell how.
func (t *trial) mend(c *policy.Compiled, d policy.Decision) bool {
	switch {
	case d.Effect == policy.Allow:
		return false
	case d.House() && d.Effect == policy.Ask:
		line := t.line(t.ref, led(t.req).Resource, policy.Suggest(t.req.Tool, t.req.Facts))
		t.needs(line, "an approval of this very call, by %s; or a grant, so that nobody has to be asked",
			strings.Join(names(d.Approvers), " or "))
		return false
	case d.Effect == policy.Ask:
		t.needs("tandem approvals", "an approval of this very call, by %s, because %s asks", strings.Join(names(d.Approvers), " or "), said(d.By))
		return false
	case d.Code == policy.CodeNoGrant:
		return t.grant(c, d.Class)
	case d.Code == policy.CodeDenied:
		id := strings.TrimPrefix(d.By, "grant:")
		n, whose := len(t.src.Grants), ""
		for i := range t.src.Grants {
			if g := &t.src.Grants[i]; g.ID == id && g.Principal != t.ref {
				whose = fmt.Sprintf(", for %s and all of %s", g.Principal, g.Scope.Root)
			}
		}
		t.src.Grants = slices.DeleteFunc(t.src.Grants, func(g policy.ScopedGrant) bool { return g.ID == id || g.DelegationID == id })
		t.needs("tandem grant revoke "+id, "the denial %s is taken back%s: %s", id, whose, d.Reason)
		return len(t.src.Grants) < n
	case d.Code == policy.CodeBoundary:
		t.needs("tandem policy edit", "data of the class %s may pass", d.Class)
		t.src.Boundary = policy.DataBoundary{}
		return true
	case d.Code == policy.CodePresence && t.ref.Kind == policy.Person && !t.req.Present:
		t.needs("", "%s proves to be present, with a PIN or a passkey", t.ref)
		t.req.Present = true
		return true
	case d.Code == policy.CodePresence:
		t.needs("", "a person does it, who is present: %s never may", t.ref)
	case d.Code == policy.CodeForbidden || d.Code == policy.CodeRuleError:
		t.needs("tandem policy edit", "%s does not forbid it any more: %s", said(d.By), d.Reason)
	default:
		t.needs("", "%s", d.Reason)
	}
	return false
}

// grant gives what is lacking to everybody of the chain who lacks it: an actor may what all for whom it acts may, too.
func (t *trial) grant(c *policy.Compiled, class policy.DataClass) bool {
	right, err := policy.ParseRight(t.req.Right)
	if err != nil {
		return false
	}
	given := false
	for i, p := range append([]policy.PrincipalRef{t.ref}, t.chain...) {
		id := fmt.Sprint("why-not-", i)
		tried := slices.ContainsFunc(t.src.Grants, func(g policy.ScopedGrant) bool { return g.ID == id })
		if d := t.decide(c, p, nil); tried || d.Code != policy.CodeNoGrant && (i > 0 || len(t.chain) > 0) {
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
		t.src.Grants = append(t.src.Grants, g)
		given = true
	}
	if !given {
		t.needs("tandem policy edit", "a rule that permits it: a grant alone does not")
	}
	return given
}

// enough says whether a grant is what somebody lacks.
func (t *trial) enough(p policy.PrincipalRef, g policy.ScopedGrant) bool {
	src := t.src
	src.Grants = append(slices.Clone(src.Grants), g)
	c, err := policy.Compile(src)
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
