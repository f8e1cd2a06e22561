package daemon

import (
	"context"
	"sync"

	"tandem/internal/identity/assertion"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/policy/vocabulary"
)

// narrow reads what an assertion leaves of what its person may.
func narrow(c *assertion.Claims) (text, by string, why *assertion.Rejected) {
	n, part, err := vocabulary.Asserted{Organization: c.Tenant.Org, Workspace: c.Tenant.Workspace, Person: c.Human.Actor,
		Scope: c.ResourceScope, Grants: c.Grants, Boundary: c.DataBoundary}.Here()
	if err != nil {
		reason := map[string]assertion.Reason{vocabulary.PartScope: assertion.Scope, vocabulary.PartGrants: assertion.Grants,
			vocabulary.PartBoundary: assertion.Boundary}[part]
		return "", "", assertion.Reject(reason, "the assertion's %s could not be kept here as it is meant: %.300s", part, err.Error())
	}
	if n == nil {
		return "", "", nil
	}
	text, ref := n.Text()
	return text, ref.String(), nil
}

// narrowings are those that are in use, ready to be asked. What a name stands for never changes.
type narrowings struct {
	mu   sync.Mutex
	read map[string]*policy.Narrowed
}

// maxNarrowings bounds what is kept ready.
const maxNarrowings = 1024

// narrowed is what a name in a caller's chain narrows it to: what the request itself brought, or what was kept when something was begun.
func (d *Daemon) narrowed(ctx context.Context, c op.Caller, by string) (*policy.Narrowed, error) {
	key := c.Tenant + "\x00" + by
	d.narrow.mu.Lock()
	n := d.narrow.read[key]
	d.narrow.mu.Unlock()
	if n != nil {
		return n, nil
	}
	ref, err := policy.ParsePrincipal(by)
	if err != nil {
		return nil, err
	}
	if n, err = policy.ReadNarrowing(c.Tenant, ref, c.Narrow); c.Narrow == "" || err != nil {
		text, err := d.identity.Narrowing(ctx, c, by)
		if err != nil {
			return nil, err
		}
		if n, err = policy.ReadNarrowing(c.Tenant, ref, text); err != nil {
			return nil, err
		}
	}
	d.narrow.mu.Lock()
	defer d.narrow.mu.Unlock()
	if len(d.narrow.read) >= maxNarrowings || d.narrow.read == nil {
		d.narrow.read = map[string]*policy.Narrowed{}
	}
	d.narrow.read[key] = n
	return n, nil
}

// narrowedBy is the same for whoever asks what an actor may.
func (d *Daemon) narrowedBy(ctx context.Context, tenant string, by policy.PrincipalRef) (*policy.Narrowed, error) {
	return d.narrowed(ctx, op.Caller{Tenant: tenant, Name: by.String(), Narrow: op.CallerFrom(ctx).Narrow}, by.String())
}
