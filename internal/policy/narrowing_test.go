package policy

import (
	"testing"

	"pgregory.net/rapid"
)

// A request that an assertion narrows does nothing that the person may not do, and nothing that the assertion does not hold: not at once,
// not in a list, and not by what it began, whose chain has the assertion.
func TestAnAssertionOnlyTakesAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, ctx, req := genSource(t), genContext(t), genRequest(t)
		req.Now = noon
		n := &Narrowing{}
		if rapid.Bool().Draw(t, "places") {
			var holes []ResourceRef
			if rapid.Bool().Draw(t, "with a hole") {
				holes = []ResourceRef{{Kind: AnyKind, Path: genPath.Draw(t, "hole")}}
			}
			for range rapid.IntRange(1, 2).Draw(t, "how many") {
				n.Places = append(n.Places, ResourceScope{Root: ResourceRef{Kind: genScope.Draw(t, "place kind"), Path: genPath.Draw(t, "place")},
					Denied: holes})
			}
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "its grants") {
			g := genGrant(t, string(rune('a'+i)), Allow, Ask, Deny)
			g.Source, g.Principal = Direct, PrincipalRef{"*", "*"}
			n.Grants = append(n.Grants, g)
		}
		if rapid.Bool().Draw(t, "a boundary") {
			n.Boundary.Denied = []DataClass{genClass.Draw(t, "denied")}
		}
		text, by := n.Text()
		read, err := ReadNarrowing("home", by, text)
		if err != nil {
			t.Fatal(err)
		}
		c := mustCompile(t, src)
		before := c.View(ctx, noon)
		narrow := ctx
		narrow.Narrowed = []*Narrowed{read}
		if rapid.Bool().Draw(t, "by a prompt") {
			narrow.Prompters = [][]PrincipalRef{{{Person, "ann"}, by}}
		} else {
			narrow.AuthorityChain = append(append([]PrincipalRef{}, ctx.AuthorityChain...), by)
		}
		v := c.View(narrow, noon)
		was, is := before.Decide(req), v.Decide(req)
		if is.Effect > was.Effect {
			t.Fatalf("it may more: %+v, was %+v", is, was)
		}
		if v.May(req.Permission, req.Resource) && !before.May(req.Permission, req.Resource) {
			t.Fatal("it sees more")
		}
		if is.Effect == Deny {
			return
		}
		held := len(n.Places) == 0
		for i := range n.Places {
			held = held || n.Places[i].Covers(req.Resource)
		}
		if !held || !n.Boundary.Admits(req.Class) {
			t.Fatalf("%+v is outside of %s: %+v", req, text, is)
		}
		gives := len(n.Grants) == 0
		for _, g := range read.gives {
			gives = gives || g.perms&bit(req.Permission) != 0 && g.Scope.Covers(req.Resource)
		}
		if !gives {
			t.Fatalf("no grant of %s gives %+v: %+v", text, req, is)
		}
		if !v.MayAny(req.Permission, req.Resource.Kind) {
			t.Fatal("what may be done is not shown")
		}
	})
}

