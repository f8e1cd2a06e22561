package gate

import (
	"context"
	"testing"
	"time"

	"tandem/internal/op"
	"tandem/internal/policy"
)

// The tools of agent programs have resources of their own, so a denied folder said nothing about them: Read and Grep of a real agent
// went where the read and grep of a model could not. Where no sandbox hides a denied tree, what may come to it asks.
func TestAToolIsJudgedByTheFilesItNames(t *testing.T) {
	all := policy.ResourceRef{Kind: policy.KindTool, Path: "/"}
	grant := func(id string, e policy.Effect, r policy.ResourceRef, can policy.AccessPermission) policy.ScopedGrant {
		return policy.ScopedGrant{ID: id, Principal: policy.PrincipalRef{Kind: "*", ID: "*"}, Effect: e, Scope: policy.ResourceScope{Root: r},
			Permissions: []policy.AccessPermission{can}, Source: policy.Direct}
	}
	folder := func(p string) policy.ResourceRef { return policy.ResourceRef{Kind: policy.KindFolder, Path: p} }
	compiled, err := policy.Compile(policy.Source{Tenant: "t",
		Grants: append(policy.DefaultGrants(), grant("tools", policy.Allow, all, policy.CanExecute),
			grant("priv", policy.Deny, folder("/p/priv"), policy.CanView), grant("gen", policy.Deny, folder("/p/gen"), policy.CanEdit),
			grant("slow", policy.Ask, folder("/p/slow"), policy.CanRead))})
	if err != nil {
		t.Fatal(err)
	}
	view := compiled.View(policy.StrictTenantContext{Tenant: "t", Principal: policy.PrincipalRef{Kind: policy.Session, ID: "s"},
		AuthorityChain: []policy.PrincipalRef{{Kind: policy.Person, ID: "me"}}}, time.Now())
	for _, x := range []struct {
		touch op.Touch
		want  policy.Effect
	}{
		{op.Touch{Tool: "read", Paths: []string{"/p/a.go"}}, policy.Allow},
		{op.Touch{Tool: "read", Paths: []string{"/p/priv/x"}}, policy.Deny},
		{op.Touch{Tool: "read", Paths: []string{"/p/slow/x"}}, policy.Ask},
		{op.Touch{Tool: "read", Paths: []string{"/p/gen/x"}}, policy.Allow},
		{op.Touch{Tool: "edit", Paths: []string{"/p/gen/x"}}, policy.Deny},
		{op.Touch{Tool: "edit", Paths: []string{"/p/a.go"}}, policy.Allow},
		{op.Touch{Tool: "grep", Paths: []string{"/p"}}, policy.Ask},
		{op.Touch{Tool: "grep", Paths: []string{"/p"}, Boxed: true}, policy.Allow},
		{op.Touch{Tool: "grep", Paths: []string{"/p/src"}}, policy.Allow},
		{op.Touch{Tool: "bash", Paths: []string{"/p"}, Shell: "cat priv/x > y"}, policy.Deny},
		{op.Touch{Tool: "bash", Paths: []string{"/p"}, Shell: "cat *"}, policy.Ask},
		{op.Touch{Tool: "bash", Paths: []string{"/p"}, Shell: "cat *", Boxed: true}, policy.Allow},
	} {
		o := op.Touching(op.Read(op.Spec{Name: "session.tool", Right: "tool.use"}, func(struct{}) op.Resource { return op.Resource{} },
			func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }),
			func(context.Context, struct{}) op.Touch { return x.touch })
		c := &call{op: &o, in: struct{}{}, resource: op.Resource{Kind: "tool", Path: "/" + x.touch.Tool}}
		if d := c.weigh(t.Context(), view, time.Now()); d.Effect != x.want {
			t.Errorf("%+v: %s (%s %s), want %s", x.touch, d.Effect, d.By, d.Reason, x.want)
		}
	}
}

// A rule about a file that wants two people, or certain ones, was heard when the file was read, and not when a tool of an agent program
// came to it: anybody could answer that.
func TestAFilesRuleSaysWhoAnswersForATool(t *testing.T) {
	all := policy.ScopedGrant{ID: "tools", Principal: policy.PrincipalRef{Kind: "*", ID: "*"}, Effect: policy.Allow, Source: policy.Direct,
		Scope:       policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.KindTool, Path: "/"}},
		Permissions: []policy.AccessPermission{policy.CanExecute}}
	compiled, err := policy.Compile(policy.Source{Tenant: "t", Grants: append(policy.DefaultGrants(), all),
		Rules: `@id("two") @ask("look twice") @critical @approvers("person:ben") forbid (principal, action, resource in Folder::"/p/two");`})
	if err != nil {
		t.Fatal(err)
	}
	view := compiled.View(policy.StrictTenantContext{Tenant: "t", Principal: policy.PrincipalRef{Kind: policy.Session, ID: "s"},
		AuthorityChain: []policy.PrincipalRef{{Kind: policy.Person, ID: "me"}}}, time.Now())
	touch := op.Touch{Tool: "read", Paths: []string{"/p/two/x"}}
	o := op.Touching(op.Read(op.Spec{Name: "session.tool", Right: "tool.use"}, func(struct{}) op.Resource { return op.Resource{} },
		func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }),
		func(context.Context, struct{}) op.Touch { return touch })
	c := &call{op: &o, in: struct{}{}, resource: op.Resource{Kind: "tool", Path: "/read"}}
	d := c.weigh(t.Context(), view, time.Now())
	if d.Effect != policy.Ask || !d.Needs.Two || len(d.Approvers) != 1 || d.Approvers[0].ID != "ben" {
		t.Errorf("%+v", d)
	}
}
