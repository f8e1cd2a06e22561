package policy

import (
	"strings"
	"testing"
)

// Where something of a repository is denied, its store is not there either: by its name in any spelling, in another checkout, where it
// lies elsewhere, and by a link. A repository of which nothing is denied stays open, and so does a store that only the house's defaults
// speak of.
func TestAStoreIsAsClosedAsWhatItHolds(t *testing.T) {
	kin := func(path string) (names []string, root string) {
		for r, names := range map[string][]string{"/code/app": {"git:/code/app/.git"}, "/code/tree": {"git:/code/app/.git"},
			"/code/apart": {"git:/code/store"}, "/code/free": {"git:/code/free/.git"}, "/code/keys": {"jj:/code/keys/.jj/repo"}} {
			if path == r || strings.HasPrefix(path, r+"/") {
				return names, r
			}
		}
		return nil, ""
	}
	real := func(path string) string { return strings.Replace(path, "/code/link", "/code/app/.git", 1) }
	any := PrincipalRef{Kind: "*", ID: "*"}
	deny := func(id, root string, only ...string) ScopedGrant {
		return ScopedGrant{ID: id, Principal: any, Source: Direct, Effect: Deny, Permissions: []AccessPermission{CanView},
			Scope: ResourceScope{Root: ResourceRef{Kind: KindFolder, Path: root}, Only: only}}
	}
	c, err := Compile(Source{Tenant: "t", Grants: append(DefaultGrants(), deny("a", "/code/app/priv"), deny("b", "/code/apart/priv"),
		deny("c", "/code/keys", "/code/keys/**/*.ini"),
		ScopedGrant{ID: "all", Principal: any, Source: Direct, Effect: Allow, Permissions: []AccessPermission{CanView, CanRead},
			Scope: ResourceScope{Root: ResourceRef{Kind: KindFolder, Path: "/code"}}})})
	if err != nil {
		t.Fatal(err)
	}
	who := StrictTenantContext{Tenant: "t", Principal: PrincipalRef{Session, "s"}, AuthorityChain: []PrincipalRef{{Person, "ann"}}}
	for _, tool := range []string{"", "read"} {
		sight := c.View(who, noon).Sight(tool, kin, real)
		for path, hidden := range map[string]bool{
			"/code/app/.git/rr-cache/1/preimage": true, "/code/app/.GIT/MERGE_MSG": true, "/code/app/.git": true, "/code/app/.jj/x": true,
			"/code/tree/.git": true, "/code/store/MERGE_MSG": true, "/code/link/config": true, "/code/keys/.jj/repo/store/x": true,
			"/code/app/lib.txt": false, "/code/free/.git/config": false, "/code/storeroom/x": false, "/code/app/.gitignore": false,
		} {
			if seen := sight.Named(path); seen.Hidden != hidden {
				t.Errorf("tool %q, %s: hidden is %v, by %q", tool, path, seen.Hidden, seen.By)
			}
			if seen := sight.Elsewhere(path); seen.Hidden != hidden && path != "/code/tree/.git" {
				t.Errorf("tool %q, elsewhere %s: hidden is %v, by %q", tool, path, seen.Hidden, seen.By)
			}
		}
	}
}
