package book

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/testenv"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type bench struct {
	*Book
	t   *testing.T
	now atomic.Int64
}

func exam(t *testing.T, test func(b *bench)) {
	t.Run("sqlite", func(t *testing.T) { test(open(t, filepath.Join(t.TempDir(), "a.db"))) })
	t.Run("postgres", func(t *testing.T) { test(open(t, testenv.Postgres(t))) })
}

func open(t *testing.T, dsn string) *bench {
	t.Helper()
	b := &bench{t: t}
	b.now.Store(noon.UnixMicro())
	d, err := db.Open(t.Context(), dsn, func() time.Time { return time.UnixMicro(b.now.Load()) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	b.Book = New(d, who, func(op string) (Wants, bool) { return Wants{Right: "resource.write"}, op == "resource.put" })
	return b
}

// who knows ann the person and builder, an agent of hers.
func who(_ context.Context, _, name string) (policy.PrincipalRef, []policy.PrincipalRef, error) {
	ann := policy.PrincipalRef{Kind: policy.Person, ID: "ann"}
	switch name {
	case "ann":
		return ann, nil, nil
	case "builder", "worker":
		return policy.PrincipalRef{Kind: policy.Agent, ID: name}, []policy.PrincipalRef{ann}, nil
	}
	return policy.PrincipalRef{}, nil, fault.New(fault.NotFound, "actor", "there is no actor %s", name)
}

func (b *bench) ctx(tenant string) context.Context {
	c := op.Caller{Tenant: tenant, Actor: "act_ann", Name: "ann", Kind: op.Person, Present: "pin"}
	return op.WithMay(op.WithCaller(b.t.Context(), c), func(string, op.Resource) bool { return true })
}

func change[In, Out any](b *bench, tenant string, run func(context.Context, *db.Tx, In) (Out, error), in In) (out Out, err error) {
	err = b.db.Write(b.t.Context(), func(tx *db.Tx) (err error) { out, err = run(b.ctx(tenant), tx, in); return err })
	return out, err
}

func (b *bench) want(cs Case, effect, by string) {
	b.t.Helper()
	got, err := b.explain(b.ctx("home"), cs)
	if err != nil {
		b.t.Fatal(err)
	}
	if got.Effect != effect || (by != "" && got.By != by) {
		b.t.Errorf("%+v: %+v, want %s by %q", cs, got.Answer, effect, by)
	}
}

func TestGrantsTakeEffectAtOnce(t *testing.T) {
	exam(t, func(b *bench) {
		write := Case{Actor: "builder", Right: "folder.write", Resource: "/code/x"}
		b.want(write, "ask", "grant:default-agent-folder-write")
		given, err := change(b, "home", b.Add, GrantIn{Principal: "agent:builder", Resource: "folder:/code",
			Permissions: []string{"read", "edit"}, TTL: 3600, Note: "sprint"})
		if err != nil {
			t.Fatal(err)
		}
		b.want(write, "allow", "grant:"+given.ID)
		b.want(Case{Actor: "builder", Right: "folder.write", Resource: "/code-evil"}, "ask", "")
		b.want(Case{Actor: "worker", Right: "folder.write", Resource: "/code/x"}, "ask", "")
		b.now.Add(time.Hour.Microseconds())
		b.want(write, "ask", "grant:default-agent-folder-write")
		b.now.Add(-time.Minute.Microseconds()) // what has ended stays so when the clock is set back
		b.want(write, "ask", "grant:default-agent-folder-write")
		if _, err := change(b, "home", b.Revoke, GrantIDIn{ID: given.ID}); err != nil {
			t.Fatal(err)
		}
		b.want(write, "ask", "")
		if _, err := change(b, "home", b.Revoke, GrantIDIn{ID: given.ID}); !fault.Is(err, fault.NotFound) {
			t.Errorf("revoked twice: %v", err)
		}
		deny, err := change(b, "home", b.Add, GrantIn{Principal: "*", Effect: "deny", Resource: "folder:/code", Permissions: []string{"edit"}})
		if err != nil {
			t.Fatal(err)
		}
		b.want(write, "deny", "grant:"+deny.ID)
		out, err := b.grants(b.ctx("home"), GrantsIn{Revoked: true})
		if err != nil || len(out.Grants) != 2 || out.Version != 3 {
			t.Errorf("%+v %v", out, err)
		}
		// another tenant's policy is another policy
		if out, err := b.grants(b.ctx("other"), GrantsIn{Revoked: true}); err != nil || len(out.Grants) != 0 {
			t.Errorf("another tenant sees %+v %v", out, err)
		}
	})
}

func TestHouseGrantsCanBeLifted(t *testing.T) {
	exam(t, func(b *bench) {
		env := Case{Actor: "builder", Right: "folder.read", Resource: "/code/.env", Class: "source_code"}
		b.want(env, "deny", "grant:default-agent-keys")
		if _, err := change(b, "home", b.Revoke, GrantIDIn{ID: "default-agent-keys"}); err != nil {
			t.Fatal(err)
		}
		b.want(env, "allow", "")
		if _, err := change(b, "home", b.Revoke, GrantIDIn{ID: "default-authority-agent"}); !fault.Is(err, fault.Denied) {
			t.Errorf("deciding is given away: %v", err)
		}
		if _, err := change(b, "home", b.Revoke, GrantIDIn{ID: "default-nonsense"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
	})
}

func TestRulesAreVersioned(t *testing.T) {
	exam(t, func(b *bench) {
		one := int64(1)
		put := Case{Actor: "builder", Op: "resource.put", Resource: "/lock/a"}
		b.want(put, "allow", "")
		first, err := change(b, "home", b.edit,
			EditIn{Rules: `@id("locks") forbid (principal is Agent, action == Action::"edit", resource in Resource::"/lock");`, Note: "first"})
		if err != nil || first.Version != 1 || first.Rules != 1 {
			t.Fatalf("%+v %v", first, err)
		}
		b.want(put, "deny", "rule:locks")
		b.want(Case{Actor: "ann", Op: "resource.put", Resource: "/lock/a"}, "allow", "")
		for _, bad := range []EditIn{{Rules: "permit (principal"}, {Rules: `permit (principal, action == Action::"fly", resource);`},
			{Boundary: &policy.DataBoundary{Denied: []policy.DataClass{"nonsense"}}}} {
			if _, err := change(b, "home", b.edit, bad); !fault.Is(err, fault.Invalid) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		if _, err := change(b, "home", b.edit, EditIn{Rules: "", IfVersion: &one,
			Boundary: &policy.DataBoundary{Denied: []policy.DataClass{policy.Regulated}}}); err != nil {
			t.Fatal(err)
		}
		b.want(put, "allow", "")
		if _, err := change(b, "home", b.edit, EditIn{Rules: "", IfVersion: &one}); !fault.Is(err, fault.Conflict) {
			t.Errorf("an edit of an old version: %v", err)
		}
		b.want(Case{Actor: "ann", Op: "resource.put", Resource: "/lock/a", Class: "regulated"}, "deny", "")
		old, err := b.show(b.ctx("home"), ShowIn{Version: 1})
		if err != nil || !strings.Contains(old.Rules, "locks") || len(old.Boundary.Denied) != 0 {
			t.Errorf("version 1: %+v %v", old, err)
		}
		now, err := b.show(b.ctx("home"), ShowIn{History: true})
		if err != nil || now.Version != 2 || now.Rules != "" || len(now.History) != 2 || now.History[0].Note != "first" ||
			now.History[0].By != "ann" {
			t.Errorf("now: %+v %v", now, err)
		}
		if _, err := b.show(b.ctx("home"), ShowIn{Version: 9}); !fault.Is(err, fault.NotFound) {
			t.Errorf("version 9: %v", err)
		}
	})
}

func TestPassingOn(t *testing.T) {
	exam(t, func(b *bench) {
		root, err := change(b, "home", b.Add, GrantIn{Principal: "person:ann", Resource: "folder:/code",
			Permissions: []string{"edit", "delegate"}, Redelegate: 1})
		if err != nil {
			t.Fatal(err)
		}
		child, err := change(b, "home", b.Add, GrantIn{Principal: "agent:builder", Resource: "folder:/code/app", Permissions: []string{"edit"},
			From: root.ID})
		if err != nil {
			t.Fatal(err)
		}
		write := Case{Actor: "builder", Right: "folder.write", Resource: "/code/app/x"}
		b.want(write, "allow", "grant:"+child.ID)
		if _, err := change(b, "home", b.Add, GrantIn{Principal: "agent:builder", Resource: "folder:/etc", Permissions: []string{"edit"},
			From: root.ID}); !fault.Is(err, fault.Invalid) {
			t.Errorf("more than the parent: %v", err)
		}
		if _, err := change(b, "home", b.Add, GrantIn{Principal: "agent:builder", Resource: "folder:/code", Permissions: []string{"edit"},
			From: "grt_nothing"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("from nothing: %v", err)
		}
		out, err := change(b, "home", b.Revoke, GrantIDIn{ID: root.ID})
		if err != nil || len(out.Ended) != 1 || out.Ended[0] != child.ID {
			t.Fatalf("%+v %v", out, err)
		}
		b.want(write, "ask", "")
		list, err := b.grants(b.ctx("home"), GrantsIn{})
		if err != nil || len(list.Grants) != 1 || list.Grants[0].Dead == "" {
			t.Errorf("the orphan is not shown as dead: %+v %v", list, err)
		}
	})
}

func TestTryingRules(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "a.db"))
	rules := `@id("quiet") forbid (principal is Agent, action == Action::"execute", resource is Tool) when { ` +
		`context.commands.contains("git push") };`
	cases := []Case{
		{Actor: "builder", Tool: "bash", Command: "git push -f", Want: "deny"},
		{Actor: "builder", Tool: "bash", Command: "git log", Want: "ask"},
		{Actor: "builder", Tool: "grep", Want: "allow"},
		{Actor: "ann", Right: "approval.decide", Want: "deny"},
		{Actor: "ann", Right: "approval.decide", Present: true, Want: "allow"},
	}
	out, err := b.test(b.ctx("home"), TestIn{Rules: &rules, Cases: cases})
	if err != nil || !out.OK || len(out.Results) != len(cases) {
		t.Errorf("%+v %v", out, err)
	}
	if out, err := b.test(b.ctx("home"), TestIn{Cases: cases[:1]}); err != nil || out.OK {
		t.Errorf("the rule that was only tried is in force: %+v %v", out, err)
	}
	bad := "permit"
	for name, in := range map[string]TestIn{"rules": {Rules: &bad}, "want": {Cases: []Case{{Actor: "ann", Op: "resource.put"}}},
		"op": {Cases: []Case{{Op: "no.such", Want: "deny"}}}} {
		if _, err := b.test(b.ctx("home"), in); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.explain(b.ctx("home"), Case{Actor: "nobody", Op: "resource.put"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown actor: %v", err)
	}
}

func TestMalformedGrantsLeaveNoTrace(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "a.db"))
	good := GrantIn{Principal: "agent:builder", Resource: "folder:/code", Permissions: []string{"edit"}}
	for name, spoil := range map[string]func(*GrantIn){
		"principal": func(g *GrantIn) { g.Principal = "robot:x" }, "effect": func(g *GrantIn) { g.Effect = "maybe" },
		"resource": func(g *GrantIn) { g.Resource = "folder:code" }, "permission": func(g *GrantIn) { g.Permissions = []string{"fly"} },
		"none": func(g *GrantIn) { g.Permissions = nil }, "class": func(g *GrantIn) { g.Classes = []string{"x"} },
		"tool":     func(g *GrantIn) { g.Tools = []string{"bash("} },
		"approver": func(g *GrantIn) { g.Approvers = []string{"agent:x"} }, "end": func(g *GrantIn) { g.TTL = -1 },
		"except": func(g *GrantIn) { g.Except = []string{"moon:/"} },
	} {
		g := good
		spoil(&g)
		if _, err := change(b, "home", b.Add, g); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out, err := b.show(b.ctx("home"), ShowIn{History: true}); err != nil || out.Version != 0 || len(out.History) != 0 {
		t.Errorf("something was written: %+v %v", out, err)
	}
}

// A change that another server made is seen at the next question, and a policy that cannot be read is no policy.
func TestSharedDatabase(t *testing.T) {
	dsn := testenv.Postgres(t)
	one, two := open(t, dsn), open(t, dsn)
	write := Case{Actor: "builder", Right: "folder.write", Resource: "/code/x"}
	two.want(write, "ask", "")
	for i := range 3 {
		g, err := change(one, "home", one.Add, GrantIn{Principal: "agent:builder", Resource: "folder:/code", Permissions: []string{"edit"},
			Note: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		two.want(write, "allow", "grant:"+g.ID)
		if _, err := change(one, "home", one.Revoke, GrantIDIn{ID: g.ID}); err != nil {
			t.Fatal(err)
		}
		two.want(write, "ask", "")
	}
}

func TestNoPolicyIsARefusal(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "a.db"))
	err := b.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err1 := tx.Exec("INSERT INTO policy_head (tenant, version) VALUES ('home', 1)")
		_, err2 := tx.Exec("INSERT INTO policy_rules (tenant, version, rules, boundary) VALUES ('home', 1, 'not cedar', '{}')")
		return errors.Join(err1, err2)
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Policy(t.Context(), "home")
	if err == nil || c != nil {
		t.Errorf("a broken policy loads: %v", err)
	}
	if d := c.View(policy.StrictTenantContext{Tenant: "home", Principal: policy.PrincipalRef{Kind: policy.Person, ID: "ann"}}, noon).
		Decide(policy.Request{Right: "resource.read", Resource: policy.ResourceRef{Path: "/"}}); d.Effect != policy.Deny {
		t.Errorf("without a policy: %+v", d)
	}
}
