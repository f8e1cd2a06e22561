package policy

import "testing"

// What a person labelled is treated as what it is: by grants, by the boundary, and before anybody looks.
func TestLabels(t *testing.T) {
	at := func(s string) ResourceRef {
		r, err := ParseResource(s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	c, err := Compile(Source{Tenant: "home", Boundary: DataBoundary{Denied: []DataClass{Regulated}},
		Labels: []Label{{at("folder:/data"), Confidential}, {at("folder:/data/customers"), CustomerData}, {at("folder:/data/clinic"), Regulated},
			{at("*:/open"), Public}},
		Grants: []ScopedGrant{
			give(t, "plain", "agent:a", Allow, "folder:/", "read"),
			give(t, "code", "agent:code", Allow, "folder:/", "read", func(g *ScopedGrant) { g.DataClasses = []DataClass{SourceCode} }),
			give(t, "sales", "agent:sales", Allow, "folder:/", "read", func(g *ScopedGrant) { g.DataClasses = []DataClass{CustomerData} }),
			give(t, "all", "agent:all", Allow, "folder:/", "read", func(g *ScopedGrant) { g.DataClasses = []DataClass{AnyClass} })}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		who, where string
		effect     Effect
		by         string
	}{
		{"agent:a", "folder:/src/main.go", Allow, "grant:plain"},
		{"agent:a", "folder:/open/x", Allow, "grant:plain"},
		{"agent:a", "folder:/data/x", Deny, ""},
		{"agent:a", "folder:/data/customers/ann", Deny, ""},
		{"agent:code", "folder:/src/main.go", Allow, "grant:code"},
		{"agent:code", "folder:/open/x", Deny, ""},
		{"agent:sales", "folder:/data/customers/ann", Allow, "grant:sales"},
		{"agent:sales", "folder:/data/customers-old/ann", Deny, ""},
		{"agent:sales", "folder:/data/x", Deny, ""},
		{"agent:all", "folder:/data/customers/ann", Allow, "grant:all"},
		{"agent:all", "folder:/data/clinic/x", Deny, ""},
	} {
		v := seen(t, c, x.who)
		want(t, v, do(t, CanRead, x.where), x.effect, x.by)
		if shown := v.May(CanRead, at(x.where)); shown != (x.effect == Allow) && x.where != "folder:/open/x" {
			t.Errorf("%s is shown %s: %t", x.who, x.where, shown)
		}
	}
	for _, bad := range []Label{{ResourceRef{Kind: "nothing", Path: "/"}, Public}, {ResourceRef{Kind: KindFolder, Path: "/a/../b"}, Public},
		{at("folder:/"), "secretish"}, {at("folder:/"), AnyClass}} {
		if _, err := Compile(Source{Tenant: "home", Labels: []Label{bad}}); err == nil {
			t.Errorf("the label %v is taken", bad)
		}
	}
}
