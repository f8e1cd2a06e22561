package policy

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A sight answers for a file as the policy itself would, however it remembers: grants, labels, rules, globs and tools at random.
func TestSightIsThePolicysAnswer(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "priv", ".env", "x.key", "id_rsa", "src", ".ssh"})
	path := rapid.Custom(func(t *rapid.T) string { return "/" + strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "words"), "/") })
	rapid.Check(t, func(t *rapid.T) {
		src := Source{Tenant: "t", Grants: DefaultGrants()}
		for i := range rapid.IntRange(0, 4).Draw(t, "grants") {
			g := ScopedGrant{ID: fmt.Sprintf("g%d", i), Principal: PrincipalRef{Kind: "*", ID: "*"}, Source: Direct,
				Effect:      Effect(rapid.IntRange(0, 2).Draw(t, "effect")),
				Scope:       ResourceScope{Root: ResourceRef{Kind: KindFolder, Path: path.Draw(t, "root")}},
				Permissions: []AccessPermission{rapid.SampledFrom([]AccessPermission{CanView, CanRead, CanEdit}).Draw(t, "can")}}
			switch rapid.IntRange(0, 5).Draw(t, "shape") {
			case 0:
				g.Scope.Root.Path, g.Scope.Only = "/", []string{"/**/" + word.Draw(t, "only") + "/**"}
			case 1:
				g.Scope.Root.Path, g.ToolPatterns = "/", []string{"bash(path: " + path.Draw(t, "tool") + "/**)"}
			case 2:
				g.Scope.Denied = []ResourceRef{{Kind: KindFolder, Path: g.Scope.Root.Path + "/" + word.Draw(t, "hole")}}
			case 3:
				depth := rapid.IntRange(0, 2).Draw(t, "depth")
				g.Scope.MaxDepth = &depth
			}
			src.Grants = append(src.Grants, g)
		}
		for range rapid.IntRange(0, 2).Draw(t, "labels") {
			src.Labels = append(src.Labels, Label{ResourceRef{Kind: KindFolder, Path: path.Draw(t, "label")},
				rapid.SampledFrom([]DataClass{Public, CustomerData}).Draw(t, "class")})
		}
		src.Rules = rapid.SampledFrom([]string{"", `forbid (principal, action == Action::"read", resource in Folder::"/a/priv");`,
			`forbid (principal, action, resource is Folder) when { context.paths.contains("/b") };`,
			`forbid (principal, action == Action::"read", resource is Folder) when { resource in Folder::"/a/b" };`}).Draw(t, "rules")
		c, err := Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		who := StrictTenantContext{Tenant: "t", Principal: PrincipalRef{Session, "s"}, AuthorityChain: []PrincipalRef{{Person, "ann"}}}
		sight := c.View(who, noon).Sight("bash", nil, nil)
		for range 20 {
			p := path.Draw(t, "path")
			fresh := c.prepare(who, noon).newSight("bash")
			if got, want := sight.Of(p), fresh.ask(p); got != want {
				t.Fatalf("%s: %+v, and the policy says %+v", p, got, want)
			}
		}
	})
}

func TestSight(t *testing.T) {
	c := compiled(t, `@id("frozen") forbid (principal, action == Action::"edit", resource in Folder::"/p/gen");`, append(DefaultGrants(),
		give(t, "no", "*", Deny, "folder:/p/priv", "view"),
		give(t, "look", "session:*", Ask, "folder:/p/slow", "read"),
		give(t, "hands", "session:*", Ask, "folder:/p/rel", "edit"))...)
	s := seen(t, c, "session:s", "person:me").Sight("bash", nil, nil)
	for p, want := range map[string]Seen{"/p/a.go": {}, "/p/priv": {Hidden: true, By: "grant:no"},
		"/p/priv/x/y": {Hidden: true, By: "grant:no"}, "/p/private": {},
		"/p/gen/x": {Fixed: true, By: "rule:frozen"}, "/p/slow/x": {Asks: "grant:look"}, "/p/rel/x": {Fixed: true, By: "grant:hands"},
		"/p/.env": {Hidden: true, By: "grant:default-session-keys"}, "/p/../x": {Hidden: true}} {
		if got := s.Of(p); got != want {
			t.Errorf("%s: %+v, want %+v", p, got, want)
		}
	}
	if !s.Of("/p/.env").House() || s.Of("/p/priv").House() {
		t.Error("the house's own denials are not told from a person's")
	}
	if !(*View)(nil).Sight("", nil, nil).Of("/p").Hidden {
		t.Error("nobody sees something")
	}
}

// Of a rule that looks at each path by itself nobody knows what it forbids of a repository, so that no copy is given and no pattern taken.
func TestWhatMayBeTaken(t *testing.T) {
	repo := ResourceRef{Kind: KindRepo, Path: "/p"}
	sight := func(rules string, g ...ScopedGrant) *Sight {
		return seen(t, compiled(t, rules, append(DefaultGrants(), g...)...), "agent:a").Sight("", NoKin, nil)
	}
	tree := func(g ...ScopedGrant) *Sight { return sight("", g...) }
	rule := func(text string) *Sight { return sight(text) }
	denied := tree(give(t, "no", "*", Deny, "folder:/p/src/priv", "view"))
	for _, c := range []struct {
		s              *Sight
		plain, pattern string
		takes, tells   bool
	}{
		{tree(), "", "**", true, true}, {tree(), "src", "*.go", true, true}, {tree(), ".env", "", false, false},
		{denied, "", "**", false, true}, {denied, "lib", "*.go", false, false}, {denied, "lib", "", true, true}, {denied, "src", "", false, true},
		{denied, "src/priv/x", "", false, false}, {denied, "src/a.go", "", true, true},
		{rule(`forbid (principal, action, resource is Folder) when { context.path like "*priv*" };`), "lib", "", false, true},
		{rule(`forbid (principal, action, resource) when { context.paths.contains("/p/x") };`), "", "**", true, true},
		{rule(`forbid (principal, action == Action::"edit", resource is Folder) when { context.path like "*x*" };`), "", "**", true, true},
	} {
		takes, tells := c.s.Takes("/p", c.plain, c.pattern, repo), c.s.Tells("/p", c.plain, c.pattern, repo)
		if takes != c.takes || tells != c.tells {
			t.Errorf("%s %s: takes %v, tells %v", c.plain, c.pattern, takes, tells)
		}
	}
}

func BenchmarkSight(b *testing.B) {
	s := benchView(b, "").Sight("bash", nil, nil)
	for b.Loop() {
		for _, p := range []string{"/home/me/code/app/internal/x/y.go", "/home/me/code/app/internal/x/z.go"} {
			if s.Of(p).Hidden {
				b.Fatal(p)
			}
		}
	}
}
