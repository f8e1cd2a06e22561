package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func members(names ...string) (out []PrincipalRef) {
	for _, n := range names {
		kind := Person
		if strings.HasPrefix(n, "@") {
			kind, n = GroupOf, n[1:]
		}
		out = append(out, PrincipalRef{Kind: kind, ID: n})
	}
	return out
}

// Groups nest to a depth of eight, and nobody is in a group that does not end.
func TestGroupsNest(t *testing.T) {
	ladder := func(n int) (out []Group) {
		for i := range n {
			out = append(out, Group{fmt.Sprint("g", i), members("@" + fmt.Sprint("g", i+1))})
		}
		return append(out[:n-1], Group{fmt.Sprint("g", n-1), members("anna")})
	}
	var wide []Group // every group of a layer names all of the next: the paths are very many, the groups are not
	for layer := range 8 {
		for i := range 20 {
			g := Group{Name: fmt.Sprintf("l%d-%d", layer, i), Members: members("anna")}
			for j := range 20 {
				if layer < 7 {
					g.Members = append(g.Members, members(fmt.Sprintf("@l%d-%d", layer+1, j))...)
				}
			}
			wide = append(wide, g)
		}
	}
	for name, c := range map[string]struct {
		groups []Group
		wrong  string
	}{
		"eight deep":       {ladder(8), ""},
		"nine deep":        {ladder(9), "nest at most 8 deep"},
		"many ways down":   {wide, ""},
		"in itself":        {[]Group{{"a", members("@a")}}, "would be in itself: a > a"},
		"in a circle":      {[]Group{{"a", members("@b")}, {"b", members("@c")}, {"c", members("@a")}}, "would be in itself"},
		"of nobody":        {[]Group{{"a", members("@b")}}, "there is no group b"},
		"twice":            {[]Group{{"a", nil}, {"a", nil}}, "is there twice"},
		"of an agent":      {[]Group{{"a", []PrincipalRef{{Kind: Agent, ID: "x"}}}}, "its members are people and groups"},
		"of everybody":     {[]Group{{"a", members("*")}}, "its members are people and groups"},
		"owners of groups": {[]Group{{"a", nil}, {Owners, members("@a")}}, "its members are people"},
		"no name":          {[]Group{{"a b", nil}}, "not a group's name"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := resolve(c.groups)
			if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("%v, want %q", err, c.wrong)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// A grant, a denial and a rule may speak of a group. What is said of it holds for who is in it, through however many groups, and for all
// that act for them where a rule says so.
func TestAGroupIsSpokenOf(t *testing.T) {
	src := Source{Tenant: "home", Grants: []ScopedGrant{
		{ID: "g1", Principal: PrincipalRef{Kind: GroupOf, ID: "staff"}, Scope: ResourceScope{Root: ResourceRef{Kind: KindResource, Path: "/"}},
			Permissions: []AccessPermission{CanRead, CanEdit}, Effect: Allow, Source: Direct},
		{ID: "g2", Principal: PrincipalRef{Kind: GroupOf, ID: "juniors"}, Scope: ResourceScope{Root: ResourceRef{Kind: KindResource,
			Path: "/prod"}}, Permissions: []AccessPermission{CanEdit}, Effect: Deny, Source: Direct},
		{ID: "g3", Principal: PrincipalRef{Kind: Local, ID: "*"}, Scope: ResourceScope{Root: ResourceRef{Kind: KindResource, Path: "/"}},
			Permissions: []AccessPermission{CanRead, CanEdit}, Effect: Allow, Source: Direct}},
		Rules:  `@id("kept") forbid (principal in Group::"juniors", action == Action::"edit", resource in Resource::"/kept");`,
		Groups: []Group{{"staff", members("anna", "@juniors")}, {"juniors", members("ben")}}}
	c, err := Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	may := func(who string, path string, chain ...PrincipalRef) Effect {
		p, err := ParsePrincipal(who)
		if err != nil {
			t.Fatal(err)
		}
		v := c.View(StrictTenantContext{Tenant: "home", Principal: p, AuthorityChain: chain}, time.Now())
		return v.Decide(Request{Right: "resource.write", Resource: ResourceRef{Kind: KindResource, Path: path}}).Effect
	}
	ben := PrincipalRef{Kind: Person, ID: "ben"}
	for _, w := range []struct {
		who, path string
		want      Effect
		chain     []PrincipalRef
	}{{"person:anna", "/x", Allow, nil}, {"person:ben", "/x", Allow, nil}, {"person:carl", "/x", Deny, nil},
		{"person:ben", "/prod/x", Deny, nil},
		{"person:anna", "/prod/x", Allow, nil}, {"person:ben", "/kept/x", Deny, nil}, {"person:anna", "/kept/x", Allow, nil},
		{"local:ben-laptop", "/x", Allow, []PrincipalRef{ben}}, {"local:ben-laptop", "/kept/x", Deny, []PrincipalRef{ben}},
		{"agent:staff", "/x", Deny, nil}} {
		if got := may(w.who, w.path, w.chain...); got != w.want {
			t.Errorf("%s on %s: %s, want %s", w.who, w.path, got, w.want)
		}
	}
	if v := c.View(StrictTenantContext{Tenant: "home", Principal: PrincipalRef{Kind: GroupOf, ID: "staff"}}, time.Now()); v.refusal == "" {
		t.Error("somebody acts as a group")
	}
}

// Two asks become one by whom both name, through groups, too.
func TestApproversMeetThroughGroups(t *testing.T) {
	all, err := resolve([]Group{{"a", members("anna", "ben")}, {"b", members("ben", "carl")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ a, b, want []PrincipalRef }{
		{members("@a"), members("*"), members("@a")}, {members("*"), members("@a"), members("@a")}, {members("@a"), members("@a"), members("@a")},
		{members("@a"), members("anna"), members("anna")}, {members("carl"), members("@a"), nil}, {members("@a"), members("@b"), members("ben")},
		{members("@a", "dora"), members("*", "anna"), members("@a", "anna", "dora")},
	} {
		if got := all.meet(c.a, c.b); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v and %v meet in %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// Of rules that ask, each is heard: what one calls critical is critical whatever another one says before it.
func TestWhatAnAskNeeds(t *testing.T) {
	rules := `
@id("any") @ask("look") forbid (principal, action == Action::"edit", resource in Resource::"/");
@id("two") @ask @critical @approvers("group:a") forbid (principal, action == Action::"edit", resource in Resource::"/prod");
@id("key") @ask @presence("passkey, pin") @others @approvers("person:ben, person:carl") forbid (principal, action == Action::"edit",
	resource in Resource::"/prod/keys");
@id("far") @ask @presence("device") forbid (principal, action == Action::"edit", resource in Resource::"/prod/keys/far");`
	c, err := Compile(Source{Tenant: "home", Rules: rules, Groups: []Group{{"a", members("anna", "ben")}}, Grants: []ScopedGrant{
		{ID: "g", Principal: PrincipalRef{Kind: Agent, ID: "*"}, Scope: ResourceScope{Root: ResourceRef{Kind: KindResource, Path: "/"}},
			Permissions: []AccessPermission{CanEdit}, Effect: Allow, Source: Direct}}})
	if err != nil {
		t.Fatal(err)
	}
	v := c.View(StrictTenantContext{Tenant: "home", Principal: PrincipalRef{Kind: Agent, ID: "x"}}, time.Now())
	for path, want := range map[string]string{
		"/x":             "ask [person:*] {false [] false}",
		"/prod/x":        "ask [group:a] {true [] false}",
		"/prod/keys":     "ask [person:ben] {true [passkey pin] true}",
		"/prod/keys/far": "deny [] {false [] false}",
	} {
		d := v.Decide(Request{Right: "resource.write", Resource: ResourceRef{Kind: KindResource, Path: path}})
		if got := fmt.Sprintf("%s %v %v", d.Effect, d.Approvers, d.Needs); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, wrong := range []string{`@critical permit (principal, action, resource);`,
		`@ask @presence("face") forbid (principal, action, resource);`,
		`@ask @approvers("agent:x") forbid (principal, action, resource);`} {
		if _, err := Compile(Source{Tenant: "home", Rules: wrong}); err == nil {
			t.Errorf("%s compiles", wrong)
		}
	}
}
