package identity

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity/assertion"
	"tandem/internal/op"
)

// A signer is a key whose signed assertions say whom a request is for. Its row confers authority: the journal vouches for it.

// Signer is such a key as it is listed.
type Signer struct {
	ID           string     `json:"id" jsonschema:"the kid that assertions name"`
	PublicKey    string     `json:"public_key" jsonschema:"base64 of its 32 bytes"`
	Purpose      string     `json:"purpose"`
	Organization string     `json:"organization,omitempty" jsonschema:"the org_id for which it speaks; any when left out"`
	Deployment   string     `json:"deployment,omitempty"`
	Audiences    []string   `json:"audiences,omitempty" jsonschema:"for whom it signs; any when left out"`
	NotBefore    *time.Time `json:"not_before,omitempty"`
	NotAfter     *time.Time `json:"not_after,omitempty"`
	Status       string     `json:"status" jsonschema:"active, retired or revoked"`
	From         string     `json:"from" jsonschema:"a person enrolled it, or the settings name it"`
	CreatedAt    *time.Time `json:"created_at,omitempty"`
	UsedAt       *time.Time `json:"used_at,omitempty"`
}

// Where a signer comes from.
const (
	fromPerson   = "person"
	fromSettings = "settings"
)

// SignerIn enrols a key.
type SignerIn struct {
	ID           string     `json:"id" jsonschema:"the kid that assertions name: letters, digits, - _ ."`
	PublicKey    string     `json:"public_key" jsonschema:"an Ed25519 public key: PEM, or base64 of its 32 bytes"`
	Purpose      string     `json:"purpose,omitempty" jsonschema:"what it signs; context_assertion when left out"`
	Organization string     `json:"organization,omitempty" jsonschema:"the org_id for which it speaks; any when left out"`
	Deployment   string     `json:"deployment,omitempty" jsonschema:"the deployment_id for which it speaks; any when left out"`
	Audiences    []string   `json:"audiences,omitempty" jsonschema:"for whom it signs; any when left out"`
	NotBefore    *time.Time `json:"not_before,omitempty" jsonschema:"from when on it counts"`
	NotAfter     *time.Time `json:"not_after,omitempty" jsonschema:"until when it counts"`
}

// SignerRef names a key.
type SignerRef struct {
	ID string `json:"id" jsonschema:"the key's id, the kid of its assertions"`
}

// SignersOut lists keys.
type SignersOut struct {
	Keys []*Signer `json:"keys"`
}

// maxSigners bounds the keys of a tenant, those that were revoked included.
const maxSigners = 1000

func signerAt(id string) op.Resource { return tokenAt("assertion/" + id) }

func (r *Room) signerOps() []op.Op {
	return []op.Op{
		AssertionKeyAdd.State(op.Spec{Right: "token.mint", Present: true, People: true, MCP: "-", Method: "POST", Path: "/assertion/key",
			Status: 201,
			Doc: "Enrol a key whose signed assertions say whom a request is for. It speaks for everybody in this house, never as present.\n" +
				"Assertions are taken in the modes hosted_single_tenant and enterprise_required. Needs a person present."},
			func(in SignerIn) op.Resource { return signerAt(in.ID) }, r.addSigner),
		AssertionKeys.Read(op.Spec{Right: "token.read", Masked: true, MCP: "-", Method: "GET", Path: "/assertion/key",
			Doc: "List the keys that sign assertions, with their last use."},
			func(Nothing) op.Resource { return tokenAt("assertion") }, r.signers),
		AssertionKeyRevoke.State(op.Spec{Right: "token.revoke", Present: true, People: true, MCP: "-", Method: "DELETE",
			Path: "/assertion/key/{id}",
			Doc:  "Revoke a key: no assertion that it signed is taken any more, and streams that stand open by one end. Needs a person present."},
			func(in SignerRef) op.Resource { return signerAt(in.ID) }, r.revokeSigner),
	}
}

// signerRow is a key as its row has it.
type signerRow struct {
	tenant, id, purpose, organization, deployment, audiences string
	public                                                   []byte
	notBefore, notAfter, revoked                             int64
}

const signerColumns = "tenant, id, public_key, purpose, organization, deployment, audiences, not_before, not_after, revoked_at"

func scanSigner(row interface{ Scan(...any) error }) (s signerRow, err error) {
	return s, row.Scan(&s.tenant, &s.id, &s.public, &s.purpose, &s.organization, &s.deployment, &s.audiences, &s.notBefore, &s.notAfter,
		&s.revoked)
}

