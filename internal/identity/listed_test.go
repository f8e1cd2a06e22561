package identity

import (
	"fmt"
	"slices"
	"testing"

	"tandem/internal/db"
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
		one, err := h.person(ctx, NameIn{Name: "p00007"})
		if err != nil || one.Devices != 1 || len(one.Machines) != 1 || one.Machines[0].ID != "dev_00007" {
			t.Errorf("%+v, %v", one, err)
		}
	})
}
