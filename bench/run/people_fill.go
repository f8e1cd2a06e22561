package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy"
)

func personName(i int) string { return fmt.Sprintf("person%05d", i) }

func grantName(i int) string { return fmt.Sprintf("grt_%09d", i) }

// fill writes the rows as years of work leave them. The house has nine tenths of everything, the other tenants share the rest.
func (f *folk) fill(h size) error {
	for t := range h.tenants {
		tenant, share := identity.LocalTenant, 10
		if t > 0 {
			tenant, share = fmt.Sprintf("ten_%09d", t), 10*(h.tenants-1)
		}
		part := func(n int) int {
			if t == 0 && h.tenants > 1 {
				return n - n/share
			}
			if t == 0 {
				return n
			}
			return n / share
		}
		if err := f.db.Write(context.Background(), func(tx *db.Tx) error {
			if t > 0 {
				if _, err := tx.Exec("INSERT INTO tenant (id, name, created_at, state) VALUES (?, ?, 1, 'active')", tenant,
					fmt.Sprintf("tenant%02d", t)); err != nil {
					return err
				}
			}
			if err := fillPeople(tx, tenant, part(h.people)); err != nil {
				return err
			}
			return fillPolicy(tx, tenant, part(h.groups), part(h.grants), max(part(h.people), 1))
		}); err != nil {
			return err
		}
	}
	return nil
}

// fillPeople writes people, each with a terminal and a machine that answers for them.
func fillPeople(tx *db.Tx, tenant string, n int) error {
	for i := range n {
		person, terminal := fmt.Sprintf("act_%s_p%d", tenant, i), fmt.Sprintf("act_%s_t%d", tenant, i)
		if _, err := tx.Exec("INSERT INTO actor (tenant, id, kind, name, acts_for, created_at, disabled_at) VALUES (?, ?, ?, ?, '', 1, 0), "+
			"(?, ?, ?, ?, ?, 1, 0)", tenant, person, op.Person, personName(i), tenant, terminal, op.Local, personName(i)+"-desk",
			person); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO device (tenant, id, actor, terminal, name, public_key, created_at, revoked_at, used_at, wrong, "+
			"wait_until) VALUES (?, ?, ?, ?, 'desk', ?, 1, 0, 0, 0, 0)", tenant, fmt.Sprintf("dev_%06d", i), person, terminal,
			[]byte("key")); err != nil {
			return err
		}
		for _, row := range [][]any{
			{"INSERT INTO token (tenant, id, actor, hash, label, decides, created_at, created_by, expires_at, revoked_at, used_at) VALUES " +
				"(?, ?, ?, ?, 'desk', 0, 1, 'owner', 0, 0, 1)", tenant, fmt.Sprintf("tok_%06d", i), terminal, []byte("t" + person)},
			{"INSERT INTO invite (tenant, id, hash, uses, used, created_at, created_by, expires_at, revoked_at, person) VALUES " +
				"(?, ?, ?, 1, 1, 1, 'owner', 2, 0, ?)", tenant, fmt.Sprintf("inv_%06d", i), []byte("i" + person), personName(i)},
			{"INSERT INTO invite_use (tenant, invite, actor, source, used_at) VALUES (?, ?, ?, '192.0.2.1', 1)", tenant,
				fmt.Sprintf("inv_%06d", i), personName(i) + "-desk"},
			{"INSERT INTO signin (hash, tenant, actor, kind, created_at, expires_at, browser, public_key) VALUES (?, ?, ?, 'cookie', ?, ?, 'b', '')",
				[]byte("s" + person), tenant, person, i, tx.Now().Add(time.Hour)},
		} {
			if _, err := tx.Exec(row[0].(string), row[1:]...); err != nil {
				return err
			}
		}
	}
	return nil
}

// fillPolicy writes groups of ten, and grants: every tenth is a group's, the others are people's.
func fillPolicy(tx *db.Tx, tenant string, groups, grants, people int) error {
	said := map[string][]policy.Group{}
	for g := range groups {
		group := policy.Group{Name: fmt.Sprintf("group%04d", g)}
		for m := range min(10, people) {
			group.Members = append(group.Members, policy.PrincipalRef{Kind: policy.Person, ID: personName((g*10 + m) % people)})
		}
		said["groups"] = append(said["groups"], group)
	}
	text, err := json.Marshal(said)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO policy_head (tenant, version) VALUES (?, 1)", tenant); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO policy_rules (tenant, version, rules, boundary) VALUES (?, 1, '', ?)", tenant,
		string(text)); err != nil {
		return err
	}
	for i := range grants {
		g := policy.ScopedGrant{ID: grantName(i), Principal: policy.PrincipalRef{Kind: policy.Person, ID: personName(i % people)},
			Scope:  policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.KindFolder, Path: fmt.Sprintf("/srv/%d", i)}},
			Effect: policy.Allow, Permissions: []policy.AccessPermission{policy.CanRead, policy.CanEdit}, Source: policy.Direct}
		if i%10 == 9 && groups > 0 {
			g.Principal = policy.PrincipalRef{Kind: policy.GroupOf, ID: fmt.Sprintf("group%04d", i/10%groups)}
		}
		if err := writeGrant(tx, tenant, g); err != nil {
			return err
		}
	}
	return nil
}

func writeGrant(tx *db.Tx, tenant string, g policy.ScopedGrant) error {
	body, err := json.Marshal(g)
	if err == nil {
		_, err = tx.Exec("INSERT INTO policy_grant (tenant, id, body, added_version, added_by, added_at, revoked_version, revoked_by, "+
			"revoked_at) VALUES (?, ?, ?, 1, 'owner', ?, 0, '', 0)", tenant, g.ID, string(body), tx.Now())
	}
	return err
}