// Seal is a key: whose word it is, and about whom.
func (s signerRow) Seal() op.Sealed {
	out := op.Sealed{Tenant: s.tenant, Subject: "assertion_key:" + s.id, What: "the key " + s.id + " that signs assertions",
		Says: []string{s.id, hex.EncodeToString(s.public), s.purpose, s.organization, s.deployment, s.audiences,
			strconv.FormatInt(s.notBefore, 10), strconv.FormatInt(s.notAfter, 10)}}
	if s.revoked != 0 {
		out.Says = []string{s.id, takenBack}
		out.What += ", revoked"
	}
	return out
}

func (s signerRow) key() *assertion.Key {
	k := &assertion.Key{ID: s.id, Tenant: s.tenant, Public: s.public, Purpose: s.purpose, Organization: s.organization,
		Deployment: s.deployment, Audiences: strings.Fields(s.audiences), Status: assertion.Active}
	if t := optional(s.notBefore); t != nil {
		k.NotBefore = *t
	}
	if t := optional(s.notAfter); t != nil {
		k.NotAfter = *t
	}
	if s.revoked != 0 {
		k.Status = assertion.Revoked
	}
	return k
}

// signer finds a key by its id: a row decides, then what the journal took back, then the settings. Nil where there is none.
func (r *Room) signer(ctx context.Context, id string) (*assertion.Key, error) {
	s, err := scanSigner(r.db.QueryRow(ctx, "SELECT "+signerColumns+" FROM assertion_key WHERE id = ?", id))
	switch {
	case err == nil && !r.Vouch.Holds(ctx, s.Seal()):
		return nil, assertion.Reject(assertion.KeyForged, "the key %s is not what the journal knows: somebody changed the database", id)
	case err == nil:
		return s.key(), nil
	case !db.NoRows(err):
		return nil, err
	}
	k := r.Takes.Ring[id]
	if k == nil {
		return nil, nil
	}
	if gone := (signerRow{tenant: k.Tenant, id: id, revoked: 1}).Seal(); r.Vouch.Asks() && r.Vouch.Holds(ctx, gone) {
		return nil, assertion.Reject(assertion.KeyRevoked, "the key %s was revoked", id)
	}
	return k, nil
}

func (r *Room) addSigner(ctx context.Context, tx *db.Tx, in SignerIn) (*Signer, error) {
	fail := func(err error) (*Signer, error) {
		return nil, fault.New(fault.Invalid, "assertion.key_add", "%w", err).
			WithNext("see an example: tandem assertion key add --help")
	}
	if err := assertion.CheckID(in.ID); err != nil {
		return fail(err)
	}
	public, err := assertion.ParsePublic(in.PublicKey)
	if err != nil {
		return fail(err)
	}
	if in.Purpose == "" {
		in.Purpose = assertion.ForAssertions
	}
	bad := func(s string) bool { return len(s) > 128 || strings.ContainsAny(s, " \t\r\n\x00") }
	switch {
	case !slices.Contains(assertion.Purposes, in.Purpose):
		return nil, fault.New(fault.Invalid, "assertion.key_add", "there is no purpose %.40q", in.Purpose).
			WithNext("use one of %s", strings.Join(assertion.Purposes, ", "))
	case bad(in.Organization) || bad(in.Deployment) || len(in.Audiences) > 16 || slices.ContainsFunc(in.Audiences, bad):
		return nil, fault.New(fault.Invalid, "assertion.key_add",
			"an organization, a deployment and an audience have at most 128 characters and no spaces, and there are at most 16 audiences")
	case in.NotAfter != nil && (!in.NotAfter.After(tx.Now()) || in.NotBefore != nil && !in.NotAfter.After(*in.NotBefore)):
		return nil, fault.New(fault.Invalid, "assertion.key_add", "the key would never count: it ends before it begins")
	}
	c := op.CallerFrom(ctx)
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM assertion_key WHERE tenant = ?", c.Tenant).Scan(&n); err != nil {
		return nil, err
	}
	if n >= maxSigners {
		return nil, fault.New(fault.Exhausted, "assertion.key_add", "there are %d keys already", n)
	}
	s := signerRow{tenant: c.Tenant, id: in.ID, public: public, purpose: in.Purpose, organization: in.Organization, deployment: in.Deployment,
		audiences: strings.Join(in.Audiences, " "), notBefore: micros(in.NotBefore), notAfter: micros(in.NotAfter)}
	_, err = tx.Exec("INSERT INTO assertion_key ("+signerColumns+", created_at, created_by, used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, "+
		"?, ?, 0)", s.tenant, s.id, s.public, s.purpose, s.organization, s.deployment, s.audiences, s.notBefore, s.notAfter, tx.Now(), c.Actor)
	if db.Exists(err) || r.Takes.Ring[in.ID] != nil {
		return nil, fault.New(fault.Conflict, "assertion.key_add", "there is, or was, a key %s already", in.ID).
			WithNext("give the new one another id; see them: tandem assertion key list")
	}
	if err != nil {
		return nil, err
	}
	op.Row(ctx, s.Seal())
	now := tx.Now()
	out := show(s.key(), fromPerson)
	out.CreatedAt = &now
	return out, nil
}

