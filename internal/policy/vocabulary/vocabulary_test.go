package vocabulary

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"tandem/internal/policy"
)

const home = "ten_home"

var (
	genPath  = rapid.SampledFrom([]string{"/", "/a", "/a/b", "/a/b/c", "/ab", "/fin", "/fin/x", "/finance-x", "/*"})
	genKind  = rapid.SampledFrom(append(policy.Kinds(), policy.AnyKind))
	genPerm  = rapid.SampledFrom(policy.Permissions())
	genClass = rapid.SampledFrom(append(policy.Classes(), policy.AnyClass))
	genActor = rapid.SampledFrom([]policy.PrincipalRef{{Kind: policy.Person, ID: "ann"}, {Kind: policy.Agent, ID: "b"},
		{Kind: policy.Session, ID: "ses_1"}, {Kind: policy.Service, ID: "mcp"}, {Kind: policy.Local, ID: "local"}})
	genWho = rapid.OneOf(genActor, rapid.SampledFrom([]policy.PrincipalRef{{Kind: "*", ID: "*"}, {Kind: policy.Agent, ID: "*"},
		{Kind: policy.GroupOf, ID: "qa"}}))
	genTool = rapid.SampledFrom([]string{"read", "mcp.github.*", "bash(command: git log)", "read(path: /a/**)"})
	noon    = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
)

func genRef(t *rapid.T) policy.ResourceRef {
	r := policy.ResourceRef{Kind: genKind.Draw(t, "kind"), Path: genPath.Draw(t, "path")}
	if rapid.Bool().Draw(t, "through a link") {
		r.Written = "/link"
	}
	return r
}

func genScope(t *rapid.T) policy.ResourceScope {
	s := policy.ResourceScope{Root: genRef(t), Own: rapid.Bool().Draw(t, "own")}
	if n := rapid.IntRange(-1, 3).Draw(t, "depth"); n >= 0 {
		s.MaxDepth = &n
	}
	for range rapid.IntRange(0, 2).Draw(t, "holes") {
		s.Denied = append(s.Denied, genRef(t))
	}
	if rapid.Bool().Draw(t, "globs") {
		s.Only = []string{"/a/**", "/fin"}
	}
	return s
}

func genGrant(t *rapid.T) policy.ScopedGrant {
	g := policy.ScopedGrant{ID: "grt_1", Principal: genWho.Draw(t, "who"), Scope: genScope(t),
		Effect:      rapid.SampledFrom([]policy.Effect{policy.Allow, policy.Ask, policy.Deny}).Draw(t, "effect"),
		Permissions: rapid.SliceOfN(genPerm, 1, 3).Draw(t, "permissions"), DataClasses: rapid.SliceOfN(genClass, 0, 3).Draw(t, "classes"),
		ToolPatterns: rapid.SliceOfN(genTool, 0, 2).Draw(t, "tools"), Redelegate: rapid.IntRange(0, 2).Draw(t, "redelegate"),
		Source: rapid.SampledFrom([]policy.GrantSource{policy.Direct, policy.Default, policy.Fallback}).Draw(t, "source"),
		Note:   rapid.SampledFrom([]string{"", "why"}).Draw(t, "note")}
	if rapid.Bool().Draw(t, "approvers") {
		g.Approvers = []policy.PrincipalRef{{Kind: policy.Person, ID: "ann"}, {Kind: policy.GroupOf, ID: "qa"}}
	}
	if rapid.Bool().Draw(t, "ends") {
		g.ExpiresAt = noon.Add(time.Duration(rapid.IntRange(1, 1e6).Draw(t, "ms")) * time.Millisecond)
	}
	if by := genActor.Draw(t, "giver"); rapid.Bool().Draw(t, "given") {
		g.SourcePrincipal = &by
		if g.Effect != policy.Deny && rapid.Bool().Draw(t, "passed on") {
			g.Source, g.DelegationID = policy.Delegation, "grt_0"
		}
	}
	return g
}

