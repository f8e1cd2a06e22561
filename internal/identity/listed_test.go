package identity

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// TestPeopleAreReadInPages has a house of many people, each with a terminal and a machine that answers for them, and reads them to the end.
func TestPeopleAreReadInPages(t *testing.T) {
	const many, limit = 1200, 250
	eachDatabase(t, func(t *testing.T, h *house) {
		err := h.db.Write(t.Context(), func(tx *db.Tx) error {
			for i := range many {
				person, terminal := fmt.Sprintf("act_p%05d", i), fmt.Sprintf("act_t%05d", i)
				name := fmt.Sprintf("p%05d", i)
				for _, row := range [][]any{{LocalTenant, person, op.Person, name, ""}, {LocalTenant, terminal, op.Local, name + "-desk", person}} {
					if _, err := tx.Exec("INSERT INTO actor ("+actorColumns+") VALUES (?, ?, ?, ?, ?, 1, 0)", row...); err != nil {
						return err
					}
				}
				if _, err := tx.Exec("INSERT INTO device (tenant, id, actor, terminal, name, public_key, created_at, revoked_at, used_at, wrong, "+
					"wait_until) VALUES (?, ?, ?, ?, 'desk', ?, 1, 0, 0, 0, 0)", LocalTenant, fmt.Sprintf("dev_%05d", i), person, terminal,
					[]byte("key")); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		ctx := op.WithMay(owner(""), func(string, op.Resource) bool { asked++; return true })
		var names, machines []string
		for in, more := (PeopleIn{Limit: limit}), true; more; {
			before := asked
			out, err := h.people(ctx, in)
			if err != nil || len(out.People) > limit || asked-before > limit+1 {
				t.Fatalf("%d people, and %d were looked at: %v", len(out.People), asked-before, err)
			}
			for _, p := range out.People {
				names, in.After = append(names, p.Name), p.Name
				if p.Name != Owner && (p.Devices != 1 || len(p.Terminals) != 1) {
					t.Fatalf("%+v", p)
				}
			}
			more = out.More
		}
		if len(names) != many+1 || !slices.IsSorted(names) {
			t.Errorf("%d people", len(names))
		}
		for in, more := (DevicesIn{Limit: limit}), true; more; {
			out, err := h.devices(ctx, in)
			if err != nil || len(out.Devices) > limit {
				t.Fatal(len(out.Devices), err)
			}
			for _, d := range out.Devices {
				machines, in.After = append(machines, d.ID), d.ID
			}
			more = out.More
		}
		if len(machines) != many {
			t.Errorf("%d machines", len(machines))
		}
		like, err := h.people(ctx, PeopleIn{Like: "P0119"})
		if err != nil || len(like.People) != 10 || like.More {
			t.Errorf("by a part of the name: %d, %v", len(like.People), err)
		}
		h.likes(t, ctx)
		one, err := h.person(ctx, NameIn{Name: "p00007"})
		if err != nil || one.Devices != 1 || len(one.Machines) != 1 || one.Machines[0].ID != "dev_00007" {
			t.Errorf("%+v, %v", one, err)
		}
	})
}

// Actors, tokens, invitations and tenants are read in pages, too: each is met once, in order, and no page has more than was asked for.
func TestEveryListOfIdentityHasPages(t *testing.T) {
	const many, limit = 23, 5
	eachDatabase(t, func(t *testing.T, h *house) {
		ctx := op.WithMay(owner(""), func(string, op.Resource) bool { return true })
		err := h.db.Write(t.Context(), func(tx *db.Tx) error {
			for i := range many {
				name := fmt.Sprintf("q%05d", i)
				for _, row := range []struct {
					sql  string
					args []any
				}{
					{"INSERT INTO actor (" + actorColumns + ") VALUES (?, ?, ?, ?, ?, 1, 0)",
						[]any{LocalTenant, "act_" + name, op.Agent, name, WellKnown(Owner)}},
					{`INSERT INTO token (tenant, id, actor, hash, label, decides, created_at, created_by, expires_at, revoked_at, used_at)
						VALUES (?, ?, ?, ?, '', 0, 1, '', 0, 0, 0)`, []any{LocalTenant, "tok_" + name, "act_" + name, []byte("t" + name)}},
					{"INSERT INTO invite (" + inviteColumns + ") VALUES (?, ?, '', ?, 1, 0, 1, 2, 0, '')",
						[]any{LocalTenant, "inv_" + name, []byte("i" + name)}},
					{"INSERT INTO tenant (id, name, created_at, state, reason, created_by, changed_at) VALUES (?, ?, 1, 'active', '', '', 0)",
						[]any{"ten_" + name, name}},
				} {
					if _, err := tx.Exec(row.sql, row.args...); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []struct {
			what string
			page func(after string) (ids []string, more bool, err error)
			last string
		}{
			{"actors", func(after string) (ids []string, more bool, err error) {
				out, err := h.actors(ctx, ActorsIn{After: after, Limit: limit})
				for _, a := range out.Actors {
					ids = append(ids, a.Name)
					if a.Name[0] == 'q' && a.ForName != Owner {
						t.Errorf("%s acts for %q", a.Name, a.ForName)
					}
				}
				return ids, out.More, err
			}, "q00022"},
			{"tokens", func(after string) (ids []string, more bool, err error) {
				out, err := h.tokens(ctx, TokensIn{After: after, Limit: limit})
				for _, v := range out.Tokens {
					ids = append(ids, v.ID)
				}
				return ids, out.More, err
			}, "tok_q00022"},
			{"invitations", func(after string) (ids []string, more bool, err error) {
				out, err := h.invites(ctx, PageIn{After: after, Limit: limit})
				for _, v := range out.Invites {
					ids = append(ids, v.ID)
				}
				return ids, out.More, err
			}, "inv_q00000"},
			{"tenants", func(after string) (ids []string, more bool, err error) {
				out, err := h.tenants(ctx, PageIn{After: after, Limit: limit})
				for _, v := range out.Tenants {
					ids = append(ids, v.ID)
				}
				return ids, out.More, err
			}, "ten_q00022"},
		} {
			var met []string
			for after, more := "", true; more; {
				ids, behind, err := l.page(after)
				if err != nil || len(ids) > limit || behind && len(ids) != limit || len(met) > 2*many+10 {
					t.Fatalf("%s: a page of %d, more %v: %v", l.what, len(ids), behind, err)
				}
				if met, more = append(met, ids...), behind; more {
					after = ids[len(ids)-1]
				}
			}
			sorted := slices.Clone(met)
			slices.Sort(sorted)
			if len(slices.Compact(sorted)) != len(met) || len(met) < many || !slices.Contains(met, l.last) {
				t.Errorf("%s: %v", l.what, met)
			}
		}
		if out, err := h.actors(ctx, ActorsIn{ID: "q00003"}); err != nil || len(out.Actors) != 1 {
			t.Errorf("one by name: %+v, %v", out, err)
		}
		if out, err := h.tokens(ctx, TokensIn{Actor: "q00003"}); err != nil || len(out.Tokens) != 1 || out.Tokens[0].ID != "tok_q00003" {
			t.Errorf("the tokens of one: %+v, %v", out, err)
		}
	})
}

// likes are parts of names in which letters of several alphabets, and what a database takes for a pattern, mean themselves.
func (h *house) likes(t *testing.T, ctx context.Context) {
	t.Helper()
	for i, name := range []string{"Zoë_Ångström", "x_y", "xzy", "ΑΒΓ"} {
		if err := h.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec("INSERT INTO actor ("+actorColumns+") VALUES (?, ?, ?, ?, '', 1, 0)", LocalTenant, fmt.Sprint("act_l", i), op.Person,
				name)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for part, want := range map[string]string{"x_y": "x_y", "ZO": "Zoë_Ångström", "ångs": "Zoë_Ångström", "αβ": "ΑΒΓ", "%": "", `\`: ""} {
		out, err := h.people(ctx, PeopleIn{Like: part})
		got := ""
		for _, p := range out.People {
			got += p.Name
		}
		if err != nil || got != want {
			t.Errorf("%q in %q, not %q: %v", part, got, want, err)
		}
	}
}

// The browsers that are signed in are read in pages, the newest first, of one or of all; whose tokens one may not see, theirs are not
// shown.
func TestBrowsersAreReadInPages(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		const many = 23
		err := h.db.Write(t.Context(), func(tx *db.Tx) error {
			for i := range many {
				who := WellKnown(Owner)
				if i%2 == 1 {
					who = "act_anna"
				}
				if _, err := tx.Exec("INSERT INTO signin (hash, tenant, actor, kind, created_at, expires_at, browser, public_key) VALUES "+
					"(?, ?, ?, ?, ?, ?, 'b', '')", hashOf(fmt.Sprint("c", i)), LocalTenant, who, kindCookie, int64(1+i/5),
					tx.Now().Add(time.Hour)); err != nil {
					return err
				}
			}
			_, err := tx.Exec("INSERT INTO actor ("+actorColumns+") VALUES (?, 'act_anna', ?, 'anna', '', 1, 0)", LocalTenant, op.Person)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			person string
			sees   func(op.Resource) bool
			want   int
		}{
			{"", func(op.Resource) bool { return true }, many},
			{"anna", func(op.Resource) bool { return true }, many / 2},
			{"", func(r op.Resource) bool { return r == tokenAt("anna") }, many / 2},
			{"", func(op.Resource) bool { return false }, 0},
		} {
			ctx := op.WithMay(owner(""), func(_ string, r op.Resource) bool { return c.sees(r) })
			met := map[string]bool{}
			last := time.Time{}
			for in, more := (BrowsersIn{Person: c.person, Limit: 4}), true; more; {
				out, err := h.browsers(ctx, in)
				if err != nil || len(out.Browsers) > 4 {
					t.Fatal(len(out.Browsers), err)
				}
				for _, b := range out.Browsers {
					if met[b.ID] || !last.IsZero() && b.SignedIn.After(last) {
						t.Fatalf("%s is met twice or too late", b.ID)
					}
					met[b.ID], last, in.After = true, b.SignedIn, b.ID
				}
				more = out.More
			}
			if len(met) != c.want {
				t.Errorf("of %q: %d browsers, not %d", c.person, len(met), c.want)
			}
		}
		if _, err := h.browsers(owner(""), BrowsersIn{After: "signin_zz"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("behind nothing: %v", err)
		}
	})
}
