package vocabulary

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"tandem/internal/policy"
)

// Asserted is what an assertion says beside whom it is for: what of theirs the request may do. Each part may be left out.
type Asserted struct {
	Organization, Workspace string // those of its tenant context, which every part names
	Person                  string
	Scope, Grants, Boundary json.RawMessage
}

// The parts of an assertion that narrow it.
const (
	PartScope    = "resource_scope"
	PartGrants   = "grants"
	PartBoundary = "data_boundary"
)

// maxGrants bounds those of one assertion: each call is held to all of them.
const maxGrants = 64

// Here is what the parts leave, nil where they take nothing away; part is the one that could not be read.
func (a Asserted) Here() (n *policy.Narrowing, part string, err error) {
	n = &policy.Narrowing{}
	if n.Places, err = a.places(); err != nil {
		return nil, PartScope, err
	}
	if n.Grants, err = a.grants(); err != nil {
		return nil, PartGrants, err
	}
	if err := strictly(a.Boundary, &n.Boundary); err != nil || strings.HasPrefix(strings.TrimSpace(string(a.Boundary)), "[") {
		err = cmp.Or(err, malformed("data_boundary is an object of allowed_data_classes and denied_data_classes"))
		return nil, PartBoundary, err
	}
	if err := (&policy.Narrowing{Boundary: n.Boundary}).Check(a.Organization); err != nil {
		return nil, PartBoundary, err
	}
	if len(n.Places)+len(n.Grants)+len(n.Boundary.Allowed)+len(n.Boundary.Denied) == 0 {
		return nil, "", nil
	}
	return n, "", nil
}

func (a Asserted) places() ([]policy.ResourceScope, error) {
	if s := strings.TrimSpace(string(a.Scope)); s == "" || s == "null" {
		return nil, nil
	}
	var s ResourceScope
	if err := strictly(a.Scope, &s); err != nil {
		return nil, err
	}
	if s.Root.Kind == "" {
		return nil, malformed("resource_scope has no root")
	}
	if s.Root.isHouse(a) { // all that there is lies in it
		s.Root.Kind, s.Root.ID, s.Root.Parents = anything, "/", nil
	}
	refs := []*ResourceRef{&s.Root}
	for i := range s.Allowed {
		refs = append(refs, &s.Allowed[i])
	}
	for i := range s.Denied {
		refs = append(refs, &s.Denied[i])
	}
	for i := range s.AnyOf {
		refs = append(refs, &s.AnyOf[i].Root)
		for j := range s.AnyOf[i].Denied {
			refs = append(refs, &s.AnyOf[i].Denied[j])
		}
	}
	if len(refs) > maxGrants {
		return nil, malformed("resource_scope names %d resources, and %d are taken", len(refs), maxGrants)
	}
	if err := a.housed(refs); err != nil {
		return nil, err
	}
	out, err := s.Here(a.Organization)
	if err != nil {
		return nil, err
	}
	return out, (&policy.Narrowing{Places: out}).Check(a.Organization)
}

// isHouse says that a resource is the organization or workspace itself.
func (r ResourceRef) isHouse(a Asserted) bool {
	return (r.Kind == "organization" && r.ID == a.Organization || r.Kind == "workspace" && r.ID == a.Workspace) && r.Prefix == ""
}

func (a Asserted) grants() (out []policy.ScopedGrant, err error) {
	if unsaid(a.Grants) {
		return nil, nil
	}
	var all []ScopedGrant
	if err := strictly(a.Grants, &all); err != nil {
		return nil, err
	}
	if len(all) > maxGrants {
		return nil, malformed("there are %d grants, and %d are taken", len(all), maxGrants)
	}
	for _, g := range all {
		refs := []*ResourceRef{&g.Resource}
		if g.Within != nil {
			for i := range g.Within.Denied {
				refs = append(refs, &g.Within.Denied[i])
			}
		}
		if err := a.housed(refs); err != nil {
			return nil, err
		}
		h, err := g.Here(a.Organization)
		if err != nil {
			return nil, err
		}
		if !h.Principal.Matches(policy.PrincipalRef{Kind: policy.Person, ID: a.Person}) {
			return nil, malformed("the grant %.60q is to %s, and the assertion is for person:%s", h.ID, h.Principal, a.Person)
		}
		out = append(out, *h)
	}
	return out, nil
}

// housed writes the assertion's own workspace as the tenant, which has none of its own here, and refuses those of others.
func (a Asserted) housed(refs []*ResourceRef) error {
	for _, r := range refs {
		if r.Organization != a.Organization || r.Workspace != a.Workspace && r.Workspace != "*" {
			return malformed("%s %.60q belongs to %.60q/%.60q, and the assertion is for %s/%s", r.Kind, r.ID, r.Organization, r.Workspace,
				a.Organization, a.Workspace)
		}
		r.Workspace = a.Organization
		for i := range r.Parents {
			if p := &r.Parents[i]; p.Kind == "workspace" && p.ID == a.Workspace {
				p.ID = a.Organization
			}
		}
	}
	return nil
}

// unsaid is a part that was left out, or is empty.
func unsaid(raw json.RawMessage) bool {
	s := strings.TrimSpace(string(raw))
	return s == "" || s == "null" || s == "[]"
}

// strictly reads one value and nothing that it does not know.
func strictly(raw json.RawMessage, into any) error {
	if unsaid(raw) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}
