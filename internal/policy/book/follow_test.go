package book

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/policy"
)

// People and another server change a policy in any order: what followed the changes is what a book reads that was never told of any.
func TestWhatFollowedChangesIsWhatIsRead(t *testing.T) {
	exam(t, func(b *bench) {
		other := b.Book // another server of the same database, where several may be
		if b.db.Name() != "sqlite" {
			other = New(b.db, who, b.wants)
		}
		home := 0
		rapid.Check(b.t, func(t *rapid.T) {
			home++
			tenant := fmt.Sprintf("home%d", home)
			var given []string
			for range rapid.IntRange(1, 12).Draw(t, "changes") {
				at := rapid.SampledFrom([]*Book{b.Book, other}).Draw(t, "where")
				id, err := drawChange(t, b, at, tenant, given)
				if err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Conflict) {
					t.Fatal(err)
				}
				if id != "" {
					given = append(given, id)
				}
				if !rapid.Bool().Draw(t, "look") {
					continue
				}
				for _, book := range []*Book{b.Book, other} {
					same(t, b, book, tenant)
				}
			}
			same(t, b, b.Book, tenant)
			same(t, b, other, tenant)
		})
	})
}

func drawChange(t *rapid.T, b *bench, at *Book, tenant string, given []string) (id string, err error) {
	some := append(slices.Clone(given), "default-agent-keys", "default-agent-folder-write")
	switch rapid.IntRange(0, 6).Draw(t, "what") {
	case 0, 1, 2:
		in := GrantIn{Principal: rapid.SampledFrom([]string{"agent:builder", "agent:*", "person:ann", "*", "group:crew"}).Draw(t, "to"),
			Effect:      rapid.SampledFrom([]string{"allow", "ask", "deny"}).Draw(t, "effect"),
			Resource:    rapid.SampledFrom([]string{"folder:/a", "folder:/a/b", "folder:/"}).Draw(t, "at"),
			Permissions: []string{"read", "edit", "delegate"},
			Redelegate:  rapid.IntRange(0, 1).Draw(t, "redelegate")}
		if len(given) > 0 && rapid.Bool().Draw(t, "passed on") {
			in.From, in.Redelegate, in.Permissions = rapid.SampledFrom(given).Draw(t, "from"), 0, []string{"read"}
		}
		out, err := change(b, tenant, at.Add, in)
		return out.ID, err
	case 3:
		_, err = change(b, tenant, at.Revoke, GrantIDIn{ID: rapid.SampledFrom(some).Draw(t, "which")})
	case 4:
		run := rapid.SampledFrom([]func(context.Context, *db.Tx, GroupIn) (GroupOut, error){at.addGroup, at.removeGroup}).Draw(t, "group")
		_, err = change(b, tenant, run, GroupIn{Name: "crew", Members: []string{rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "member")}})
	case 5:
		_, err = change(b, tenant, at.edit, EditIn{Rules: rapid.SampledFrom([]string{"", `@ask permit (principal is Agent, action, resource);`,
			`forbid (principal in Group::"crew", action, resource in Folder::"/a");`}).Draw(t, "rules")})
	case 6:
		_, err = change(b, tenant, at.away, AwayIn{StandIn: "bob", TTL: 3600})
	}
	return "", err
}

// same compares what a book knows with what one reads that knows nothing.
func same(t *rapid.T, b *bench, at *Book, tenant string) {
	got, err := at.current(b.t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	want, err := New(b.db, who, b.wants).current(b.t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	said := func(k known) string {
		all, err := json.Marshal(k.all())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %v %+v %q %+v %s", k.Version(), k.Dead(), k.written, k.rules, k.away, all)
	}
	if a, b := said(got), said(want); a != b {
		t.Fatalf("it followed to\n%s\nand what is read is\n%s", a, b)
	}
	for _, p := range []policy.PrincipalRef{{Kind: policy.Agent, ID: "builder"}, {Kind: policy.Person, ID: "ann"}} {
		for _, path := range []string{"/a/b/x", "/a/x", "/x/.env"} {
			req := policy.Request{Right: "folder.read", Resource: policy.ResourceRef{Path: path}}
			a, heard := got.View(policy.StrictTenantContext{Tenant: tenant, Principal: p}, noon).Explain(req)
			w, also := want.View(policy.StrictTenantContext{Tenant: tenant, Principal: p}, noon).Explain(req)
			if fmt.Sprint(a, heard) != fmt.Sprint(w, also) {
				t.Fatalf("%s at %s: %+v %v, and of what is read %+v %v", p, path, a, heard, w, also)
			}
		}
	}
}

// Grants that were given one after the other, with no decision between them, made each look at all that came since the last decision.
func TestWhoGivesLeavesWhatIsKnown(t *testing.T) {
	exam(t, func(b *bench) {
		if _, err := b.current(b.t.Context(), "home"); err != nil {
			b.t.Fatal(err)
		}
		for i := range 3 {
			out, err := change(b, "home", b.Add, GrantIn{Principal: "agent:builder", Resource: fmt.Sprint("folder:/", i),
				Permissions: []string{"read"}})
			if err != nil {
				b.t.Fatal(err)
			}
			if k := b.known["home"]; k.Version() != out.Version || k.stale {
				b.t.Errorf("version %d was given, and %d is known (stale: %v)", out.Version, k.Version(), k.stale)
			}
			if _, err = change(b, "home", b.Revoke, GrantIDIn{ID: out.ID}); err != nil {
				b.t.Fatal(err)
			}
			if k := b.known["home"]; k.Version() != out.Version+1 || k.find(out.ID) != nil {
				b.t.Errorf("it was taken back, and version %d is known", k.Version())
			}
		}
	})
}
