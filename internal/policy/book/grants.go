package book

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/policy/vocabulary"
)

// GrantsIn asks for grants.
type GrantsIn struct {
	Principal string `json:"principal,omitempty" jsonschema:"only those that speak of this actor, as kind:name"`
	Revoked   bool   `json:"revoked,omitempty" jsonschema:"also those that were taken back"`
	House     bool   `json:"house,omitempty" jsonschema:"also the house's own"`
	Published bool   `json:"published,omitempty" jsonschema:"write them as ScopedGrants of the published vocabulary, too"`
	After     string `json:"after,omitempty" jsonschema:"only those behind this id: the last of the page before"`
	Limit     int    `json:"limit,omitempty" jsonschema:"at most this many, 500 unless told, 1000 at most"`
}

// GrantsOut is a page of grants, by their ids: the house's own, then those that people gave, the oldest first.
type GrantsOut struct {
	Version int64       `json:"version"`
	Grants  []GrantView `json:"grants"`
	More    bool        `json:"more,omitempty"`

	Published []vocabulary.ScopedGrant `json:"published,omitempty" jsonschema:"the same grants, in the published vocabulary"`
}

// GrantIn gives somebody a right.
type GrantIn struct {
	Principal   string   `json:"principal" jsonschema:"who gets it: kind:name, group:name, kind:* or *"`
	Effect      string   `json:"effect,omitempty" jsonschema:"allow (the default), ask or deny"`
	Resource    string   `json:"resource" jsonschema:"the tree it covers: kind:/path, or *:/ for everything"`
	Permissions []string `json:"permissions" jsonschema:"of view, read, edit, execute, delegate, admin"`
	Classes     []string `json:"data_classes,omitempty" jsonschema:"classes of data it covers; public, internal and source_code when left out, * for all"`
	Tools       []string `json:"tool_patterns,omitempty" jsonschema:"e.g. edit, mcp.github.*, bash(command: git log), read(path: /code/**)"`
	Approvers   []string `json:"approvers,omitempty" jsonschema:"who may answer when the effect is ask: person:name or group:name"`
	MaxDepth    *int     `json:"max_depth,omitempty" jsonschema:"how many components below the resource it reaches; 0 is the resource alone"`
	Only        []string `json:"only,omitempty" jsonschema:"path globs within the tree; only these are covered"`
	Except      []string `json:"except,omitempty" jsonschema:"trees within the tree that are not covered, as kind:/path"`
	TTL         int64    `json:"expires_in_secs,omitempty" jsonschema:"it ends by itself after this long"`
	From        string   `json:"from,omitempty" jsonschema:"pass on this grant of yours; the new one ends with it and never exceeds it"`
	Redelegate  int      `json:"redelegate,omitempty" jsonschema:"how many times in a row it may be passed on"`
	Note        string   `json:"note,omitempty" jsonschema:"why; shown to whoever it stops"`
}

// GrantOut is the grant as it is kept.
type GrantOut struct {
	GrantView
	Version int64 `json:"version"`
}

// GrantIDIn names a grant.
type GrantIDIn struct {
	ID   string `json:"id" jsonschema:"the grant's id, grt_…, or that of one of the house's own"`
	Note string `json:"note,omitempty"`
}

// RevokeOut says what ended.
type RevokeOut struct {
	ID      string   `json:"id"`
	Version int64    `json:"version"`
	Ended   []string `json:"ended,omitempty" jsonschema:"grants that were passed on from it and ended with it"`
}

func atGrant(grantID string) op.Resource { return op.Resource{Kind: "grant", Path: "/" + grantID} }

func (b *Book) grantOps() []op.Op {
	return []op.Op{
		GrantList.Read(op.Spec{Right: "grant.read", Masked: true, Method: "GET", Path: "/grant",
			Doc: "List grants: who may do what to which resources, until when."},
			func(GrantsIn) op.Resource { return atGrant("") }, b.grants),
		GrantAdd.State(op.Spec{Right: "grant.write", Method: "POST", Path: "/grant", Status: 201, Present: true, People: true,
			Doc: "Grant somebody a right, or deny it. Needs a person present."},
			func(GrantIn) op.Resource { return atGrant("") }, b.Add),
		GrantRevoke.State(op.Spec{Right: "grant.revoke", Method: "DELETE", Path: "/grant/{id}", Present: true, People: true,
			Doc: "Take a grant back, and with it every grant that was passed on from it."},
			func(in GrantIDIn) op.Resource { return atGrant(in.ID) }, b.Revoke),
	}
}