// A chain that names an assertion whose text is not there leaves nothing.
func TestAnAssertionThatIsNotKnownLeavesNothing(t *testing.T) {
	_, by := (&Narrowing{Boundary: DataBoundary{Denied: []DataClass{Credential}}}).Text()
	c, err := Compile(Source{Tenant: "home", Grants: []ScopedGrant{{ID: "g", Principal: PrincipalRef{Person, "ann"}, Effect: Allow,
		Source: Direct, Permissions: permissions, Scope: ResourceScope{Root: ResourceRef{Kind: AnyKind, Path: "/"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	who := StrictTenantContext{Tenant: "home", Principal: PrincipalRef{Person, "ann"}}
	req := Request{Permission: CanRead, Resource: ResourceRef{Kind: KindResource, Path: "/x"}, Now: noon}
	if d := c.View(who, noon).Decide(req); d.Effect != Allow {
		t.Fatalf("%+v", d)
	}
	who.AuthorityChain = []PrincipalRef{by}
	if d := c.View(who, noon).Decide(req); d.Effect != Deny {
		t.Errorf("in the chain: %+v", d)
	}
	who.AuthorityChain, who.Prompters = nil, [][]PrincipalRef{{{Person, "ann"}, by}}
	if d := c.View(who, noon).Decide(req); d.Effect != Deny {
		t.Errorf("by a prompt: %+v", d)
	}
	g := ScopedGrant{ID: "g", Principal: by, Effect: Allow, Source: Direct, Permissions: permissions,
		Scope: ResourceScope{Root: ResourceRef{Kind: AnyKind, Path: "/"}}}
	if g.Check("home") == nil {
		t.Error("an assertion was granted something")
	}
}

// What an assertion denies binds like a person's denial: a copy of what has a hole is not given, whatever else is allowed beside it, and
// neither where the hole is a pattern; what it asks for is asked of those whom it names.
func TestWhatAnAssertionDeniesIsADenial(t *testing.T) {
	folder := func(p string) ResourceRef { return ResourceRef{Kind: KindFolder, Path: p} }
	anywhere := ResourceScope{Root: ResourceRef{Kind: AnyKind, Path: "/"}}
	c, err := Compile(Source{Tenant: "home", Grants: []ScopedGrant{{ID: "g", Principal: PrincipalRef{Person, "ann"}, Effect: Allow,
		Source: Direct, Permissions: permissions, Scope: anywhere, DataClasses: []DataClass{AnyClass}}}})
	if err != nil {
		t.Fatal(err)
	}
	view := func(n *Narrowing) *View {
		text, by := n.Text()
		read, err := ReadNarrowing("home", by, text)
		if err != nil {
			t.Fatal(err)
		}
		return c.View(StrictTenantContext{Tenant: "home", Principal: PrincipalRef{Person, "ann"}, AuthorityChain: []PrincipalRef{by},
			Narrowed: []*Narrowed{read}}, noon)
	}
	holes := []ResourceRef{folder("/srv/app/secret")}
	two := []ResourceScope{{Root: folder("/srv/app"), Denied: holes}, {Root: ResourceRef{Kind: KindRepo, Path: "/app"}, Denied: holes}}
	d := view(&Narrowing{Places: two}).Decide(Request{Permission: CanRead, Resource: folder("/srv/app/secret/x"), Now: noon})
	if d.Effect != Deny || d.Code != CodeNarrowed {
		t.Errorf("a hole of two places: %+v", d)
	}
	two[1].Denied = nil
	if err := (&Narrowing{Places: two}).Check("home"); err == nil {
		t.Error("places with different holes are taken")
	}
	pattern := ScopedGrant{ID: "p", Principal: PrincipalRef{"*", "*"}, Effect: Deny, Source: Direct, Permissions: []AccessPermission{CanView},
		Scope: ResourceScope{Root: folder("/srv/app"), Only: []string{"/srv/app/**/*.pem"}}}
	if s := view(&Narrowing{Grants: []ScopedGrant{pattern}}).Sight("", nil, nil); !s.globs || len(s.patterns) != 1 {
		t.Errorf("a pattern is not seen as one: %v, %d", s.globs, len(s.patterns))
	}
	asks := ScopedGrant{ID: "a", Principal: PrincipalRef{"*", "*"}, Effect: Ask, Source: Direct, Permissions: permissions, Scope: anywhere,
		Approvers: []PrincipalRef{{Person, "boss"}}, DataClasses: []DataClass{AnyClass}}
	n := &Narrowing{Grants: []ScopedGrant{asks}}
	_, by := n.Text()
	if d := view(n).Asked(by.String()); len(d.Approvers) != 1 || d.Approvers[0].ID != "boss" {
		t.Errorf("asked of %+v", d.Approvers)
	}
	other := asks
	other.ID, other.Approvers = "b", []PrincipalRef{{Person, "eve"}}
	n.Grants = append(n.Grants, other)
	if d := view(n).Decide(Request{Permission: CanRead, Resource: folder("/x"), Now: noon}); d.Effect == Allow || len(d.Approvers) > 0 {
		t.Errorf("two asks that nobody may both answer: %+v", d)
	}
}
