package vocabulary

import (
	"time"

	"tandem/internal/policy"
)

// ScopedGrant is one grant. Without data classes it covers public and internal data and source code when it gives, and all when it denies.
type ScopedGrant struct {
	ID              string             `json:"grant_id"`
	Principal       PrincipalRef       `json:"principal"`
	Resource        ResourceRef        `json:"resource"`
	Effect          string             `json:"effect"`
	Permissions     []AccessPermission `json:"permissions"`
	DataClasses     []DataClass        `json:"data_classes"`
	ToolPatterns    []string           `json:"tool_patterns"`
	Source          string             `json:"grant_source"`
	SourcePrincipal *PrincipalRef      `json:"source_principal,omitempty"`
	ExpiresAtMS     *int64             `json:"expires_at_ms,omitempty"`
	DelegationID    string             `json:"delegation_id,omitempty"`
	Within          *Within            `json:"tandem_within,omitempty" jsonschema:"what narrows it; its effect is then allow_within or approval_required_within"`
	Approvers       []PrincipalRef     `json:"tandem_approvers,omitempty" jsonschema:"who may answer where an approval is required"`
	Redelegate      int                `json:"tandem_redelegate,omitempty" jsonschema:"how many times in a row it may be passed on"`
	Note            string             `json:"tandem_note,omitempty"`
}

// Within narrows the tree of a grant.
type Within struct {
	MaxDepth *int          `json:"max_depth,omitempty"`
	Denied   []ResourceRef `json:"denied_resources,omitempty"`
	Only     []string      `json:"only,omitempty" jsonschema:"path globs within the tree"`
	Own      bool          `json:"own,omitempty" jsonschema:"only what belongs to the principal"`
}

// Grant writes a grant of a tenant.
func Grant(tenant string, g *policy.ScopedGrant) ScopedGrant {
	scope := one(tenant, &g.Scope)
	out := ScopedGrant{ID: g.ID, Principal: Principal(g.Principal), Resource: scope.Root, Permissions: g.Permissions,
		DataClasses: g.DataClasses, ToolPatterns: g.ToolPatterns, Source: sources[g.Source], DelegationID: g.DelegationID,
		Redelegate: g.Redelegate, Note: g.Note}
	if w := (Within{scope.MaxDepth, scope.Denied, scope.Only, scope.Own}); !w.none() {
		out.Within = &w
	}
	out.Effect = effectOf(g.Effect, out.Within != nil)
	if len(out.DataClasses) == 0 {
		out.DataClasses = []DataClass{}
		if g.Effect != policy.Deny { // elsewhere, none is all of them
			out.DataClasses = policy.Everyday()
		}
	}
	if out.ToolPatterns == nil {
		out.ToolPatterns = []string{}
	}
	for _, a := range g.Approvers {
		out.Approvers = append(out.Approvers, Principal(a))
	}
	if g.SourcePrincipal != nil {
		by := Principal(*g.SourcePrincipal)
		out.SourcePrincipal = &by
	}
	if !g.ExpiresAt.IsZero() {
		ms := g.ExpiresAt.UnixMilli() // part of a millisecond is cut off: it never lasts longer
		out.ExpiresAtMS = &ms
	}
	return out
}

func (w *Within) none() bool {
	return w == nil || w.MaxDepth == nil && len(w.Denied)+len(w.Only) == 0 && !w.Own
}

// Here is the grant of this house, checked as every grant is.
func (g ScopedGrant) Here(tenant string) (*policy.ScopedGrant, error) {
	out := &policy.ScopedGrant{ID: g.ID, Permissions: g.Permissions, DataClasses: g.DataClasses, ToolPatterns: g.ToolPatterns,
		DelegationID: g.DelegationID, Redelegate: g.Redelegate, Note: g.Note}
	var err error
	if out.Principal, err = g.Principal.Here(); err != nil {
		return nil, err
	}
	scope := OneScope{Root: g.Resource}
	if w := g.Within; w != nil {
		scope = OneScope{g.Resource, w.Denied, w.MaxDepth, w.Only, w.Own}
	}
	if out.Scope, err = scope.here(tenant); err != nil {
		return nil, err
	}
	if out.Effect, err = effectHere(g.Effect, !g.Within.none()); err != nil {
		return nil, err
	}
	if out.Source, err = sourceHere(g.Source); err != nil {
		return nil, err
	}
	for _, a := range g.Approvers {
		p, err := a.Here()
		if err != nil {
			return nil, err
		}
		out.Approvers = append(out.Approvers, p)
	}
	if g.SourcePrincipal != nil {
		by, err := g.SourcePrincipal.Here()
		if err != nil {
			return nil, err
		}
		out.SourcePrincipal = &by
	}
	if g.ExpiresAtMS != nil {
		if *g.ExpiresAtMS <= 0 { // one of them is Go's zero time, which would be no end at all
			return nil, malformed("expires_at_ms is %d: a grant ends after 1970, or has no end and leaves the field out", *g.ExpiresAtMS)
		}
		out.ExpiresAt = time.UnixMilli(*g.ExpiresAtMS).UTC()
	}
	return out, out.Check(tenant)
}