// scoped turns the input into a grant of the policy's own vocabulary.
func (in *GrantIn) scoped(by op.Caller, now time.Time) (*policy.ScopedGrant, error) {
	g := &policy.ScopedGrant{ID: id.New("grt"), Source: policy.Direct, Redelegate: in.Redelegate, Note: in.Note,
		ToolPatterns: trimmed(in.Tools)}
	var err error
	if g.Principal, err = policy.ParsePrincipal(in.Principal); err != nil {
		return nil, err
	}
	if in.Effect == "" {
		in.Effect = "allow"
	}
	if err := g.Effect.UnmarshalText([]byte(in.Effect)); err != nil {
		return nil, err
	}
	if g.Scope.Root, err = policy.ParseResource(in.Resource); err != nil {
		return nil, err
	}
	if err := literal(in.Resource); err != nil {
		return nil, err
	}
	g.Scope.Root = real(g.Scope.Root)
	g.Scope.MaxDepth, g.Scope.Only = in.MaxDepth, trimmed(in.Only)
	for _, s := range trimmed(in.Except) {
		r, err := policy.ParseResource(s)
		if err == nil {
			err = literal(s)
		}
		if err != nil {
			return nil, err
		}
		g.Scope.Denied = append(g.Scope.Denied, real(r))
	}
	for _, p := range trimmed(in.Permissions) {
		g.Permissions = append(g.Permissions, policy.AccessPermission(p))
	}
	for _, c := range trimmed(in.Classes) {
		g.DataClasses = append(g.DataClasses, policy.DataClass(c))
	}
	for _, s := range trimmed(in.Approvers) {
		p, err := policy.ParsePrincipal(s)
		if err != nil {
			return nil, err
		}
		g.Approvers = append(g.Approvers, p)
	}
	if in.TTL < 0 || in.TTL > maxTTL {
		return nil, fault.New(fault.Invalid, "grant.add", "expires_in_secs lies between 1 and %d", maxTTL)
	}
	if in.TTL > 0 {
		g.ExpiresAt = now.Add(time.Duration(in.TTL) * time.Second)
	}
	giver := policy.PrincipalRef{Kind: policy.PrincipalKind(by.Kind), ID: by.Name}
	g.SourcePrincipal = &giver
	if in.From != "" {
		g.Source, g.DelegationID = policy.Delegation, in.From
	}
	return g, nil
}

// literal refuses a pattern where a path is read as it stands: a denial that is written so would deny nothing.
func literal(resource string) error {
	kind, path, _ := strings.Cut(resource, ":")
	switch {
	case kind == "tool" && strings.ContainsAny(path, "()"):
		return fault.New(fault.Invalid, "grant.add", "%s could never match: no tool is called so", resource).
			WithNext("name the tool and its arguments with --tool: tandem grant add WHO tool:/ --can execute --tool '%s'",
				strings.TrimPrefix(path, "/"))
	case byTenantsName(policy.ResourceRef{Kind: policy.ResourceKind(kind), Path: path}):
		return fault.New(fault.Invalid, "grant.add", "%s could never match: tenants are meant by their ids", resource).
			WithNext("see the id: tandem tenant list --json")
	case strings.Contains(path, "*"):
		return fault.New(fault.Invalid, "grant.add",
			"%s could never match: a resource is a tree and covers all below it, and its path is read as it stands", resource).
			WithNext("name the tree, and patterns within it with --only")
	}
	return nil
}

// byTenantsName says that something is about a tenant of the house by its name, as it was written before tenants were meant by their ids.
func byTenantsName(r policy.ResourceRef) bool {
	name, in := strings.CutPrefix(r.Path, "/house/")
	return r.Kind == "tenant" && in && name != "" && name != LocalTenant && !strings.HasPrefix(name, "ten_")
}

// LocalTenant is the one tenant whose id is no ten_….
const LocalTenant = "local"

// Astray are the grants of a tenant that are about others of the house by their names: they match nothing any more.
func (b *Book) Astray(ctx context.Context, tx *db.Tx, tenant string) (out []string, err error) {
	k, err := b.within(ctx, tx, tenant)
	for _, g := range k.all() {
		if g.RevokedAt == nil && byTenantsName(g.Scope.Root) {
			out = append(out, fmt.Sprintf("%s (%s for %s on %s)", g.ID, g.Effect, g.Principal, g.Scope.Root))
		}
	}
	return out, err
}

// maxTTL is ten years: longer is meant to be for ever, and that is said by leaving it out.
const maxTTL = 10 * 365 * 24 * 3600

