package vocabulary

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/internal/policy"
)

// What an assertion is narrowed to is kept as it is meant or refused, each part by its own name.
func TestWhatAnAssertionIsNarrowedToIsKeptOrRefused(t *testing.T) {
	ref := func(kind, id, more string) string {
		return `{"organization_id":"acme","workspace_id":"main","resource_kind":"` + kind + `","resource_id":"` + id + `"` + more + `}`
	}
	scope := func(root, more string) string { return `{"root":` + root + more + `}` }
	grant := func(changes ...string) string {
		g := `{"grant_id":"g1","principal":{"kind":"human_user","id":"anna"},"resource":` + ref("tandem_resource", "/team", "") +
			`,"effect":"allow","permissions":["read"],"data_classes":[],"tool_patterns":[],"grant_source":"direct"}`
		for i := 0; i+1 < len(changes); i += 2 {
			if !strings.Contains(g, changes[i]) {
				t.Fatalf("there is no %s in %s", changes[i], g)
			}
			g = strings.Replace(g, changes[i], changes[i+1], 1)
		}
		return "[" + g + "]"
	}
	team := ref("tandem_resource", "/team", "")
	for _, c := range []struct{ name, scope, grants, boundary, part, leaves string }{
		{name: "nothing", leaves: "null"},
		{name: "empty parts", scope: "null", grants: "[]", boundary: `{"allowed_data_classes":[],"denied_data_classes":[]}`, leaves: "null"},
		{name: "the organization is everything", scope: scope(ref("organization", "acme", ""), ""), leaves: "null"},
		{name: "so is its workspace", scope: scope(ref("workspace", "main", ""), ""), leaves: "null"},
		{name: "a tree", scope: scope(team, ""), leaves: `{"places":[{"root":{"kind":"resource","path":"/team"}}]}`},
		{name: "a tree of any workspace", scope: scope(strings.Replace(team, "main", "*", 1), ""),
			leaves: `{"places":[{"root":{"kind":"resource","path":"/team"}}]}`},
		{name: "in its organization and workspace", leaves: `{"places":[{"root":{"kind":"resource","path":"/team"}}]}`,
			scope: scope(ref("tandem_resource", "/team",
				`,"parent_path":[{"kind":"organization","id":"acme"},{"kind":"workspace","id":"main"}]`), "")},
		{name: "the organization without a tree", scope: scope(ref("organization", "acme", ""), `,"denied_resources":[`+team+`]`),
			leaves: `{"places":[{"root":{"kind":"*","path":"/"},"denied":[{"kind":"resource","path":"/team"}]}]}`},
		{name: "of the organization two things", scope: scope(ref("organization", "acme", ""), `,"allowed_resources":[`+team+`,`+
			ref("directory", "/srv", "")+`]`),
			leaves: `{"places":[{"root":{"kind":"resource","path":"/team"}},{"root":{"kind":"folder","path":"/srv"}}]}`},
		{name: "a boundary", boundary: `{"denied_data_classes":["credential"]}`, leaves: `{"boundary":{"denied_data_classes":["credential"]}}`},
		{name: "a grant", grants: grant()},
		{name: "a grant to everybody", grants: grant(`{"kind":"human_user","id":"anna"}`, `{"kind":"tandem_any","id":"*"}`)},

		{name: "a scope that is a word", scope: `"all"`, part: PartScope},
		{name: "a scope that is a list", scope: `[]`, part: PartScope},
		{name: "a scope without a root", scope: `{}`, part: PartScope},
		{name: "a scope with a field of tomorrow", scope: scope(team, `,"except_on":"sunday"`), part: PartScope},
		{name: "two scopes", scope: scope(team, "") + scope(team, ""), part: PartScope},
		{name: "a kind that this house does not have", scope: scope(ref("data_room", "/x", ""), ""), part: PartScope},
		{name: "a kind that nobody has", scope: scope(ref("castle", "/x", ""), ""), part: PartScope},
		{name: "another organization", scope: scope(strings.Replace(team, "acme", "other", 1), ""), part: PartScope},
		{name: "another organization's whole", scope: scope(ref("organization", "other", ""), `,"allowed_resources":[`+
			strings.Replace(team, "acme", "other", 1)+`]`), part: PartScope},
		{name: "another workspace", scope: scope(strings.Replace(team, "main", "other", 1), ""), part: PartScope},
		{name: "a hole elsewhere", scope: scope(team, `,"denied_resources":[`+strings.Replace(team, "acme", "other", 1)+`]`), part: PartScope},
		{name: "a project", scope: scope(ref("tandem_resource", "/team", `,"project_id":"p"`), ""), part: PartScope},
		{name: "a branch", scope: scope(ref("repository", "/r", `,"branch_id":"b"`), ""), part: PartScope},
		{name: "a path that climbs", scope: scope(ref("directory", "/srv/../etc", ""), ""), part: PartScope},
		{name: "a depth below nothing", scope: scope(team, `,"max_depth":-1`), part: PartScope},
		{name: "an allowed thing outside", scope: scope(team, `,"allowed_resources":[`+ref("tandem_resource", "/x", "")+`]`), part: PartScope},
		{name: "too many resources", scope: scope(ref("organization", "acme", ""), `,"allowed_resources":[`+
			strings.TrimSuffix(strings.Repeat(team+",", maxGrants), ",")+`]`), part: PartScope},
		{name: "grants that are one", grants: strings.Trim(grant(), "[]"), part: PartGrants},
		{name: "a grant to somebody else", grants: grant(`"anna"`, `"ben"`), part: PartGrants},
		{name: "a grant to a group", grants: grant("human_user", "group"), part: PartGrants},
		{name: "a grant to a department", grants: grant("human_user", "department"), part: PartGrants},
		{name: "a grant without a permission", grants: grant(`["read"]`, `[]`), part: PartGrants},
		{name: "a permission of nowhere", grants: grant(`["read"]`, `["own"]`), part: PartGrants},
		{name: "an effect of nowhere", grants: grant(`"allow"`, `"maybe"`), part: PartGrants},
		{name: "a source that was not looked at", grants: grant(`"direct"`, `"break_glass"`), part: PartGrants},
		{name: "a grant in another organization", grants: grant("acme", "other"), part: PartGrants},
		{name: "a data class of nowhere", grants: grant(`"data_classes":[]`, `"data_classes":["secretish"]`), part: PartGrants},
		{name: "a tool that is no pattern", grants: grant(`"tool_patterns":[]`, `"tool_patterns":["bash(("]`), part: PartGrants},
		{name: "an end before 1970", grants: grant(`"grant_id"`, `"expires_at_ms":0,"grant_id"`), part: PartGrants},
		{name: "a field of tomorrow", grants: grant(`"grant_id"`, `"only_if":"x","grant_id"`), part: PartGrants},
		{name: "too many grants", grants: "[" + strings.TrimSuffix(strings.Repeat(strings.Trim(grant(), "[]")+",", maxGrants+1), ",") + "]",
			part: PartGrants},
		{name: "a boundary that is a list", boundary: `[]`, part: PartBoundary},
		{name: "a class of nowhere", boundary: `{"denied_data_classes":["secretish"]}`, part: PartBoundary},
		{name: "a boundary of tomorrow", boundary: `{"masked_data_classes":["internal"]}`, part: PartBoundary},
	} {
		n, part, err := Asserted{Organization: "acme", Workspace: "main", Person: "anna", Scope: json.RawMessage(c.scope),
			Grants: json.RawMessage(c.grants), Boundary: json.RawMessage(c.boundary)}.Here()
		if part != c.part || (err != nil) != (c.part != "") || err != nil && err.Error() == "" {
			t.Errorf("%s: part %q, want %q: %v", c.name, part, c.part, err)
			continue
		}
		if got, _ := json.Marshal(n); c.leaves != "" && string(got) != c.leaves {
			t.Errorf("%s: %s, want %s", c.name, got, c.leaves)
		}
		if n != nil {
			text, by := n.Text()
			if _, err := policy.ReadNarrowing("t1", by, text); err != nil {
				t.Errorf("%s is not read again: %v", c.name, err)
			}
			if _, err := policy.ReadNarrowing("t1", by, strings.Replace(text, "team", "x", 1)); err == nil && strings.Contains(text, "team") {
				t.Errorf("%s: another text was read by its name", c.name)
			}
		}
	}
}
