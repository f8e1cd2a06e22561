package book

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/policy"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this package.
var Migrations = db.Migrations{Room: "policy", FS: schema}

// Grant is a grant as it is kept: with who gave it and, once it is over, who took it back. The house's own grants have neither.
type Grant struct {
	policy.ScopedGrant
	AddedBy   string
	AddedAt   *time.Time
	RevokedBy string
	RevokedAt *time.Time
}

// Version is one change of a tenant's policy.
type Version struct {
	Version int64     `json:"version"`
	Change  string    `json:"change" jsonschema:"edit, label, group, away, grant or revoke"`
	Subject string    `json:"subject,omitempty" jsonschema:"the grant that was added or revoked, or what was labelled"`
	Note    string    `json:"note,omitempty"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

func head(tx *db.Tx, tenant string) (v int64, err error) {
	err = tx.QueryRow("SELECT version FROM policy_head WHERE tenant = ?", tenant).Scan(&v)
	if db.NoRows(err) {
		return 0, nil
	}
	return v, err
}

// next makes the next version. The head row is the tenant's lock: changes of one policy follow one another.
func next(tx *db.Tx, tenant, change, subject, note, by string) (v int64, err error) {
	err = tx.QueryRow(`INSERT INTO policy_head (tenant, version) VALUES (?, 1)
		ON CONFLICT (tenant) DO UPDATE SET version = policy_head.version + 1 RETURNING version`, tenant).Scan(&v)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec("INSERT INTO policy_version (tenant, version, change, subject, note, made_by, made_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		tenant, v, change, subject, note, by, tx.Now())
	return v, err
}

// data is what a policy says beside its rules: which data lies where, which may pass, and who is in which group.
type data struct {
	policy.DataBoundary
	Labels []policy.Label `json:"labels,omitempty"`
	Groups []policy.Group `json:"groups,omitempty"`
	Away   []away         `json:"away,omitempty"`
}

// rulesAt reads the rules that are in force at a version.
func rulesAt(tx *db.Tx, tenant string, version int64) (rules string, d data, err error) {
	var text string
	err = tx.QueryRow("SELECT rules, boundary FROM policy_rules WHERE tenant = ? AND version <= ? ORDER BY version DESC LIMIT 1", tenant,
		version).Scan(&rules, &text)
	if db.NoRows(err) {
		return "", d, nil
	}
	if err != nil {
		return "", d, err
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return "", d, fmt.Errorf("read the data boundary of version %d: %w", version, err)
	}
	return rules, d, nil
}

// putRules writes the rules of a new version.
func putRules(ctx context.Context, tx *db.Tx, tenant string, version int64, rules string, d data) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	op.Row(ctx, sealRules(tenant, rules, string(text)))
	_, err = tx.Exec("INSERT INTO policy_rules (tenant, version, rules, boundary) VALUES (?, ?, ?, ?)", tenant, version, rules, string(text))
	return err
}

const selectGrant = `SELECT id, body, added_version, added_by, added_at, revoked_version, revoked_by, revoked_at FROM policy_grant
	WHERE tenant = ?`

// storedGrants reads the rows of grants up to a version.
func storedGrants(tx *db.Tx, tenant string, version int64) ([]storedGrant, error) {
	return scanGrants(tx.Query(selectGrant+" AND added_version <= ? ORDER BY added_version, id", tenant, version))
}

// rowOfGrant reads the row of one grant, where there is one.
func rowOfGrant(tx *db.Tx, tenant, id string) (s storedGrant, there bool, err error) {
	all, err := scanGrants(tx.Query(selectGrant+" AND id = ?", tenant, id))
	if len(all) > 0 {
		s, there = all[0], true
	}
	return s, there, err
}

func scanGrants(rows *sql.Rows, err error) ([]storedGrant, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (s storedGrant, err error) {
		return s, rows.Scan(&s.id, &s.body, &s.addedVersion, &s.addedBy, &s.addedAt, &s.revokedVersion, &s.revokedBy, &s.revokedAt)
	})
}

// grantsAt reads the grants in force at a version, the house's own first. Those that were taken back by then follow in revoked.
func grantsAt(tx *db.Tx, tenant string, version int64) (live, revoked []Grant, err error) {
	stored, err := storedGrants(tx, tenant, version)
	if err != nil {
		return nil, nil, err
	}
	lifted := map[string]bool{}
	for i, s := range stored {
		stored[i].over = s.revokedVersion != 0 && s.revokedVersion <= version
		lifted[s.id] = stored[i].over
	}
	return assemble(stored, lifted)
}

// assemble puts the house's own grants and those that were given together; lifted are the house's own that were taken back.
func assemble(stored []storedGrant, lifted map[string]bool) (live, revoked []Grant, err error) {
	var given []Grant
	for _, s := range stored {
		g, err := s.read()
		switch {
		case err != nil:
			return nil, nil, err
		case g == nil:
		case s.over:
			revoked = append(revoked, *g)
		case g.AddedAt != nil:
			given = append(given, *g)
		}
	}
	for _, g := range policy.DefaultGrants() {
		if !lifted[g.ID] {
			live = append(live, Grant{ScopedGrant: g})
		}
	}
	return append(live, given...), revoked, nil
}

// ofTheHouse are the house's own grants by their ids.
var ofTheHouse = sync.OnceValue(func() map[string]policy.ScopedGrant {
	all := map[string]policy.ScopedGrant{}
	for _, g := range policy.DefaultGrants() {
		all[g.ID] = g
	}
	return all
})

// read is the grant of a row; nil for one of the house's own that this program no longer has, or one whose row was lost before it was
// taken back.
func (s *storedGrant) read() (*Grant, error) {
	g := Grant{AddedBy: s.addedBy, AddedAt: whenever(s.addedAt)}
	if own, ok := ofTheHouse()[s.id]; ok {
		g.ScopedGrant, g.AddedBy, g.AddedAt = own, "", nil
	} else if strings.HasPrefix(s.id, "default-") || s.body == "" {
		return nil, nil
	} else if err := json.Unmarshal([]byte(s.body), &g.ScopedGrant); err != nil {
		return nil, fmt.Errorf("read the grant %s: %w", s.id, err)
	} else if g.Source == policy.Default || g.Source == policy.Fallback {
		return nil, nil // only the house's own are that
	}
	if s.over {
		g.RevokedBy, g.RevokedAt = s.revokedBy, whenever(s.revokedAt)
	}
	return &g, nil
}

type storedGrant struct {
	id, body, addedBy, revokedBy                     string
	addedVersion, addedAt, revokedVersion, revokedAt int64
	over                                             bool // it was taken back
}

func whenever(micros int64) *time.Time {
	if micros == 0 {
		return nil
	}
	t := db.Time(micros)
	return &t
}
