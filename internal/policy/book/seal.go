package book

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/policy"
)

const takenBack = "taken back"

// sealGrant is a grant as the journal vouches for it. One that narrows is a denial: without its row more would be allowed than a
// person said.
func sealGrant(tenant, id, body string, g *policy.ScopedGrant) op.Sealed {
	s := op.Sealed{Tenant: tenant, Subject: "grant:" + id, Says: []string{id, body},
		What: "the grant " + id + " (" + g.Effect.String() + " " + g.Principal.String() + " " + g.Scope.Root.String() + ")"}
	if g.Effect != policy.Allow {
		s.Subject = "denial:" + id
	}
	return s
}

func sealRevoked(tenant, id string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: "grant:" + id, Says: []string{id, takenBack}, What: "the grant " + id + ", taken back"}
}

func sealRules(tenant, rules, boundary string) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: "rules:policy", Says: []string{rules, boundary}, What: "the rules of the policy"}
}

// sealed is what a row of a grant says by itself, before anybody asks the journal.
func (s *storedGrant) sealed(tenant string) op.Sealed {
	if s.revokedVersion != 0 || s.body == "" {
		return sealRevoked(tenant, s.id)
	}
	return s.live(tenant)
}

func (s *storedGrant) live(tenant string) op.Sealed {
	var g policy.ScopedGrant
	_ = json.Unmarshal([]byte(s.body), &g) // one that cannot be read is vouched for by nobody
	return sealGrant(tenant, s.id, s.body, &g)
}

// writtenNow is what stands beside the grants, in its newest form. lost says that the journal vouches for one that is nowhere.
func (b *Book) writtenNow(ctx context.Context, tx *db.Tx, tenant string) (src policy.Source, d data, lost bool, err error) {
	rules, d, lost, err := b.rulesNow(ctx, tx, tenant)
	return policy.Source{Tenant: tenant, Rules: rules, Boundary: d.DataBoundary, Labels: d.Labels, Groups: d.Groups}, d, lost, err
}

// keeps are the rules about what the house keeps from a tenant.
func (b *Book) keeps(tenant string) string {
	if b.Keeps == nil {
		return ""
	}
	return b.Keeps(tenant)
}

// shows are the ways in which a person at a terminal sees what is wrong and what to type, or gets to the panel, before proving to be there.
const shows = `["audit.adopted", "audit.verify", "server.status", "server.findings", "signin.link"]`

// load reads the newest policy whole: the rows, as far as the journal vouches for them, and what holds beside them. Where a denial or the
// rules that the journal vouches for are gone, nobody knows what they forbade, and only people may act until one of them mends it.
func (b *Book) load(ctx context.Context, tx *db.Tx, tenant string, version int64, now vouched) (k known, err error) {
	src, d, lost, err := b.writtenNow(ctx, tx, tenant)
	if err != nil {
		return k, err
	}
	live, revoked, err := b.grantsNow(ctx, tx, tenant)
	if err != nil {
		return k, err
	}
	all := append(live, revoked...)
	k = known{written: src, away: d.Away, vouched: now, listing: listing{old: byID(all)}}
	src.Version, src.Rules = version, src.Rules+b.keeps(tenant)
	for i := range live {
		src.Grants = append(src.Grants, live[i].ScopedGrant)
	}
	if why := b.lockdown(ctx, tenant, all, lost); why != "" {
		k.locked = true
		src.Rules += "\n@id(\"rows-missing\") @reason(\"" + why + "\") forbid (principal, action, resource) unless { principal is Person || " +
			"principal is Local && (action == Action::\"view\" || " + shows + ".contains(context.op)) };\n"
	}
	k.rules = src.Rules
	k.Compiled, err = policy.Compile(src)
	return k, err
}

// lockdown says why only people may act, or "".
func (b *Book) lockdown(ctx context.Context, tenant string, all []Grant, lost bool) string {
	if !b.Vouch.Asks() {
		return ""
	}
	there := map[string]bool{}
	for _, g := range all {
		there["denial:"+g.ID] = true
	}
	for _, subject := range b.Vouch.Stand(tenant, "denial") {
		if id := strings.TrimPrefix(subject, "denial:"); !there[subject] && !b.Vouch.Holds(ctx, sealRevoked(tenant, id)) {
			return "the denial " + id + " is gone from the database, and only people may act until one adds it again and takes the lost one " +
				"back: tandem grant revoke " + id
		}
	}
	switch {
	case lost:
		return "the rules of the policy are gone from the database or were changed there, and only people may act until one writes them " +
			"again: tandem policy edit"
	case !b.Vouch.Whole():
		return "entries about authority are missing from the database, and only people may act until one has looked: tandem audit confirm"
	}
	return ""
}

