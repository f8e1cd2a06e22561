package book

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// fill writes a house of many groups and grants as it stands after years: every third grant is a group's, and every tenth was taken back.
func fill(b *bench, groups, grants int) {
	b.t.Helper()
	err := b.db.Write(b.t.Context(), func(tx *db.Tx) error {
		var d data
		for i := range groups {
			g := policy.Group{Name: fmt.Sprintf("g%04d", i)}
			for m := range 5 {
				g.Members = append(g.Members, policy.PrincipalRef{Kind: policy.Person, ID: fmt.Sprintf("p%05d", i*5+m)})
			}
			d.Groups = append(d.Groups, g)
		}
		v, err := next(tx, "home", "group", "", "", "ann")
		if err == nil {
			err = putRules(b.ctx("home"), tx, "home", v, "", d)
		}
		for i := 0; i < grants && err == nil; i++ {
			g := policy.ScopedGrant{ID: fmt.Sprintf("grt_%06d", i),
				Principal: policy.PrincipalRef{Kind: policy.Person, ID: fmt.Sprintf("p%05d", i%1000)},
				Scope:     policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.KindFolder, Path: fmt.Sprintf("/srv/%d", i)}},
				Effect:    policy.Allow, Permissions: []policy.AccessPermission{policy.CanRead}, Source: policy.Direct}
			if i%3 == 0 {
				g.Principal = policy.PrincipalRef{Kind: policy.GroupOf, ID: fmt.Sprintf("g%04d", i%groups)}
			}
			body, _ := json.Marshal(g)
			over := int64(0)
			if i%10 == 9 {
				over = v
			}
			_, err = tx.Exec("INSERT INTO policy_grant (tenant, id, body, added_version, added_by, added_at, revoked_version, revoked_by, "+
				"revoked_at) VALUES ('home', ?, ?, ?, 'ann', ?, ?, '', ?)", g.ID, string(body), v, tx.Now(), over, over)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// pages reads a list to its end, and says how many pages it had.
func pages(t *testing.T, page func(after string) (ids []string, next string, more bool)) (all []string, n int) {
	t.Helper()
	for after := ""; n < 1000; n++ {
		ids, next, more := page(after)
		all = append(all, ids...)
		if !more {
			return all, n + 1
		}
		if next <= after {
			t.Fatalf("the page behind %q ends at %q", after, next)
		}
		after = next
	}
	t.Fatal("the list has no end")
	return nil, 0
}

func TestListsOfAManyAreReadInPages(t *testing.T) {
	const groups, given, limit = 300, 3000, 250
	exam(t, func(b *bench) {
		fill(b, groups, given)
		asked := 0
		ctx := op.WithMay(b.ctx("home"), func(string, op.Resource) bool { asked++; return true })
		grants := func(in GrantsIn) ([]string, int) {
			return pages(t, func(after string) (ids []string, next string, more bool) {
				before := asked
				in.After, in.Limit = after, limit
				out, err := b.grants(ctx, in)
				if err != nil || len(out.Grants) > limit || asked-before > limit+1 {
					t.Fatalf("a page has %d grants, and %d were looked at: %v", len(out.Grants), asked-before, err)
				}
				for _, g := range out.Grants {
					ids = append(ids, g.ID)
				}
				return ids, ids[len(ids)-1], out.More
			})
		}
		live, n := grants(GrantsIn{})
		if len(live) != given*9/10 || !slices.IsSorted(live) || n != 11 {
			t.Errorf("%d grants in %d pages", len(live), n)
		}
		if all, _ := grants(GrantsIn{Revoked: true, House: true}); len(all) != given+len(policy.DefaultGrants()) {
			t.Errorf("%d grants with those that were taken back and the house's own", len(all))
		}
		if of, _ := grants(GrantsIn{Principal: "person:p00001"}); !slices.Contains(of, "grt_000001") || !slices.Contains(of, "grt_000300") ||
			slices.Contains(of, "grt_000002") {
			t.Errorf("of one person, by name and by group: %v", of)
		}
		shown, n := pages(t, func(after string) (names []string, next string, more bool) {
			out, err := b.groups(ctx, GroupsIn{After: after, Limit: 100})
			if err != nil || len(out.Groups) > 100 {
				t.Fatal(len(out.Groups), err)
			}
			for _, g := range out.Groups {
				names = append(names, g.Name)
			}
			return names, names[len(names)-1], out.More
		})
		if len(shown) != groups+1 || n != 4 {
			t.Errorf("%d groups in %d pages", len(shown), n)
		}
	})
}

func TestWhoHasWhatIsReadInPages(t *testing.T) {
	exam(t, func(b *bench) {
		fill(b, 300, 3000)
		ctx := op.WithMay(b.ctx("home"), func(string, op.Resource) bool { return true })
		whole, err := b.access(ctx, AccessIn{Limit: maxAccess})
		if err != nil || whole.More != 0 || whole.Next != "" {
			t.Fatal(whole.More, whole.Next, err)
		}
		left := len(whole.Access)
		var rows []string
		_, n := pages(t, func(after string) (_ []string, next string, more bool) {
			out, err := b.access(ctx, AccessIn{After: after, Limit: 499}) // which ends in the middle of a group
			if left -= len(out.Access); err != nil || out.More != left || len(out.Access) > 499 {
				t.Fatalf("%d rows, and %d more where %d are left: %v", len(out.Access), out.More, left, err)
			}
			for _, a := range out.Access {
				rows = append(rows, a.Grant+" "+a.Principal)
			}
			return nil, out.Next, out.More > 0
		})
		slices.Sort(rows)
		if len(slices.Compact(rows)) != len(whole.Access) || n != (len(whole.Access)+498)/499 {
			t.Errorf("%d rows in %d pages, want %d", len(rows), n, len(whole.Access))
		}
	})
}

func TestAPageHasItsBounds(t *testing.T) {
	exam(t, func(b *bench) {
		ctx := b.ctx("home")
		for name, ask := range map[string]func(context.Context, int) error{
			"grants": func(ctx context.Context, n int) error { _, err := b.grants(ctx, GrantsIn{Limit: n}); return err },
			"groups": func(ctx context.Context, n int) error { _, err := b.groups(ctx, GroupsIn{Limit: n}); return err },
		} {
			for _, n := range []int{-1, mostListed + 1} {
				if err := ask(ctx, n); !fault.Is(err, fault.Invalid) {
					t.Errorf("%d %s: %v", n, name, err)
				}
			}
		}
	})
}
