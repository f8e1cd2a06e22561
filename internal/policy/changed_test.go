package policy

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is given, passed on, taken back and written, in whatever order: the policy that followed each change answers as the one that is
// made of everything at once.
func TestAPolicyThatFollowedIsTheOneMadeOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := genSource(t)
		for i := range src.Grants {
			if rapid.Bool().Draw(t, "to a group") {
				src.Grants[i].Principal = PrincipalRef{GroupOf, "crew"}
			}
		}
		src.Groups = genGroups(t)
		followed := mustCompile(t, src)
		for step := range rapid.IntRange(1, 8).Draw(t, "steps") {
			change := genChange(t, &src, step)
			next, err := followed.Changed(change)
			whole, refused := Compile(src)
			if (err == nil) != (refused == nil) {
				t.Fatalf("%+v: %v, and of all at once %v", change, err, refused)
			}
			if err != nil {
				t.Skip("a policy that there cannot be")
			}
			followed = next
			if !maps.Equal(followed.Dead(), whole.Dead()) || followed.Grants() != whole.Grants() || followed.Version() != whole.Version() {
				t.Fatalf("dead are %v, and of all at once %v", followed.Dead(), whole.Dead())
			}
			for range 5 {
				ctx, req := genContext(t), genRequest(t)
				a, heard := followed.View(ctx, noon).Explain(req)
				b, also := whole.View(ctx, noon).Explain(req)
				if fmt.Sprint(a, heard) != fmt.Sprint(b, also) {
					t.Fatalf("%+v %+v:\n%+v %v\nand of all at once\n%+v %v", ctx, req, a, heard, b, also)
				}
				if followed.View(ctx, noon).Until() != whole.View(ctx, noon).Until() {
					t.Fatalf("%+v: the views end at different times", ctx)
				}
			}
		}
	})
}

func genGroups(t *rapid.T) []Group {
	return []Group{{Name: "crew", Members: rapid.SliceOfNDistinct(rapid.SampledFrom([]PrincipalRef{{Person, "ann"}, {Person, "bob"}}), 0, 2,
		rapid.ID[PrincipalRef]).Draw(t, "crew")}}
}

// genChange draws what becomes different, and makes it so in the source.
func genChange(t *rapid.T, src *Source, step int) Change {
	src.Version++
	to := Change{Version: src.Version}
	for i := range rapid.IntRange(0, 2).Draw(t, "given") {
		g := genGrant(t, fmt.Sprintf("s%d.%d", step, i), Allow, Ask, Deny)
		if rapid.Bool().Draw(t, "to a group") {
			g.Principal = PrincipalRef{GroupOf, "crew"}
		}
		if len(src.Grants) > 0 && g.Effect != Deny && rapid.Bool().Draw(t, "passed on") {
			g.Source, g.DelegationID = Delegation, rapid.SampledFrom(src.Grants).Draw(t, "from").ID
			g.SourcePrincipal = &PrincipalRef{Person, "ann"}
			if i := slices.IndexFunc(src.Grants, func(p ScopedGrant) bool { return p.ID == g.DelegationID }); src.Grants[i].Redelegate > 0 {
				g.Redelegate = src.Grants[i].Redelegate - 1
			}
		}
		to.Given = append(to.Given, g)
	}
	if len(src.Grants) > 0 && rapid.Bool().Draw(t, "taken back") {
		id := rapid.SampledFrom(src.Grants).Draw(t, "which").ID
		to.TakenBack = []string{id}
		src.Grants = without(src.Grants, func(g ScopedGrant) bool { return g.ID == id })
	}
	src.Grants = append(slices.Clip(src.Grants), to.Given...)
	if rapid.Bool().Draw(t, "written") {
		src.Groups, src.Rules = genGroups(t), genRule.Draw(t, "rule")
		written := *src
		written.Grants = nil
		to.Written = &written
	}
	return to
}

// A policy that changed leaves the one before as it was: whoever still holds it gets its answers.
func TestAChangeLeavesTheVersionBefore(t *testing.T) {
	first := compiled(t, "", give(t, "up", "person:ann", Allow, "folder:/a", "read delegate"),
		give(t, "other", "agent:b", Allow, "folder:/b", "read"))
	read := Request{Right: "folder.read", Resource: ResourceRef{Path: "/a/x"}}
	before := seen(t, first, "person:ann").Decide(read)
	next, err := first.Changed(Change{Version: 2, TakenBack: []string{"up"},
		Given: []ScopedGrant{give(t, "no", "person:*", Deny, "folder:/", "read")}})
	if err != nil {
		t.Fatal(err)
	}
	if d := seen(t, next, "person:ann").Decide(read); d.Effect != Deny || d.By != "grant:no" {
		t.Errorf("after the change: %+v", d)
	}
	if d := seen(t, first, "person:ann").Decide(read); d.By != before.By || d.Effect != Allow {
		t.Errorf("the version before answers %+v", d)
	}
	if first.Grants() != 2 || next.Grants() != 2 || first.Grant("no") != nil || next.Grant("up") != nil {
		t.Error("the two versions have each other's grants")
	}
}