func micros(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return t.UnixMicro()
}

func (r *Room) signers(ctx context.Context, _ Nothing) (SignersOut, error) {
	out, tenant := SignersOut{Keys: []*Signer{}}, op.CallerFrom(ctx).Tenant
	rows, err := r.db.Query(ctx, "SELECT "+signerColumns+", created_at, used_at FROM assertion_key WHERE tenant = ? ORDER BY created_at, id",
		tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*Signer, error) {
		var s signerRow
		var created, used int64
		err := rows.Scan(&s.tenant, &s.id, &s.public, &s.purpose, &s.organization, &s.deployment, &s.audiences, &s.notBefore, &s.notAfter,
			&s.revoked, &created, &used)
		out := show(s.key(), fromPerson)
		out.CreatedAt, out.UsedAt = optional(created), optional(used)
		return out, err
	})
	if err != nil {
		return out, err
	}
	for id, k := range r.Takes.Ring {
		if !slices.ContainsFunc(all, func(s *Signer) bool { return s.ID == id }) && k.Tenant == tenant {
			all = append(all, show(k, fromSettings))
		}
	}
	slices.SortFunc(all, func(a, b *Signer) int { return strings.Compare(a.ID, b.ID) })
	for _, s := range all {
		if op.May(ctx, "token.read", signerAt(s.ID)) {
			out.Keys = append(out.Keys, s)
		}
	}
	return out, nil
}

func show(k *assertion.Key, from string) *Signer {
	s := &Signer{ID: k.ID, PublicKey: base64.StdEncoding.EncodeToString(k.Public), Purpose: k.Purpose, Organization: k.Organization,
		Deployment: k.Deployment, Audiences: k.Audiences, Status: k.Status, From: from}
	if !k.NotBefore.IsZero() {
		s.NotBefore = &k.NotBefore
	}
	if !k.NotAfter.IsZero() {
		s.NotAfter = &k.NotAfter
	}
	return s
}

// revokeSigner ends a key. One of the settings ends by a row of its own, whatever the settings go on to say.
func (r *Room) revokeSigner(ctx context.Context, tx *db.Tx, in SignerRef) (OK, error) {
	c := op.CallerFrom(ctx)
	s, err := scanSigner(tx.QueryRow("UPDATE assertion_key SET revoked_at = ? WHERE tenant = ? AND id = ? AND revoked_at = 0 RETURNING "+
		signerColumns, tx.Now(), c.Tenant, in.ID))
	if k := r.Takes.Ring[in.ID]; db.NoRows(err) && k != nil && k.Tenant == c.Tenant {
		s = signerRow{tenant: c.Tenant, id: k.ID, public: k.Public, purpose: k.Purpose, organization: k.Organization, revoked: 1}
		_, err = tx.Exec("INSERT INTO assertion_key ("+signerColumns+", created_at, created_by, used_at) VALUES (?, ?, ?, ?, ?, '', '', 0, 0, "+
			"?, ?, ?, 0)", s.tenant, s.id, s.public, s.purpose, s.organization, tx.Now(), tx.Now(), c.Actor)
		if db.Exists(err) {
			err = sql.ErrNoRows
		}
	}
	if db.NoRows(err) {
		return OK{}, fault.New(fault.NotFound, "assertion.key_revoke", "there is no key %.64q that signs assertions", in.ID).
			WithNext("list them: tandem assertion key list")
	}
	if err != nil {
		return OK{}, err
	}
	op.Row(ctx, s.Seal())
	return OK{true}, nil
}
