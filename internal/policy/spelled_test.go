package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// respelled writes a text in other cases.
func respelled(t *rapid.T, s string) string {
	return strings.Map(func(r rune) rune {
		for range rapid.IntRange(0, 2).Draw(t, "case") {
			r = unicode.SimpleFold(r)
		}
		return r
	}, s)
}

// another is the same policy with every path in other cases.
func another(t *rapid.T, src Source, rules func(spell func(string) string) string) Source {
	spell := func(s string) string { return respelled(t, s) }
	out := Source{Tenant: src.Tenant, Rules: rules(spell)}
	for _, g := range src.Grants {
		if g.Source != Direct {
			out.Grants = append(out.Grants, g)
			continue
		}
		g.Scope.Root.Path = spell(g.Scope.Root.Path)
		g.Scope.Denied = slices.Clone(g.Scope.Denied)
		for i := range g.Scope.Denied {
			g.Scope.Denied[i].Path = spell(g.Scope.Denied[i].Path)
		}
		g.Scope.Only, g.ToolPatterns = slices.Clone(g.Scope.Only), slices.Clone(g.ToolPatterns)
		for i := range g.Scope.Only {
			g.Scope.Only[i] = spell(g.Scope.Only[i])
		}
		for i, p := range g.ToolPatterns {
			at := strings.Index(p, "/")
			g.ToolPatterns[i] = p[:at] + spell(p[at:])
		}
		out.Grants = append(out.Grants, g)
	}
	for _, l := range src.Labels {
		l.Resource.Path = spell(l.Resource.Path)
		out.Labels = append(out.Labels, l)
	}
	return out
}

