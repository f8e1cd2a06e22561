package vocabulary

import (
	"time"

	"tandem/internal/policy"
)

// TenantContext is whose request it is.
type TenantContext struct {
	Organization string `json:"org_id"`
	Workspace    string `json:"workspace_id"`
	Actor        string `json:"actor_id,omitempty"`
	Source       string `json:"source" jsonschema:"local_implicit or explicit"`
}

// AuthorityChain is on whose behalf somebody acts.
type AuthorityChain struct {
	InitiatedBy Initiator      `json:"initiated_by"`
	ExecutedAs  Executor       `json:"executed_as"`
	For         []PrincipalRef `json:"tandem_for,omitempty" jsonschema:"for whom the principal acts, nearest first"`
}

// Initiator is with whom it began.
type Initiator struct {
	Actor  string `json:"actor_id,omitempty"`
	Source string `json:"source"`
}

// Executor is as whom it is done.
type Executor struct {
	Kind  string `json:"kind" jsonschema:"request, service_account or unknown"`
	Actor string `json:"actor_id,omitempty"`
}

// Assertion names the credential.
type Assertion struct {
	ID string `json:"assertion_id"`
}

// StrictTenantContext is who calls, for whom, and within which limits.
type StrictTenantContext struct {
	Tenant      TenantContext    `json:"tenant_context"`
	Principal   PrincipalRef     `json:"principal"`
	Chain       AuthorityChain   `json:"authority_chain"`
	Scope       ResourceScope    `json:"resource_scope"`
	Grants      []ScopedGrant    `json:"grants"`
	Boundary    DataBoundary     `json:"data_boundary"`
	Assertion   *Assertion       `json:"assertion,omitempty" jsonschema:"the credential by its id, where there is one"`
	Rights      *[]string        `json:"tandem_rights,omitempty" jsonschema:"all that the credential is good for; every right when left out"`
	Prompters   [][]PrincipalRef `json:"tandem_prompters,omitempty" jsonschema:"on whose words the principal acts: their denials hold, too"`
	ExpiresAtMS *int64           `json:"tandem_expires_at_ms,omitempty"`
}

// Context writes a caller with the grants that speak of them.
func Context(c *policy.StrictTenantContext, grants []policy.ScopedGrant) StrictTenantContext {
	source := "explicit"
	if c.Tenant == "local" {
		source = "local_implicit"
	}
	first, chain := c.Principal, policy.Actors(c.AuthorityChain)
	if n := len(chain); n > 0 {
		first = chain[n-1]
	}
	as := map[policy.PrincipalKind]string{policy.Person: "request", policy.Local: "request", policy.Agent: "service_account",
		policy.Session: "service_account", policy.Service: "service_account"}[c.Principal.Kind]
	out := StrictTenantContext{Tenant: TenantContext{c.Tenant, c.Tenant, c.Principal.ID, source}, Principal: Principal(c.Principal),
		Chain: AuthorityChain{Initiator{first.ID, string(principals[first.Kind])}, Executor{as, c.Principal.ID}, written(chain)},
		Scope: Scopes(c.Tenant, nil), Grants: []ScopedGrant{}, Boundary: c.Boundary}
	if c.Ceiling != nil {
		rights := append([]string{}, c.Ceiling.Rights...)
		out.Rights, out.Scope = &rights, Scopes(c.Tenant, c.Ceiling.Scopes)
	}
	for _, p := range c.Prompters {
		out.Prompters = append(out.Prompters, written(policy.Actors(p)))
	}
	if !c.ExpiresAt.IsZero() {
		ms := c.ExpiresAt.UnixMilli()
		out.ExpiresAtMS = &ms
	}
	for i := range grants {
		out.Grants = append(out.Grants, Grant(c.Tenant, &grants[i]))
	}
	return out
}

func written(list []policy.PrincipalRef) (out []PrincipalRef) {
	for _, p := range list {
		out = append(out, Principal(p))
	}
	return out
}

// Here is the caller as policy takes it, with the grants.
func (c StrictTenantContext) Here() (*policy.StrictTenantContext, []policy.ScopedGrant, error) {
	out := &policy.StrictTenantContext{Tenant: c.Tenant.Organization, Boundary: c.Boundary}
	if c.Tenant.Workspace != c.Tenant.Organization || out.Tenant == "" {
		return nil, nil, malformed("the context names no one tenant: org_id and workspace_id are the same here")
	}
	var err error
	if out.Principal, err = c.Principal.Here(); err != nil {
		return nil, nil, err
	}
	if c.Tenant.Actor != "" && c.Tenant.Actor != c.Principal.ID {
		return nil, nil, malformed("the context names two actors, %.60q and %.60q", c.Tenant.Actor, c.Principal.ID)
	}
	if out.AuthorityChain, err = read(c.Chain.For); err != nil {
		return nil, nil, err
	}
	for _, p := range c.Prompters {
		list, err := read(p)
		if err != nil {
			return nil, nil, err
		}
		out.Prompters = append(out.Prompters, list)
	}
	places, err := c.Scope.Here(out.Tenant)
	if err != nil {
		return nil, nil, err
	}
	if c.Rights != nil || places != nil {
		out.Ceiling = &policy.Ceiling{Rights: []string{"*"}, Scopes: places}
		if c.Rights != nil {
			out.Ceiling.Rights = *c.Rights
		}
	}
	if c.ExpiresAtMS != nil {
		out.ExpiresAt = time.UnixMilli(*c.ExpiresAtMS).UTC()
	}
	var grants []policy.ScopedGrant
	for _, g := range c.Grants {
		h, err := g.Here(out.Tenant)
		if err != nil {
			return nil, nil, err
		}
		grants = append(grants, *h)
	}
	return out, grants, nil
}

func read(list []PrincipalRef) (out []policy.PrincipalRef, err error) {
	for _, p := range list {
		h, err := p.Here()
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}
