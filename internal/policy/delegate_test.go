package policy

import (
	"testing"
	"time"
)

func passed(t testing.TB, id, from, giver, principal, resource, perms string, change ...func(*ScopedGrant)) ScopedGrant {
	g := give(t, id, principal, Allow, resource, perms)
	p := who(t, giver)
	g.Source, g.DelegationID, g.SourcePrincipal = Delegation, from, &p
	for _, c := range change {
		c(&g)
	}
	return g
}

func TestDelegation(t *testing.T) {
	root := give(t, "root", "person:ann", Allow, "folder:/code", "read edit delegate", func(g *ScopedGrant) {
		g.Redelegate = 2
		g.ExpiresAt = noon.Add(time.Hour)
	})
	lead := passed(t, "lead", "root", "person:ann", "agent:lead", "folder:/code/app", "read edit delegate",
		func(g *ScopedGrant) { g.Redelegate = 1 })
	worker := passed(t, "worker", "lead", "agent:lead", "agent:worker", "folder:/", "read edit")
	c := compiled(t, "", root, lead, worker)
	w := seen(t, c, "agent:worker")
	r := do(t, CanEdit, "folder:/code/app/x")
	want(t, w, r, Allow, "grant:worker")
	want(t, w, do(t, CanEdit, "folder:/code/x"), Deny, "")
	if !w.Until().Equal(noon.Add(time.Hour)) {
		t.Errorf("the worker's view does not end with the root grant: %v", w.Until())
	}
	r.Now = noon.Add(2 * time.Hour)
	want(t, w, r, Deny, "")
	r.Now = noon
	// revoking any link kills what hangs on it
	want(t, seen(t, compiled(t, "", lead, worker), "agent:worker"), r, Deny, "")
	want(t, seen(t, compiled(t, "", root, worker), "agent:worker"), r, Deny, "")
	// what the lead is denied, the worker does not get through him
	denied := compiled(t, "", root, lead, worker, give(t, "no", "agent:lead", Deny, "folder:/code/app/x", "edit"))
	want(t, seen(t, denied, "agent:worker"), r, Deny, "")
	want(t, seen(t, denied, "agent:worker"), do(t, CanEdit, "folder:/code/app/y"), Allow, "")
	// an asking parent asks for its children too
	root.Effect = Ask
	want(t, seen(t, compiled(t, "", root, lead, worker), "agent:worker"), r, Ask, "grant:worker")

	loop := passed(t, "a", "b", "person:ann", "agent:lead", "folder:/", "read delegate")
	pool := passed(t, "b", "a", "person:ann", "agent:lead", "folder:/", "read delegate")
	if _, err := Compile(Source{Tenant: "home", Grants: []ScopedGrant{loop, pool}}); err == nil {
		t.Error("a circle of delegations compiles")
	}
}

func TestCheckDelegation(t *testing.T) {
	two := 2
	parent := give(t, "p", "person:ann", Ask, "folder:/code", "read delegate", func(g *ScopedGrant) {
		g.Redelegate, g.ExpiresAt, g.Scope.MaxDepth = 1, noon, &two
	})
	child := func(change func(*ScopedGrant)) *ScopedGrant {
		g := passed(t, "c", "p", "person:ann", "agent:a", "folder:/code/x", "read", func(g *ScopedGrant) { g.Effect, g.ExpiresAt = Ask, noon })
		change(&g)
		return &g
	}
	if err := CheckDelegation(&parent, child(func(*ScopedGrant) {}), "home", nil); err != nil {
		t.Errorf("a fair delegation is refused: %v", err)
	}
	for name, change := range map[string]func(*ScopedGrant){
		"more permissions": func(g *ScopedGrant) { g.Permissions = []AccessPermission{CanEdit} },
		"allow for ask":    func(g *ScopedGrant) { g.Effect = Allow },
		"another place":    func(g *ScopedGrant) { g.Scope.Root.Path = "/etc" },
		"too deep":         func(g *ScopedGrant) { g.Scope.Root.Path = "/code/a/b/c" },
		"no end":           func(g *ScopedGrant) { g.ExpiresAt = time.Time{} },
		"more data":        func(g *ScopedGrant) { g.DataClasses = []DataClass{CustomerData} },
		"passed on again":  func(g *ScopedGrant) { g.Redelegate = 1 },
		"not the holder":   func(g *ScopedGrant) { g.SourcePrincipal = &PrincipalRef{Person, "bob"} },
		"another parent":   func(g *ScopedGrant) { g.DelegationID = "q" },
	} {
		if err := CheckDelegation(&parent, child(change), "home", nil); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