// On a system that does not count case, /A/PRIV opens /a/priv. So nothing is gained by another spelling, in a call or in the policy: what
// denies, asks or labels holds for all of them, and what gives holds for its own.
func TestAnotherSpellingGainsNothing(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "priv", ".env", "kelvin", "größe", "x.key"})
	path := rapid.Custom(func(t *rapid.T) string { return "/" + strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "words"), "/") })
	rapid.Check(t, func(t *rapid.T) {
		src := Source{Tenant: "home", Grants: append(DefaultGrants(), ScopedGrant{ID: "all", Principal: PrincipalRef{"*", "*"}, Effect: Allow,
			Source: Default, Permissions: []AccessPermission{CanRead, CanExecute},
			Scope: ResourceScope{Root: ResourceRef{Kind: AnyKind, Path: "/"}}})}
		for i := range rapid.IntRange(1, 4).Draw(t, "grants") {
			g := ScopedGrant{ID: fmt.Sprintf("g%d", i), Principal: PrincipalRef{"*", "*"}, Source: Direct,
				Effect:      Effect(rapid.IntRange(0, 2).Draw(t, "effect")),
				Scope:       ResourceScope{Root: ResourceRef{Kind: KindFolder, Path: path.Draw(t, "root")}},
				DataClasses: []DataClass{SourceCode, rapid.SampledFrom([]DataClass{SourceCode, CustomerData}).Draw(t, "class")},
				Permissions: []AccessPermission{rapid.SampledFrom([]AccessPermission{CanView, CanRead, CanEdit}).Draw(t, "can")}}
			switch rapid.IntRange(0, 3).Draw(t, "shape") {
			case 0:
				g.Scope.Root.Path, g.Scope.Only = "/", []string{"/**/" + word.Draw(t, "only") + "/**"}
			case 1:
				g.Scope.Root.Kind, g.Scope.Root.Path, g.ToolPatterns = AnyKind, "/", []string{"bash(path: " + path.Draw(t, "tool") + "/**)"}
			case 2:
				g.Scope.Denied = []ResourceRef{{Kind: KindFolder, Path: g.Scope.Root.Path + "/" + word.Draw(t, "hole")}}
			}
			src.Grants = append(src.Grants, g)
		}
		for range rapid.IntRange(0, 2).Draw(t, "labels") {
			src.Labels = append(src.Labels, Label{ResourceRef{Kind: KindFolder, Path: path.Draw(t, "label")},
				rapid.SampledFrom([]DataClass{SourceCode, CustomerData, Executive}).Draw(t, "class")})
		}
		form, named := rapid.SampledFrom([]string{"", `forbid (principal, action, resource in Folder::"%s");`,
			`@ask("why") permit (principal, action, resource in Folder::"%s");`,
			`@ask forbid (principal, action, resource == Folder::"%s");`,
			`forbid (principal, action, resource) when { context.paths.contains("%s") && context.tool == "bash" };`,
			`forbid (principal, action, resource is Folder) when { resource in Folder::"%s" && context.now > datetime("2020-01-01T00:00:00Z") };`,
			`forbid (principal, action, resource) when { context.commands.contains("cat %s") };`,
			`forbid (principal, action, resource is Folder) when { context.path like "*%s*" } unless { context.present };`,
		}).Draw(t, "rule"), path.Draw(t, "rule's path")
		rules := func(spell func(string) string) string {
			if form == "" {
				return ""
			}
			return fmt.Sprintf(form, spell(named))
		}
		src.Rules = rules(func(s string) string { return s })

		p := path.Draw(t, "path")
		q := respelled(t, p)
		ask := func(src Source, p string) []Decision {
			v := mustCompile(t, src).View(StrictTenantContext{Tenant: "home", Principal: PrincipalRef{Agent, "a"}}, noon)
			facts := &Facts{Paths: []string{p}, Commands: [][]string{{"cat", p}}}
			at := ResourceRef{Kind: KindFolder, Path: p}
			sight := v.Sight("bash", nil, nil).Of(p)
			if plain := v.Sight("bash", nil, nil).ask(p); plain != sight {
				t.Fatalf("a sight remembers %+v of %s, the policy says %+v", sight, p, plain)
			}
			return []Decision{v.Decide(Request{Right: "folder.read", Resource: at, Tool: "bash", Facts: facts}),
				v.Decide(Request{Right: "folder.write", Resource: at}),
				v.Decide(Request{Right: "tool.execute", Resource: ToolRef("bash"), Tool: "bash", Facts: facts}),
				{Effect: map[bool]Effect{true: Deny, false: Allow}[sight.Hidden]}}
		}
		plain := ask(src, p)
		for i, d := range ask(src, q) {
			if d.Effect > plain[i].Effect {
				t.Fatalf("question %d: %s is %+v, and %s is %+v\n%+v", i, p, plain[i], q, d, src)
			}
		}
		other := another(t, src, rules)
		for i, d := range ask(other, p) {
			if d.Effect > plain[i].Effect {
				t.Fatalf("question %d of %s: %+v, and with other spellings of the policy %+v\n%+v\n%+v", i, p, plain[i], d, src, other)
			}
		}
	})
}

// A grant is of the spelling that it names, and of no other kind of thing than files is a denial wider than its words.
func TestWhatFoldsAndWhatDoesNot(t *testing.T) {
	c := compiled(t, `forbid (principal, action, resource in Resource::"/locks");`,
		give(t, "code", "agent:a", Allow, "folder:/code", "read"), give(t, "keys", "agent:a", Allow, "resource:/", "read"),
		give(t, "no", "agent:a", Deny, "folder:/code/Priv", "view"), give(t, "none", "agent:a", Deny, "resource:/priv", "view"))
	for resource, want := range map[string]Effect{
		"folder:/code/a": Allow, "folder:/Code/a": Deny, "folder:/code/Priv/x": Deny, "folder:/code/priv/x": Deny,
		"folder:/code/PR\u0130V": Allow, "folder:/code/privy": Allow,
		"resource:/priv": Deny, "resource:/PRIV": Allow, "resource:/locks/a": Deny, "resource:/Locks/a": Allow,
	} {
		d := seen(t, c, "agent:a").Decide(Request{Permission: CanRead, Resource: at(t, resource)})
		if d.Effect != want {
			t.Errorf("%s: %+v", resource, d)
		}
	}
}