// normal is a grant as it comes back: what it covers by naming no class is named, and no list is nil.
func normal(g policy.ScopedGrant) policy.ScopedGrant {
	if len(g.DataClasses) == 0 && g.Effect != policy.Deny {
		g.DataClasses = policy.Everyday()
	}
	if len(g.DataClasses) == 0 {
		g.DataClasses = []policy.DataClass{}
	}
	if len(g.ToolPatterns) == 0 {
		g.ToolPatterns = []string{}
	}
	return g
}

// through writes a value as JSON and reads it again.
func through[T any](t *rapid.T, v T) (out T) {
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A grant of ours is the same grant after it was written in the published words and read back, and fits their schema.
func TestAGrantComesBackAsItWas(t *testing.T) {
	fits := validator(t, "ScopedGrant")
	rapid.Check(t, func(t *rapid.T) {
		g := genGrant(t)
		if err := g.Check(home); err != nil {
			t.Fatal(err)
		}
		wire := through(t, Grant(home, &g))
		fits(t, wire)
		back, err := wire.Here(home)
		if err != nil {
			t.Fatal(err)
		}
		if want := normal(g); !reflect.DeepEqual(*back, want) {
			t.Fatalf("came back as\n%+v, not\n%+v", *back, want)
		}
		// Who leaves out what begins with tandem_ and reads the rest as published reads nothing wider: a narrowed gift is no word of theirs.
		if wire.Within != nil && g.Effect != policy.Deny {
			wire.Within = nil
			if _, err := wire.Here(home); err == nil || wire.Effect == "allow" {
				t.Fatalf("without its narrowing it is %s, and taken", wire.Effect)
			}
		}
	})
}

// What a grant decides is the same before and after.
func TestAGrantDecidesAsBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := genGrant(t)
		g.Source, g.DelegationID = policy.Direct, ""
		back, err := through(t, Grant(home, &g)).Here(home)
		if err != nil {
			t.Fatal(err)
		}
		ask := policy.Request{Permission: genPerm.Draw(t, "asks"), Now: noon, Class: rapid.SampledFrom(policy.Classes()).Draw(t, "class"),
			Resource: policy.ResourceRef{Kind: rapid.SampledFrom(policy.Kinds()).Draw(t, "asked kind"), Path: genPath.Draw(t, "asked path")}}
		var got [2]policy.Effect
		for i, one := range []policy.ScopedGrant{g, *back} {
			c, err := policy.Compile(policy.Source{Tenant: home, Grants: []policy.ScopedGrant{one}})
			if err != nil {
				t.Fatal(err)
			}
			who := policy.StrictTenantContext{Tenant: home, Principal: policy.PrincipalRef{Kind: policy.Agent, ID: "b"},
				AuthorityChain: []policy.PrincipalRef{{Kind: policy.Person, ID: "ann"}}}
			got[i] = c.View(who, noon).Decide(ask).Effect
		}
		if got[0] != got[1] {
			t.Fatalf("%s before, %s after, for %+v", got[0], got[1], ask)
		}
	})
}

// A caller with every limit comes back, and fits the schema.
func TestACallerComesBackAsTheyWere(t *testing.T) {
	fits := validator(t, "StrictTenantContext")
	rapid.Check(t, func(t *rapid.T) {
		c := policy.StrictTenantContext{Tenant: home, Principal: genActor.Draw(t, "who"),
			AuthorityChain: some(t, "for", genActor), Boundary: policy.DataBoundary{Allowed: some(t, "allowed", genClass),
				Denied: some(t, "denied", genClass)}}
		if rapid.Bool().Draw(t, "prompted") {
			c.Prompters = [][]policy.PrincipalRef{some(t, "prompter", genActor), {{Kind: policy.Person, ID: "eve"}}}
		}
		if rapid.Bool().Draw(t, "limited") {
			c.Ceiling = &policy.Ceiling{Rights: []string{"resource.read", "space.*"}[:rapid.IntRange(0, 2).Draw(t, "rights")]}
			for range rapid.IntRange(0, 3).Draw(t, "places") {
				s := genScope(t)
				if reflect.DeepEqual(s, policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.AnyKind, Path: "/"}}) {
					s.Root.Kind = policy.KindRepo
				}
				c.Ceiling.Scopes = append(c.Ceiling.Scopes, s)
			}
		}
		if rapid.Bool().Draw(t, "ends") {
			c.ExpiresAt = noon
		}
		given := []policy.ScopedGrant{normal(genGrant(t))}
		wire := through(t, Context(&c, given))
		fits(t, wire)
		back, grants, err := wire.Here()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*back, c) || !reflect.DeepEqual(grants, given) {
			t.Fatalf("came back as\n%+v %+v, not\n%+v %+v", *back, back.Ceiling, c, c.Ceiling)
		}
	})
}