// gone reports whether the journal vouches for a grant whose row is not there, or is not what it was.
func (b *Book) gone(ctx context.Context, tenant, id string) bool {
	if !b.Vouch.Asks() || b.Vouch.Holds(ctx, sealRevoked(tenant, id)) {
		return false
	}
	return b.Vouch.Knows(tenant, "denial:"+id) || b.Vouch.Knows(tenant, "grant:"+id)
}

// rulesNow are the rules that the journal vouches for, wherever among the versions they stand. lost says that it vouches for some and
// that they are nowhere.
func (b *Book) rulesNow(ctx context.Context, tx *db.Tx, tenant string) (rules string, d data, lost bool, err error) {
	if !b.Vouch.Asks() {
		rules, d, err = rulesAt(tx, tenant, math.MaxInt64)
		return rules, d, false, err
	}
	rows, err := tx.Query("SELECT rules, boundary FROM policy_rules WHERE tenant = ? ORDER BY version DESC", tenant)
	if err != nil {
		return "", d, false, err
	}
	defer rows.Close()
	for rows.Next() { // the first of them holds, unless somebody wrote others behind it
		var text string
		if err := rows.Scan(&rules, &text); err != nil {
			return "", d, false, err
		}
		if b.Vouch.Holds(ctx, sealRules(tenant, rules, text)) {
			return rules, d, false, json.Unmarshal([]byte(text), &d)
		}
	}
	if err := rows.Err(); err != nil {
		return "", d, false, err
	}
	if lost = b.Vouch.Knows(tenant, "rules:policy"); lost {
		d.Groups = b.vouchedOwners(ctx, tenant)
	}
	return "", d, lost, nil
}

// grantsNow are the grants in force. The journal decides which were taken back, and a row that it does not vouch for is nobody's.
func (b *Book) grantsNow(ctx context.Context, tx *db.Tx, tenant string) (live, revoked []Grant, err error) {
	if !b.Vouch.Asks() {
		return grantsAt(tx, tenant, math.MaxInt64)
	}
	stored, err := storedGrants(tx, tenant, math.MaxInt64)
	if err != nil {
		return nil, nil, err
	}
	var counted []storedGrant
	for _, s := range stored {
		s.over = b.Vouch.Holds(ctx, sealRevoked(tenant, s.id))
		if s.over || b.Vouch.Holds(ctx, s.live(tenant)) {
			counted = append(counted, s)
		}
	}
	lifted := map[string]bool{}
	for _, g := range policy.DefaultGrants() {
		lifted[g.ID] = b.Vouch.Holds(ctx, sealRevoked(tenant, g.ID))
	}
	return assemble(counted, lifted)
}

// Rows lists what a policy is made of, or says that it was taken back.
func (b *Book) Rows(ctx context.Context) (out []op.Sealed, err error) { return RowsIn(ctx, b.db) }

// RowsIn are those of a database.
func RowsIn(ctx context.Context, d *db.DB) (out []op.Sealed, err error) {
	rows, err := d.Query(ctx, "SELECT tenant, id, body, revoked_version FROM policy_grant")
	out, err = db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant string
		var s storedGrant
		err := rows.Scan(&tenant, &s.id, &s.body, &s.revokedVersion)
		return s.sealed(tenant), err
	})
	if err != nil {
		return nil, err
	}
	rows, err = d.Query(ctx, `SELECT tenant, rules, boundary FROM policy_rules r
		WHERE version = (SELECT max(version) FROM policy_rules m WHERE m.tenant = r.tenant)`)
	rules, err := db.Collect(rows, err, func(rows *sql.Rows) ([]op.Sealed, error) {
		var tenant, text, boundary string
		err := rows.Scan(&tenant, &text, &boundary)
		all := []op.Sealed{sealRules(tenant, text, boundary)}
		var d data
		_ = json.Unmarshal([]byte(boundary), &d) // one that cannot be read is vouched for by nobody
		for _, name := range writtenOwners(d.Groups) {
			all = append(all, sealOwner(tenant, name))
		}
		return all, err
	})
	return append(out, slices.Concat(rules...)...), err
}
