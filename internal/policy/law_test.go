package policy

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The laws hold for any policy: small alphabets, so that grants and requests meet often.
var (
	genPath  = rapid.SampledFrom([]string{"/", "/a", "/a/b", "/a/b/c", "/ab", "/a/bc", "/x"})
	genKind  = rapid.SampledFrom([]ResourceKind{KindFolder, KindTool, KindRepo})
	genScope = rapid.SampledFrom([]ResourceKind{KindFolder, KindTool, AnyKind})
	genWho   = rapid.SampledFrom([]PrincipalRef{{Agent, "a"}, {Agent, "*"}, {Person, "ann"}, {"*", "*"}})
	genPerm  = rapid.SampledFrom(permissions)
	genClass = rapid.SampledFrom([]DataClass{Public, Internal, SourceCode})
	genTool  = rapid.SampledFrom([]string{"read", "re*", "*", "read(path: /a/**)", "bash(command: git)", "*(host: *.x.org)"})
	genRule  = rapid.SampledFrom([]string{
		`permit (principal, action == Action::"read", resource in Folder::"/a");`,
		`@ask permit (principal is Agent, action, resource);`,
		`forbid (principal == Agent::"a", action, resource in Folder::"/a/b");`,
		`@ask forbid (principal, action == Action::"edit", resource);`,
		`forbid (principal, action, resource) when { context.paths.contains("/a") };`,
		`permit (principal in Person::"ann", action, resource) unless { context.class == "source_code" };`,
		`permit (principal, action == Action::"edit", resource) when { context.tool == "read" && context.present };`,
		`forbid (principal, action, resource) when { context.op == "" && context.class == "internal" };`,
	})
)

func genGrant(t *rapid.T, id string, effects ...Effect) ScopedGrant {
	g := ScopedGrant{ID: id, Principal: genWho.Draw(t, "principal"), Effect: rapid.SampledFrom(effects).Draw(t, "effect"),
		Source:      rapid.SampledFrom([]GrantSource{Direct, Default, Fallback}).Draw(t, "source"),
		Permissions: rapid.SliceOfN(genPerm, 1, 3).Draw(t, "permissions"),
		DataClasses: rapid.SliceOfN(genClass, 0, 2).Draw(t, "classes"),
		Scope:       ResourceScope{Root: ResourceRef{Kind: genScope.Draw(t, "kind"), Path: genPath.Draw(t, "root")}},
		Redelegate:  rapid.IntRange(0, 2).Draw(t, "redelegate")}
	if rapid.Bool().Draw(t, "with tools") {
		g.ToolPatterns = rapid.SliceOfN(genTool, 1, 2).Draw(t, "tools")
	}
	if rapid.Bool().Draw(t, "ends") {
		g.ExpiresAt = noon.Add(time.Duration(rapid.IntRange(-1, 2).Draw(t, "hours")) * time.Hour)
	}
	if rapid.Bool().Draw(t, "deep") {
		d := rapid.IntRange(0, 2).Draw(t, "depth")
		g.Scope.MaxDepth = &d
	}
	return g
}

func genRequest(t *rapid.T) Request {
	r := Request{Permission: genPerm.Draw(t, "permission"), Class: genClass.Draw(t, "class"), Present: rapid.Bool().Draw(t, "present"),
		Resource: ResourceRef{Kind: genKind.Draw(t, "resource kind"), Path: genPath.Draw(t, "path")},
		Now:      noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "now")) * time.Hour)}
	if rapid.Bool().Draw(t, "a tool") {
		r.Tool = rapid.SampledFrom([]string{"read", "bash"}).Draw(t, "tool")
		if rapid.Bool().Draw(t, "known") {
			r.Facts = &Facts{Paths: rapid.SliceOfN(genPath, 0, 2).Draw(t, "paths"), Opaque: rapid.Bool().Draw(t, "opaque"),
				Commands: rapid.SampledFrom([][][]string{nil, {{"git", "log"}}, {{"rm"}}}).Draw(t, "commands"),
				Hosts:    rapid.SampledFrom([][]string{nil, {"a.x.org"}, {"b.org"}}).Draw(t, "hosts")}
		}
	}
	return r
}

func genSource(t *rapid.T) Source {
	src := Source{Tenant: "home"}
	for i := range rapid.IntRange(0, 5).Draw(t, "grants") {
		src.Grants = append(src.Grants, genGrant(t, fmt.Sprintf("g%d", i), Allow, Ask, Deny))
	}
	for range rapid.IntRange(0, 2).Draw(t, "rules") {
		src.Rules += genRule.Draw(t, "rule") + "\n"
	}
	return src
}

func genContext(t *rapid.T) StrictTenantContext {
	ctx := StrictTenantContext{Tenant: "home", Principal: rapid.SampledFrom([]PrincipalRef{{Agent, "a"}, {Agent, "b"}, {Person, "ann"}}).
		Draw(t, "who")}
	if rapid.Bool().Draw(t, "for somebody") {
		ctx.AuthorityChain = []PrincipalRef{{Person, "ann"}}
	}
	return ctx
}

