package identity

import (
	"context"
	"database/sql"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// A tenant has people, agents, tokens, rules, asks, spaces and events of its own, and sees nothing of the others. The first one is the
// house's own: the machine belongs to it, and its owners make, suspend and resume the others.

// TenantState says whether anything of a tenant passes.
type TenantState string

// The states of a tenant.
const (
	TenantActive    TenantState = "active"
	TenantSuspended TenantState = "suspended"
)

// tenantPrefix begins the ids of tenants.
const tenantPrefix = "ten"

// MaxTenants bounds how many there are, and maxReason how much is said about one.
const MaxTenants, maxReason = 1000, 300

// Tenant is one of them.
type Tenant struct {
	ID        string      `json:"id"`
	Name      string      `json:"name"`
	State     TenantState `json:"state" jsonschema:"active, suspended or erasing"`
	Reason    string      `json:"reason,omitempty" jsonschema:"why it is suspended"`
	CreatedAt time.Time   `json:"created_at"`
	CreatedBy string      `json:"created_by,omitempty"`
	ChangedAt *time.Time  `json:"changed_at,omitempty" jsonschema:"when it was last suspended or resumed"`
	Own       bool        `json:"own,omitempty" jsonschema:"it is the house's own, which the machine belongs to"`
	People    int64       `json:"people"`
	Actors    int64       `json:"actors" jsonschema:"people, agents, services and terminals that are not disabled"`

	Limits TenantLimits `json:"limits,omitzero" jsonschema:"what the house lets it use up"`
	Use    *TenantUse   `json:"use,omitempty" jsonschema:"what it used of that; in lists only where there is a limit"`
}

// Seal is a tenant as the journal of the house vouches for it.
func (t *Tenant) Seal() op.Sealed {
	says := []string{t.ID, t.Name, string(t.State), t.Reason}
	if limits := t.Limits.text(); limits != "" {
		says = append(says, limits)
	}
	return op.Sealed{Tenant: LocalTenant, Subject: "tenant:" + t.ID, Says: says,
		What: "the tenant " + t.Name + ", " + string(t.State)}
}

// tenantColumns counts the actors, too.
const tenantColumns = `id, name, state, reason, created_at, created_by, changed_at, limits,
	(SELECT count(*) FROM actor a WHERE a.tenant = tenant.id AND a.kind = 'person' AND a.disabled_at = 0),
	(SELECT count(*) FROM actor a WHERE a.tenant = tenant.id AND a.disabled_at = 0)`

func scanTenant(row interface{ Scan(...any) error }) (*Tenant, error) {
	var t Tenant
	var created, changed int64
	var limits string
	err := row.Scan(&t.ID, &t.Name, &t.State, &t.Reason, &created, &t.CreatedBy, &changed, &limits, &t.People, &t.Actors)
	if err == nil {
		t.Limits, err = parseLimits(limits)
	}
	if err != nil {
		return nil, err
	}
	t.CreatedAt, t.ChangedAt = db.Time(created), optional(changed)
	if t.ID == LocalTenant {
		t.Name, t.Own = LocalTenant, true
	}
	return &t, nil
}

// stands reports whether a tenant is what the journal knows.
func (r *Room) stands(ctx context.Context, t *Tenant) bool {
	return t.Own || r.Vouch.Holds(ctx, t.Seal())
}

// openness is what Open found, as far as the journal had come about tenants.
type openness struct {
	turn int64
	err  error
}

// Open says why nothing of a tenant passes: it is suspended, or it is none that the journal knows. The house's own is always open.
func (r *Room) Open(ctx context.Context, tenant string) error {
	if tenant == LocalTenant {
		return nil
	}
	var turn int64
	if r.keeps() {
		turn = r.Vouch.Turn("tenant")
		r.mu.Lock()
		known, ok := r.open[tenant]
		r.mu.Unlock()
		if ok && known.turn == turn {
			return known.err
		}
	}
	t, err := scanTenant(r.db.QueryRow(ctx, "SELECT "+tenantColumns+" FROM tenant WHERE id = ?", tenant))
	switch {
	case db.NoRows(err) || err == nil && t.State == TenantErased:
		return fault.New(fault.Unauthenticated, "tenant", "there is no such tenant")
	case err != nil:
		return err
	}
	err = r.opened(ctx, t)
	if r.keeps() {
		r.mu.Lock()
		if len(r.open) > MaxTenants {
			clear(r.open)
		}
		r.open[tenant] = openness{turn, err}
		r.mu.Unlock()
	}
	return err
}

func (r *Room) opened(ctx context.Context, t *Tenant) error {
	switch {
	case t.State == TenantSuspended:
		why := "the tenant " + t.Name + " is suspended"
		if t.Reason != "" {
			why += ": " + t.Reason
		}
		return fault.New(fault.Denied, "tenant", "%s", why).With("reason", "tenant suspended").
			WithNext("ask whoever runs this server; they resume it: tandem tenant resume %s", t.Name)
	case t.State == TenantErasing:
		return fault.New(fault.Denied, "tenant", "the tenant %s is being erased", t.Name).With("reason", "tenant erased")
	case !r.stands(ctx, t):
		return forged("tenant", t.Seal().What)
	}
	return nil
}

// Tenants are the ids of those that are open now.
func (r *Room) Tenants(ctx context.Context) ([]string, error) {
	rows, err := r.db.Query(ctx, "SELECT id FROM tenant WHERE state = ? ORDER BY created_at, id", TenantActive)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	var out []string
	for _, id := range all {
		if r.Open(ctx, id) == nil {
			out = append(out, id)
		}
	}
	return out, err
}

// InvitedTo is the tenant that an invitation leads into; the house's own where nobody made it, which then refuses it.
func (r *Room) InvitedTo(ctx context.Context, secret string) (tenant string, err error) {
	err = r.db.QueryRow(ctx, "SELECT tenant FROM invite WHERE hash = ?", hashOf(kindInvite+secret)).Scan(&tenant)
	if db.NoRows(err) {
		return LocalTenant, nil
	}
	return tenant, err
}

// tenantNamed is the tenant that an organization is here: the one of that name, or "" where none is. While the house is the only one, every
// organization is the house.
func (r *Room) tenantNamed(ctx context.Context, name string) (tenant string, err error) {
	if name == LocalTenant {
		return LocalTenant, nil
	}
	err = r.db.QueryRow(ctx, "SELECT id FROM tenant WHERE name = ? AND id <> ?", name, LocalTenant).Scan(&tenant)
	if !db.NoRows(err) {
		return tenant, err
	}
	var others bool
	err = r.db.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM tenant WHERE id <> ?)", LocalTenant).Scan(&others)
	if err != nil || others {
		return "", err
	}
	return LocalTenant, nil
}

// tenantRows are the tenants that the journal vouches for.
func (r *Room) tenantRows(ctx context.Context) (out []op.Sealed, err error) {
	rows, err := r.db.Query(ctx, "SELECT "+tenantColumns+" FROM tenant WHERE id <> ?", LocalTenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*Tenant, error) { return scanTenant(rows) })
	for _, t := range all {
		out = append(out, t.Seals()...)
	}
	return out, err
}