// Add keeps a grant that the caller gives, inside their own change.
func (b *Book) Add(ctx context.Context, tx *db.Tx, in GrantIn) (GrantOut, error) {
	c := op.CallerFrom(ctx)
	g, err := in.scoped(c, tx.Now())
	if err != nil {
		return GrantOut{}, refusal("grant.add", err)
	}
	if err := g.Check(c.Tenant); err != nil {
		return GrantOut{}, refusal("grant.add", err)
	}
	v, err := next(tx, c.Tenant, "grant", g.ID, in.Note, c.Name)
	if err != nil {
		return GrantOut{}, err
	}
	if in.From != "" {
		if err := b.mayPassOn(ctx, tx, c.Tenant, g); err != nil {
			return GrantOut{}, err
		}
	}
	body, err := json.Marshal(g)
	if err != nil {
		return GrantOut{}, err
	}
	if _, err := tx.Exec(`INSERT INTO policy_grant (tenant, id, body, added_version, added_by, added_at,
		revoked_version, revoked_by, revoked_at)
		VALUES (?, ?, ?, ?, ?, ?, 0, '', 0)`, c.Tenant, g.ID, string(body), v, c.Name, tx.Now()); err != nil {
		return GrantOut{}, err
	}
	op.Row(ctx, sealGrant(c.Tenant, g.ID, string(body), g))
	compiled, err := b.check(ctx, tx, c.Tenant, "grant.add")
	if err != nil {
		return GrantOut{}, err
	}
	if lacks := compiled.Lacks(append(slices.Clone(g.Approvers), g.Principal)...); lacks != "" {
		return GrantOut{}, noGroup(lacks)
	}
	now := tx.Now()
	op.Note(ctx, "grant", g.ID)
	op.Note(ctx, "version", v)
	b.came(tx, c.Tenant, compiled)
	kept := Grant{ScopedGrant: *g, AddedBy: c.Name, AddedAt: &now}
	return GrantOut{kept.view(""), v}, nil
}

func (b *Book) mayPassOn(ctx context.Context, tx *db.Tx, tenant string, g *policy.ScopedGrant) error {
	k, err := b.within(ctx, tx, tenant)
	if err != nil {
		return err
	}
	if p := k.find(g.DelegationID); p != nil {
		return refusal("grant.add", policy.CheckDelegation(&p.ScopedGrant, g, tenant, k.written.Groups))
	}
	return fault.New(fault.NotFound, "grant.add", "there is no grant %s to pass on", g.DelegationID).WithNext("list them: tandem grant list")
}

// Whose is the principal of a grant that is in force, "" when there is none.
func (b *Book) Whose(ctx context.Context, tx *db.Tx, grant string) (string, error) {
	k, err := b.within(ctx, tx, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return "", err
	}
	if g := k.find(grant); g != nil {
		return g.Principal.String(), nil
	}
	return "", nil
}

// Revoke takes a grant back, with what was passed on from it.
func (b *Book) Revoke(ctx context.Context, tx *db.Tx, in GrantIDIn) (RevokeOut, error) {
	c := op.CallerFrom(ctx)
	if strings.HasPrefix(in.ID, "default-authority-") {
		return RevokeOut{}, fault.New(fault.Denied, "grant.revoke", "%s keeps deciding and granting with people; it cannot be taken away", in.ID)
	}
	was, err := b.within(ctx, tx, c.Tenant)
	if err != nil {
		return RevokeOut{}, err
	}
	found := was.find(in.ID)
	gone := b.gone(ctx, c.Tenant, in.ID) // the journal knows it, and its row is not there any more
	if found == nil && !gone {
		return RevokeOut{}, fault.New(fault.NotFound, "grant.revoke", "there is no grant %s in force", in.ID).
			WithNext("list them: tandem grant list")
	}
	v, err := next(tx, c.Tenant, "revoke", in.ID, in.Note, c.Name)
	if err != nil {
		return RevokeOut{}, err
	}
	// One of the house's own has no row until it is lifted.
	n, err := tx.Changed(`INSERT INTO policy_grant (tenant, id, body, added_version, added_by, added_at,
		revoked_version, revoked_by, revoked_at)
		VALUES (?, ?, '', 0, '', 0, ?, ?, ?) ON CONFLICT (tenant, id) DO UPDATE
		SET revoked_version = excluded.revoked_version, revoked_by = excluded.revoked_by, revoked_at = excluded.revoked_at
		WHERE policy_grant.revoked_version = 0`, c.Tenant, in.ID, v, c.Name, tx.Now())
	if err != nil {
		return RevokeOut{}, err
	}
	if n != 1 && !b.Vouch.Asks() {
		return RevokeOut{}, fault.New(fault.Conflict, "grant.revoke", "%s was taken back meanwhile", in.ID)
	}
	out := RevokeOut{ID: in.ID, Version: v}
	op.Seal(ctx, "grant:"+in.ID, in.ID, takenBack)
	if b.Vouch.Knows(c.Tenant, "denial:"+in.ID) {
		op.Seal(ctx, "denial:"+in.ID)
	}
	k, err := b.check(ctx, tx, c.Tenant, "grant.revoke")
	if err != nil {
		return RevokeOut{}, err
	}
	for id := range k.Dead() {
		if was.hangsOn(id, in.ID) {
			out.Ended = append(out.Ended, id)
		}
	}
	slices.Sort(out.Ended)
	op.Note(ctx, "version", v)
	op.Note(ctx, "ended", out.Ended)
	b.came(tx, c.Tenant, k)
	return out, nil
}

// hangsOn follows a grant up to what it was passed on from.
func (k *known) hangsOn(id, root string) bool {
	for range len(k.old) + len(k.newer) {
		g := k.find(id)
		if g == nil || g.DelegationID == "" {
			return false
		}
		if id = g.DelegationID; id == root {
			return true
		}
	}
	return false
}
