package assertion

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
)

// Headers bring an assertion; a request has one of them at most.
var Headers = []string{"X-Tandem-Context-Assertion", "X-Tandem-Context-Jws", "X-Tandem-Tenant-Context-Jws"}

// RawHeaders name a tenant or an actor that nobody signed for. Where assertions are taken, a request with one is refused.
var RawHeaders = []string{"X-Tandem-Org-Id", "X-Tandem-Workspace-Id", "X-Tandem-Deployment-Id", "X-Tandem-Actor-Id", "X-Tenant-Id",
	"X-Tenant-Org-Id", "X-Tenant-Workspace-Id", "X-Tenant-Actor-Id", "X-User-Id"}

// TenantContext is whose request it is.
type TenantContext struct {
	Org        string `json:"org_id"`
	Workspace  string `json:"workspace_id"`
	Deployment string `json:"deployment_id,omitempty"`
	Actor      string `json:"actor_id,omitempty"`
	Source     string `json:"source"`
}

// HumanActor is the person, as the control plane knows them.
type HumanActor struct {
	Actor    string `json:"actor_id"`
	Provider string `json:"provider,omitempty"`
	Issuer   string `json:"issuer,omitempty"`
	Subject  string `json:"subject,omitempty"`
	Email    string `json:"email,omitempty"`
}

// Chain is on whose behalf.
type Chain struct {
	InitiatedBy struct {
		Actor  string `json:"actor_id,omitempty"`
		Source string `json:"source"`
	} `json:"initiated_by"`
	OwnedBy    json.RawMessage `json:"owned_by,omitempty"`
	ExecutedAs json.RawMessage `json:"executed_as"`
	ApprovedBy json.RawMessage `json:"approved_by,omitempty"`
}

// Claims are what an assertion says.
type Claims struct {
	Version       string          `json:"version"`
	Issuer        string          `json:"issuer"`
	Audience      string          `json:"audience"`
	IssuedAt      int64           `json:"issued_at_ms"`
	ExpiresAt     int64           `json:"expires_at_ms"`
	ID            string          `json:"assertion_id"`
	Tenant        TenantContext   `json:"tenant_context"`
	Human         HumanActor      `json:"human_actor"`
	Chain         Chain           `json:"authority_chain"`
	Roles         []string        `json:"roles,omitempty"`
	OrgUnits      json.RawMessage `json:"org_units,omitempty"`
	Capabilities  []string        `json:"capabilities,omitempty"`
	PolicyVersion json.RawMessage `json:"policy_version,omitempty"`
	Principal     json.RawMessage `json:"principal,omitempty"`
	ResourceScope json.RawMessage `json:"resource_scope,omitempty"`
	Grants        json.RawMessage `json:"grants,omitempty"`
	DataBoundary  json.RawMessage `json:"data_boundary,omitempty"`
}

// Until is when it ends.
func (c *Claims) Until() time.Time { return time.UnixMilli(c.ExpiresAt) }

// Rules are what this server takes.
type Rules struct {
	Issuer, Audience string
	Skew, Lifetime   time.Duration
	// Organized wants every key to name the organization for which it speaks.
	Organized bool
	// Right refuses a capability that is no right of this house.
	Right func(string) error
	// Narrow is what resource_scope, grants and data_boundary leave, as text, and how a caller's chain names it; both empty where they take
	// nothing away. What cannot be kept as it is meant is refused.
	Narrow func(*Claims) (text, by string, why *Rejected)
}

// The most that an assertion may be, and its names.
const (
	maxSize  = 16 << 10
	maxName  = 128
	maxTexts = 64
)

// check looks at the claims of an assertion whose signature holds.
func (r Rules) check(c *Claims, now time.Time) *Rejected {
	life := time.Duration(c.ExpiresAt-c.IssuedAt) * time.Millisecond
	switch {
	case c.Version != "v1":
		return Reject(Version, "the assertion is of version %.20q, and v1 is taken", c.Version)
	case c.Issuer != r.Issuer:
		return Reject(Issuer, "the assertion is of the issuer %.64q, and %q is taken", c.Issuer, r.Issuer)
	case c.Audience != r.Audience:
		return Reject(Audience, "the assertion is for %.64q, and this server is %q", c.Audience, r.Audience)
	case c.IssuedAt <= 0 || c.ExpiresAt <= c.IssuedAt || c.ExpiresAt-c.IssuedAt > r.Lifetime.Milliseconds():
		return Reject(Lifetime, "the assertion lives for %s, and at most %s is taken", life, r.Lifetime)
	case now.UnixMilli() >= c.ExpiresAt:
		return Reject(Expired, "the assertion ended at %s", c.Until().UTC().Format(time.RFC3339))
	case c.IssuedAt > now.Add(r.Skew).UnixMilli():
		return Reject(NotYet, "the assertion was issued in the future, by more than the %s that clocks may differ", r.Skew)
	case !name(c.ID):
		return Reject(NoID, "the assertion has no id that tells it from others")
	}
	if why := c.whose(); why != nil {
		return why
	}
	for _, s := range c.Capabilities {
		if err := r.Right(s); err != nil {
			return Reject(Capability, "the assertion is for the capability %.64q, which is no right here", s)
		}
	}
	return nil
}

// whose checks that the assertion names one tenant and one person, and nothing that would be lost here.
func (c *Claims) whose() *Rejected {
	t := c.Tenant
	as, kind := c.executedAs()
	switch {
	case !name(t.Org) || !name(t.Workspace) || t.Source != "explicit":
		return Reject(NoTenant, "the assertion names no tenant: org_id, workspace_id and the source explicit")
	case !name(c.Human.Actor):
		return Reject(NoActor, "the assertion names nobody whom the request is for")
	case t.Actor != c.Human.Actor || c.Chain.InitiatedBy.Actor != c.Human.Actor || as != "" && as != c.Human.Actor ||
		!c.principalIs(c.Human.Actor):
		return Reject(Actors, "the assertion names different actors: in human_actor, tenant_context, authority_chain or principal")
	case kind != "request":
		return Reject(ExecutedAs, "the assertion is for what is executed as %.40q, and a person's own request is taken", kind)
	}
	return nil
}

// executedAs is as whom, and of which kind.
func (c *Claims) executedAs() (actor, kind string) {
	var as struct {
		Kind  string `json:"kind"`
		Actor string `json:"actor_id"`
	}
	if json.Unmarshal(c.Chain.ExecutedAs, &as) != nil {
		return "", ""
	}
	return as.Actor, as.Kind
}

// principalIs reports whether the principal, where one is named, is that person.
func (c *Claims) principalIs(actor string) bool {
	if !said(c.Principal) {
		return true
	}
	var p struct{ Kind, ID string }
	return json.Unmarshal(c.Principal, &p) == nil && p.ID == actor && (p.Kind == "human_user" || p.Kind == "person")
}

// said reports whether a claim says anything.
func said(raw json.RawMessage) bool {
	switch s := strings.TrimSpace(string(raw)); s {
	case "", "null", "[]", "{}":
		return false
	}
	return true
}

// name reports whether something can be the name or id of something.
func name(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == unicode.ReplacementChar || unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
}
