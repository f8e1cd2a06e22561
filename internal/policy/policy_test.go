package policy

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func who(t testing.TB, s string) PrincipalRef {
	t.Helper()
	p, err := ParsePrincipal(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func at(t testing.TB, s string) ResourceRef {
	t.Helper()
	r, err := ParseResource(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// give makes a direct grant in a few words: "agent:builder", Allow, "folder:/code", "read edit".
func give(t testing.TB, id, principal string, e Effect, resource, perms string, change ...func(*ScopedGrant)) ScopedGrant {
	t.Helper()
	g := ScopedGrant{ID: id, Principal: who(t, principal), Scope: ResourceScope{Root: at(t, resource)}, Effect: e, Source: Direct}
	for p := range strings.FieldsSeq(perms) {
		g.Permissions = append(g.Permissions, AccessPermission(p))
	}
	for _, c := range change {
		c(&g)
	}
	return g
}

func compiled(t testing.TB, rules string, grants ...ScopedGrant) *Compiled {
	t.Helper()
	c, err := Compile(Source{Tenant: "home", Version: 1, Grants: grants, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func seen(t testing.TB, c *Compiled, chain ...string) *View {
	t.Helper()
	ctx := StrictTenantContext{Tenant: "home", Principal: who(t, chain[0])}
	for _, s := range chain[1:] {
		ctx.AuthorityChain = append(ctx.AuthorityChain, who(t, s))
	}
	return c.View(ctx, noon)
}

func want(t *testing.T, v *View, r Request, e Effect, by string) Decision {
	t.Helper()
	d := v.Decide(r)
	if d.Effect != e || (by != "" && d.By != by) {
		t.Errorf("%s %s: got %s by %q (%s), want %s by %q", r.Permission, r.Resource, d.Effect, d.By, d.Reason, e, by)
	}
	if d.Reason == "" || d.Code == "" {
		t.Errorf("%s %s: no reason given", r.Permission, r.Resource)
	}
	if (d.Effect == Ask) != (len(d.Approvers) > 0) {
		t.Errorf("%s %s: %s names approvers %v", r.Permission, r.Resource, d.Effect, d.Approvers)
	}
	return d
}

func do(t testing.TB, p AccessPermission, resource string) Request {
	return Request{Permission: p, Resource: at(t, resource)}
}

func TestZeroRefuses(t *testing.T) {
	var v View
	var c Compiled
	var nilView *View
	var nilCompiled *Compiled
	ctx := StrictTenantContext{Tenant: "home", Principal: who(t, "person:ann")}
	for name, view := range map[string]*View{"zero view": &v, "nil view": nilView, "zero policy": c.View(ctx, noon),
		"nil policy":   nilCompiled.View(ctx, noon),
		"empty policy": compiled(t, "").View(ctx, noon), "zero context": compiled(t, "", DefaultGrants()...).View(StrictTenantContext{}, noon)} {
		if d := view.Decide(do(t, CanView, "resource:/a")); d.Effect != Deny || d.Reason == "" {
			t.Errorf("%s: %+v", name, d)
		}
		if view.May(CanView, at(t, "resource:/a")) {
			t.Errorf("%s shows something", name)
		}
	}
	if (Decision{}).Effect != Deny {
		t.Error("the zero decision does not deny")
	}
}

func TestTreeHasRealBoundaries(t *testing.T) {
	two := 2
	c := compiled(t, "",
		give(t, "code", "agent:a", Allow, "folder:/code", "read"),
		give(t, "shallow", "agent:a", Allow, "folder:/docs", "read", func(g *ScopedGrant) { g.Scope.MaxDepth = &two }),
		give(t, "holed", "agent:a", Allow, "folder:/desk", "read", func(g *ScopedGrant) {
			g.Scope.Denied = []ResourceRef{at(t, "folder:/desk/private")}
		}),
		give(t, "only", "agent:a", Allow, "folder:/src", "read", func(g *ScopedGrant) { g.Scope.Only = []string{"/src/**/*.go"} }))
	v := seen(t, c, "agent:a")
	for path, e := range map[string]Effect{
		"folder:/code": Allow, "folder:/code/a/b": Allow, "folder:/code-evil": Deny, "folder:/cod": Deny, "folder:/": Deny,
		"repo:/code": Deny, "folder:/docs": Allow, "folder:/docs/a/b": Allow, "folder:/docs/a/b/c": Deny,
		"folder:/desk/x": Allow, "folder:/desk/private": Deny, "folder:/desk/private/x": Deny, "folder:/desk/private2": Allow,
		"folder:/src/main.go": Allow, "folder:/src/a/b/x.go": Allow, "folder:/src/x.py": Deny,
	} {
		want(t, v, do(t, CanRead, path), e, "")
		want(t, v, do(t, CanEdit, path), Deny, "")
		if v.May(CanRead, at(t, path)) != (e != Deny) {
			t.Errorf("May disagrees about %s", path)
		}
	}
	for _, p := range []string{"", "code", "/code/../etc", "/code/./x", "/code//x", "/code/", "/code/\x00"} {
		want(t, v, Request{Permission: CanRead, Resource: ResourceRef{Kind: KindFolder, Path: p}}, Deny, "")
	}
	other := Request{Permission: CanRead, Resource: ResourceRef{Tenant: "other", Kind: KindFolder, Path: "/code"}}
	if d := want(t, v, other, Deny, ""); d.Code != CodeTenant {
		t.Errorf("another tenant's folder: %s", d.Code)
	}
}

func TestTiersAndDenial(t *testing.T) {
	def := func(g *ScopedGrant) { g.Source = Default }
	c := compiled(t, "",
		give(t, "d-ask", "agent:*", Ask, "folder:/", "edit", def),
		give(t, "auto", "agent:a", Allow, "folder:/code", "edit"),
		give(t, "careful", "agent:a", Ask, "folder:/code/prod", "edit", func(g *ScopedGrant) { g.Approvers = []PrincipalRef{{Person, "ann"}} }),
		give(t, "never", "*", Deny, "folder:/code/prod/keys", "edit"),
		give(t, "unseen", "agent:a", Deny, "folder:/code/hidden", "view"))
	v := seen(t, c, "agent:a")
	want(t, v, do(t, CanEdit, "folder:/other"), Ask, "grant:d-ask")
	want(t, v, do(t, CanEdit, "folder:/code/x"), Allow, "grant:auto")
	if d := want(t, v, do(t, CanEdit, "folder:/code/prod/x"), Ask, "grant:careful"); len(d.Approvers) != 1 || d.Approvers[0].ID != "ann" {
		t.Errorf("approvers %v", d.Approvers)
	}
	want(t, v, do(t, CanEdit, "folder:/code/prod/keys/k"), Deny, "grant:never")
	want(t, v, do(t, CanEdit, "folder:/code/hidden/k"), Deny, "grant:unseen")
	want(t, v, do(t, CanView, "folder:/code/prod/keys/k"), Allow, "grant:auto")
}

func TestViewsAreKeptUntilSomethingEnds(t *testing.T) {
	c := compiled(t, "", give(t, "soon", "agent:a", Allow, "folder:/", "read", func(g *ScopedGrant) { g.ExpiresAt = noon.Add(time.Hour) }))
	ctx := StrictTenantContext{Tenant: "home", Principal: who(t, "agent:a")}
	v := c.View(ctx, noon)
	if c.View(ctx, noon.Add(59*time.Minute)) != v {
		t.Error("the view is made again for the same caller")
	}
	if c.View(StrictTenantContext{Tenant: "home", Principal: who(t, "agent:a"), AuthorityChain: []PrincipalRef{who(t, "agent:b")}},
		noon) == v {
		t.Error("another caller gets the view")
	}
	if limited := c.View(StrictTenantContext{Tenant: "home", Principal: who(t, "agent:a"), Ceiling: &Ceiling{}}, noon); limited.May(CanRead,
		at(t, "folder:/x")) {
		t.Error("a limited credential gets the view of its owner")
	}
	timed := compiled(t, `forbid (principal, action, resource) when { context.now < datetime("2026-03-01T12:01:00Z") };`,
		give(t, "g", "*", Allow, "folder:/", "read"))
	if timed.View(ctx, noon).May(CanRead, at(t, "folder:/x")) || !timed.View(ctx, noon.Add(2*time.Minute)).May(CanRead, at(t, "folder:/x")) {
		t.Error("the mask does not follow a rule that speaks of the time")
	}
	if !v.May(CanRead, at(t, "folder:/x")) || c.View(ctx, noon.Add(time.Hour)).May(CanRead, at(t, "folder:/x")) {
		t.Error("the mask outlives the grant")
	}
}

func TestMayAny(t *testing.T) {
	c := compiled(t, `permit (principal == Agent::"a", action == Action::"read", resource in Board::"/x");`,
		give(t, "team", "agent:a", Allow, "resource:/team", "edit"), give(t, "frozen", "agent:a", Deny, "resource:/team/x", "edit"),
		give(t, "repos", "agent:a", Allow, "repo:/", "read"), give(t, "none", "agent:a", Deny, "repo:/", "read"),
		give(t, "over", "agent:a", Allow, "space:/", "read", func(g *ScopedGrant) { g.ExpiresAt = noon }),
		give(t, "admin", "agent:a", Allow, "secret:/", "admin"))
	v := seen(t, c, "agent:a")
	for _, x := range []struct {
		p    AccessPermission
		k    ResourceKind
		want bool
	}{{CanEdit, KindResource, true}, {CanExecute, KindResource, false}, {CanRead, KindRepo, false}, {CanView, KindRepo, true},
		{CanRead, KindSpace, false},
		{CanRead, KindBoard, true}, {CanEdit, KindBoard, false}, {CanAdmin, KindSecret, false}, {CanView, "nonsense", false}} {
		if v.MayAny(x.p, x.k) != x.want {
			t.Errorf("%s %s: %v", x.p, x.k, !x.want)
		}
	}
	limited := c.View(StrictTenantContext{Tenant: "home", Principal: who(t, "agent:a"), Ceiling: &Ceiling{Rights: []string{"board.*"}}}, noon)
	if limited.MayAny(CanEdit, KindResource) || !limited.MayAny(CanRead, KindBoard) {
		t.Error("the ceiling is not kept")
	}
	var zero *View
	if zero.MayAny(CanView, KindRepo) || (&View{}).MayAny(CanView, KindRepo) {
		t.Error("the zero view shows something")
	}
}

func TestExpiryAndClass(t *testing.T) {
	c, err := Compile(Source{Tenant: "home", Boundary: DataBoundary{Denied: []DataClass{Regulated}}, Grants: []ScopedGrant{
		give(t, "soon", "agent:a", Allow, "folder:/", "read", func(g *ScopedGrant) { g.ExpiresAt = noon.Add(time.Hour) }),
		give(t, "classed", "agent:b", Allow, "folder:/", "read", func(g *ScopedGrant) { g.DataClasses = []DataClass{AnyClass} })}})
	if err != nil {
		t.Fatal(err)
	}
	a, b := seen(t, c, "agent:a"), seen(t, c, "agent:b")
	r := do(t, CanRead, "folder:/x")
	want(t, a, r, Allow, "grant:soon")
	if !a.Until().Equal(noon.Add(time.Hour)) {
		t.Errorf("the view holds until %v", a.Until())
	}
	r.Now = noon.Add(time.Hour)
	want(t, a, r, Deny, "")
	r.Now = noon
	r.Class = CustomerData
	want(t, a, r, Deny, "")
	want(t, b, r, Allow, "grant:classed")
	r.Class = Regulated
	if d := want(t, b, r, Deny, ""); d.Code != CodeBoundary {
		t.Errorf("code %s", d.Code)
	}
	if !b.May(CanRead, at(t, "folder:/x")) || !seen(t,
		compiled(t, "", give(t, "src", "agent:c", Allow, "folder:/", "read", func(g *ScopedGrant) {
			g.DataClasses = []DataClass{SourceCode}
		})), "agent:c").May(CanRead, at(t, "folder:/x")) {
		t.Error("what may be read of some class is hidden")
	}
	narrow := c.View(StrictTenantContext{Tenant: "home", Principal: who(t, "agent:b"), Boundary: DataBoundary{Allowed: []DataClass{Public}}},
		noon)
	r.Class = Internal
	want(t, narrow, r, Deny, "")
	r.Class = Public
	want(t, narrow, r, Allow, "")
	r.Class = "nonsense"
	want(t, b, r, Deny, "")
}

func TestChainIsTheNarrowest(t *testing.T) {
	c := compiled(t, "",
		give(t, "agent", "agent:a", Allow, "folder:/", "read edit"),
		give(t, "ann", "person:ann", Allow, "folder:/code", "read edit"),
		give(t, "bob", "person:bob", Ask, "folder:/", "read edit"))
	r := do(t, CanEdit, "folder:/code/x")
	want(t, seen(t, c, "agent:a", "person:ann"), r, Allow, "grant:agent")
	want(t, seen(t, c, "agent:a", "person:ann"), do(t, CanEdit, "folder:/etc"), Deny, "")
	want(t, seen(t, c, "agent:a", "person:bob"), r, Ask, "grant:bob")
	want(t, seen(t, c, "agent:a", "person:eve"), r, Deny, "")
	// a session is its agent at work, and nobody without one
	want(t, seen(t, c, "session:s", "agent:a", "person:ann"), r, Allow, "grant:agent")
	want(t, seen(t, c, "session:s", "person:ann"), r, Deny, "")
	want(t, seen(t, compiled(t, "", DefaultGrants()...), "session:s"), do(t, CanRead, "resource:/x"), Deny, "")
	// what a person gave the session is not asked about again because nobody has spoken of its agent; whoever does is heard
	given := append(DefaultGrants(), give(t, "work", "session:*", Allow, "folder:/code", "edit"))
	chain := []string{"session:s", "agent:mcp", "local:local", "person:ann"}
	want(t, seen(t, compiled(t, "", given...), chain...), r, Allow, "grant:work")
	want(t, seen(t, compiled(t, "", given...), chain[1:]...), r, Ask, "")
	want(t, seen(t, compiled(t, "", append(given, give(t, "look", "agent:*", Ask, "folder:/code", "edit"))...), chain...), r, Ask,
		"grant:look")
	want(t, seen(t, compiled(t, "", append(given, give(t, "no", "agent:mcp", Deny, "folder:/code", "edit"))...), chain...), r, Deny,
		"grant:no")
}

func TestPresenceAndCeiling(t *testing.T) {
	c := compiled(t, "", DefaultGrants()...)
	decide := Request{Right: "approval.decide", Resource: ResourceRef{Path: "/ask_1"}, Present: true}
	want(t, seen(t, c, "person:ann"), decide, Allow, "")
	for _, chain := range [][]string{{"agent:a"}, {"agent:a", "person:ann"}, {"session:s", "person:ann"}, {"service:x"}, {"local:me"}} {
		want(t, seen(t, c, chain...), decide, Deny, "")
		if seen(t, c, chain...).May(CanAdmin, at(t, "approval:/ask_1")) {
			t.Errorf("%v is shown the right to decide", chain)
		}
	}
	decide.Present = false
	if d := want(t, seen(t, c, "person:ann"), decide, Deny, ""); d.Code != CodePresence {
		t.Errorf("code %s", d.Code)
	}
	if !seen(t, c, "person:ann").May(CanAdmin, at(t, "approval:/ask_1")) {
		t.Error("a person is not shown the right to decide before proving presence")
	}
	limited := func(rights []string, scopes ...ResourceScope) *View {
		return c.View(StrictTenantContext{Tenant: "home", Principal: who(t, "person:ann"), Ceiling: &Ceiling{Rights: rights, Scopes: scopes}},
			noon)
	}
	read := Request{Right: "resource.read", Resource: ResourceRef{Path: "/a/b"}}
	write := Request{Right: "resource.write", Resource: ResourceRef{Path: "/a/b"}}
	want(t, limited([]string{"resource.read"}), read, Allow, "")
	want(t, limited([]string{"resource.read"}), write, Deny, "")
	want(t, limited([]string{"*.read", "resource.*"}), write, Allow, "")
	want(t, limited(nil), read, Deny, "")
	want(t, limited([]string{"nonsense"}), read, Deny, "")
	want(t, limited([]string{"*"}, ResourceScope{Root: at(t, "resource:/a")}), read, Allow, "")
	want(t, limited([]string{"*"}, ResourceScope{Root: at(t, "resource:/b")}), read, Deny, "")
	if limited([]string{"resource.read"}).May(CanEdit, at(t, "resource:/a")) {
		t.Error("the mask goes beyond the credential")
	}
	old := c.View(StrictTenantContext{Tenant: "home", Principal: who(t, "person:ann"), ExpiresAt: noon}, noon)
	want(t, old, read, Deny, "")
}

func TestRights(t *testing.T) {
	for s, w := range map[string]Right{
		"resource.read":   {"resource.read", KindResource, CanRead, false},
		"resource.write":  {"resource.write", KindResource, CanEdit, false},
		"approval.decide": {"approval.decide", KindApproval, CanAdmin, true},
		"token.mint":      {"token.mint", KindToken, CanAdmin, true},
		"policy.edit":     {"policy.edit", KindPolicy, CanEdit, true},
		"journal.export":  {"journal.export", KindJournal, CanAdmin, true},
		"tool.call":       {"tool.call", KindTool, CanExecute, false},
	} {
		if r, err := ParseRight(s); err != nil || r != w {
			t.Errorf("%s: %+v %v", s, r, err)
		}
	}
	for _, s := range []string{"", "resource", "resource.", "nothing.read", "resource.frobnicate", "*.read"} {
		if _, err := ParseRight(s); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q is taken", s)
		}
	}
}

func TestMalformedGrantsDoNotCompile(t *testing.T) {
	for name, change := range map[string]func(*ScopedGrant){
		"no id": func(g *ScopedGrant) { g.ID = "" }, "no permission": func(g *ScopedGrant) { g.Permissions = nil },
		"unknown permission": func(g *ScopedGrant) { g.Permissions = []AccessPermission{"fly"} },
		"unknown kind":       func(g *ScopedGrant) { g.Scope.Root.Kind = "moon" },
		"unclean path":       func(g *ScopedGrant) { g.Scope.Root.Path = "/a/../b" },
		"no principal":       func(g *ScopedGrant) { g.Principal = PrincipalRef{} },
		"unknown class":      func(g *ScopedGrant) { g.DataClasses = []DataClass{"top"} },
		"unknown source":     func(g *ScopedGrant) { g.Source = "" },
		"unknown effect":     func(g *ScopedGrant) { g.Effect = 9 },
		"bad tool":           func(g *ScopedGrant) { g.ToolPatterns = []string{"bash(rm)"} },
		"agent approves":     func(g *ScopedGrant) { g.Approvers = []PrincipalRef{{Agent, "b"}} },
		"orphan delegation":  func(g *ScopedGrant) { g.Source = Delegation },
		"other tenant":       func(g *ScopedGrant) { g.Scope.Root.Tenant = "other" },
	} {
		g := give(t, "g", "agent:a", Allow, "folder:/", "read", change)
		if _, err := Compile(Source{Tenant: "home", Grants: []ScopedGrant{g}}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s compiles: %v", name, err)
		}
	}
	g := give(t, "g", "agent:a", Allow, "folder:/", "read")
	if _, err := Compile(Source{Tenant: "home", Grants: []ScopedGrant{g, g}}); err == nil {
		t.Error("two grants of one id compile")
	}
}