func some[T any](t *rapid.T, label string, gen *rapid.Generator[T]) []T {
	if list := rapid.SliceOfN(gen, 0, 2).Draw(t, label); len(list) > 0 {
		return list
	}
	return nil
}

func validator(t *testing.T, name string) func(*rapid.T, any) {
	t.Helper()
	all, err := Schemas()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(all[name], &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(t *rapid.T, v any) {
		if err := r.Validate(through(t, map[string]any{"v": v})["v"]); err != nil {
			t.Fatalf("%s does not fit its schema: %v", name, err)
		}
	}
}

// Each type is served, and its words are those of the published vocabulary.
func TestTheSchemasNameTheWords(t *testing.T) {
	all, err := Schemas()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(Names) {
		t.Errorf("%d schemas, and %d names", len(all), len(Names))
	}
	for _, name := range Names {
		if !json.Valid(all[name]) || !strings.Contains(string(all[name]), `"title":"`+name+`"`) {
			t.Errorf("%s is served as %s", name, all[name])
		}
	}
	for _, k := range published {
		if !strings.Contains(string(all["ResourceKind"]), `"`+string(k)+`"`) {
			t.Errorf("%s is no kind of the schema", k)
		}
	}
	seen := map[ResourceKind]bool{}
	for _, k := range append(policy.Kinds(), policy.AnyKind) {
		w := KindOf(k)
		if h, err := w.Here(); err != nil || h != k || seen[w] || !strings.HasPrefix(string(w), own) && !slices.Contains(published, w) {
			t.Errorf("%s is %s there and %s here again: %v", k, w, h, err)
		}
		seen[w] = true
	}
}

// covers says whether a published scope holds a folder.
func covers(t *testing.T, s ResourceScope, path string) bool {
	t.Helper()
	places, err := s.Here(home)
	if err != nil {
		t.Fatal(err)
	}
	for i := range places {
		if places[i].Covers(policy.ResourceRef{Kind: policy.KindFolder, Path: path}) {
			return true
		}
	}
	return places == nil
}

// The published original took /finance-x for a part of /fin, one kind for another, and kept no depth.
func TestATreeIsATree(t *testing.T) {
	folder := func(id string) ResourceRef {
		return ResourceRef{Organization: home, Workspace: "*", Kind: "directory", ID: id}
	}
	prefixed := folder("/")
	prefixed.Prefix = "/fin"
	named := folder("x")
	named.Parents = []Parent{{"organization", home, "Home"}, {"directory", "fin", ""}}
	repo := folder("/fin")
	repo.Kind = "repository"
	two := 2
	for _, c := range []struct {
		name      string
		scope     ResourceScope
		holds, no string
	}{
		{"a root", ResourceScope{Root: folder("/fin")}, "/fin /fin/x", "/finance-x / /f"},
		{"a prefix", ResourceScope{Root: prefixed}, "/fin /fin/x", "/finance-x /"},
		{"a name below its parents", ResourceScope{Root: named}, "/fin/x /fin/x/y", "/fin /fin/xy"},
		{"another kind", ResourceScope{Root: repo}, "", "/fin /fin/x"},
		{"a depth", ResourceScope{Root: folder("/fin"), MaxDepth: &two}, "/fin /fin/a/b", "/fin/a/b/c"},
		{"allowed ones", ResourceScope{Root: folder("/"), Allowed: []ResourceRef{folder("/a"), folder("/b")}, MaxDepth: &two,
			Denied: []ResourceRef{folder("/a/no")}}, "/a /b/c", "/ /a/no /a/b/c /ab"},
	} {
		for _, p := range strings.Fields(c.holds) {
			if !covers(t, c.scope, p) {
				t.Errorf("%s: %s is left out", c.name, p)
			}
		}
		for _, p := range strings.Fields(c.no) {
			if covers(t, c.scope, p) {
				t.Errorf("%s: %s is covered", c.name, p)
			}
		}
	}
}

// What this house could not keep is refused, and not read as something wider.
func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	fine := policy.ScopedGrant{ID: "g", Principal: policy.PrincipalRef{Kind: policy.Agent, ID: "b"}, Effect: policy.Allow,
		Source: policy.Direct, Permissions: []policy.AccessPermission{policy.CanRead},
		Scope: policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.KindFolder, Path: "/a"}}}
	if _, err := Grant(home, &fine).Here(home); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*ScopedGrant){
		"another tenant's":    func(g *ScopedGrant) { g.Resource.Organization = "ten_other" },
		"another workspace's": func(g *ScopedGrant) { g.Resource.Workspace = "other" },
		"in another workspace": func(g *ScopedGrant) {
			g.Resource.Workspace, g.Resource.Parents = "*", []Parent{{"workspace", "marketing", ""}}
		},
		"an end that Go takes for none": func(g *ScopedGrant) {
			end := time.Time{}.UnixMilli()
			g.ExpiresAtMS = &end
		},
		"a branch":                 func(g *ScopedGrant) { g.Resource.Branch = "main" },
		"a project":                func(g *ScopedGrant) { g.Resource.Project = "p" },
		"a kind that is not here":  func(g *ScopedGrant) { g.Resource.Kind = "data_room" },
		"a kind that is nowhere":   func(g *ScopedGrant) { g.Resource.Kind = "folder" },
		"a path that climbs":       func(g *ScopedGrant) { g.Resource.ID = "/a/../b" },
		"a prefix that climbs":     func(g *ScopedGrant) { g.Resource.Prefix = "../b" },
		"a parent of another tree": func(g *ScopedGrant) { g.Resource.Parents = []Parent{{"directory", "/b", ""}} },
		"a parent by a prefix":     func(g *ScopedGrant) { g.Resource.ID, g.Resource.Parents = "/ab", []Parent{{"directory", "/a", ""}} },
		"a parent of another kind": func(g *ScopedGrant) { g.Resource.ID, g.Resource.Parents = "x", []Parent{{"repository", "a", ""}} },
		"an id of two names":       func(g *ScopedGrant) { g.Resource.ID = "a/b" },
		"no id":                    func(g *ScopedGrant) { g.Resource.ID, g.Resource.Parents = "", nil },
		"somebody elsewhere":       func(g *ScopedGrant) { g.Principal.Kind = "department" },
		"nobody":                   func(g *ScopedGrant) { g.Principal.ID = "" },
		"an effect of no word":     func(g *ScopedGrant) { g.Effect = "permit" },
		"a lost narrowing":         func(g *ScopedGrant) { g.Effect = "allow_within" },
		"an inherited one":         func(g *ScopedGrant) { g.Source = "inherited" },
		"a break-glass one":        func(g *ScopedGrant) { g.Source = "break_glass" },
		"a class of no word":       func(g *ScopedGrant) { g.DataClasses = []DataClass{"secret"} },
		"no permission":            func(g *ScopedGrant) { g.Permissions = nil },
		"a permission of no word":  func(g *ScopedGrant) { g.Permissions = []AccessPermission{"own"} },
	} {
		g := Grant(home, &fine)
		change(&g)
		if h, err := g.Here(home); !errors.Is(err, policy.ErrMalformed) {
			t.Errorf("%s is taken as %+v: %v", name, h, err)
		}
	}
}