func mustCompile(t *rapid.T, s Source) *Compiled {
	c, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Adding a denial, a forbidding rule, a boundary or somebody to the chain never turns an answer into a wider one.
func TestNarrowingNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, ctx, req := genSource(t), genContext(t), genRequest(t)
		before := mustCompile(t, src).View(ctx, noon).Decide(req)
		narrowed, narrowCtx := src, ctx
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			narrowed.Grants = append(append([]ScopedGrant{}, src.Grants...), genGrant(t, "new", Deny))
		case 1:
			narrowed.Rules += rapid.SampledFrom([]string{`forbid`, `@ask forbid`}).Draw(t, "forbid") +
				` (principal, action, resource) when { context.class == "internal" || context.paths.contains("/a") };`
		case 2:
			narrowed.Boundary.Denied = []DataClass{genClass.Draw(t, "denied")}
		case 3:
			narrowCtx.AuthorityChain = append(append([]PrincipalRef{}, ctx.AuthorityChain...), PrincipalRef{Agent, "b"})
		}
		after := mustCompile(t, narrowed).View(narrowCtx, noon).Decide(req)
		if after.Effect > before.Effect {
			t.Fatalf("narrowing widened %v to %v: %+v then %+v", before.Effect, after.Effect, before, after)
		}
	})
}

// A denial that covers a request denies it, whatever else is there.
func TestDenyWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, ctx, req := genSource(t), genContext(t), genRequest(t)
		src.Grants = append(src.Grants, ScopedGrant{ID: "wall", Principal: PrincipalRef{"*", "*"}, Effect: Deny, Source: Direct,
			Permissions: []AccessPermission{CanView}, Scope: ResourceScope{Root: ResourceRef{Kind: AnyKind, Path: "/a"}}})
		d := mustCompile(t, src).View(ctx, noon).Decide(req)
		if below("/a", req.Resource.Path) >= 0 && d.Effect != Deny {
			t.Fatalf("%+v", d)
		}
	})
}

// A delegated grant gives nothing that its parent does not give, and nothing at all when the parent is gone.
func TestDelegationNeverExceedsItsParent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent := genGrant(t, "parent", Allow, Ask)
		parent.Principal, parent.Source = PrincipalRef{Person, "ann"}, Direct
		if rapid.Bool().Draw(t, "may be passed on") {
			parent.Permissions, parent.Redelegate = append(parent.Permissions, CanDelegate), 1
		}
		child := genGrant(t, "child", Allow, Ask)
		child.Principal, child.Source, child.DelegationID, child.Redelegate = PrincipalRef{Agent, "a"}, Delegation, "parent", 0
		child.SourcePrincipal = &PrincipalRef{Person, "ann"}
		grants := []ScopedGrant{parent, child}
		if rapid.Bool().Draw(t, "ann is denied") {
			d := genGrant(t, "deny", Deny)
			d.Principal = PrincipalRef{Person, "ann"}
			grants = append(grants, d)
		}
		req := genRequest(t)
		req.Present = true
		agent := StrictTenantContext{Tenant: "home", Principal: PrincipalRef{Agent, "a"}}
		ann := StrictTenantContext{Tenant: "home", Principal: PrincipalRef{Person, "ann"}}
		c := mustCompile(t, Source{Tenant: "home", Grants: grants})
		if got, most := c.View(agent, noon).Decide(req), c.View(ann, noon).Decide(req); got.Effect > most.Effect {
			t.Fatalf("the delegate got %+v, the owner %+v", got, most)
		}
		alone := mustCompile(t, Source{Tenant: "home", Grants: []ScopedGrant{child}})
		if d := alone.View(agent, noon).Decide(req); d.Effect != Deny || alone.Dead()["child"] == "" {
			t.Fatalf("the orphan gives %+v", d)
		}
	})
}

// What Decide would let pass, with or without an ask, is never hidden by the mask.
func TestMaskHidesNothingUsable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, ctx, req := genSource(t), genContext(t), genRequest(t)
		if req.Tool != "" && (req.Resource.Kind == KindTool || rapid.Bool().Draw(t, "a list of tools")) {
			req.Resource = ToolRef(req.Tool) // who asks for a tool names that one
		}
		req.Now = noon
		if rapid.Bool().Draw(t, "a boundary") {
			src.Boundary.Denied = []DataClass{genClass.Draw(t, "denied")}
		}
		v := mustCompile(t, src).View(ctx, noon)
		if d := v.Decide(req); d.Effect != Deny && !v.May(req.Permission, req.Resource) {
			t.Fatalf("%+v is hidden: %+v", req, d)
		}
	})
}

// What may be done to something is shown as something that may be done.
func TestMayAnyHidesNothingUsable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, ctx, req := genSource(t), genContext(t), genRequest(t)
		req.Now = noon
		v := mustCompile(t, src).View(ctx, noon)
		if d := v.Decide(req); d.Effect != Deny && !v.MayAny(req.Permission, req.Resource.Kind) {
			t.Fatalf("%+v is hidden: %+v", req, d)
		}
	})
}
