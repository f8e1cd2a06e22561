package vocabulary

import (
	"strings"

	"tandem/internal/policy"
)

// ResourceScope is a tree with holes, or of a tree those of the allowed resources alone.
type ResourceScope struct {
	Root     ResourceRef   `json:"root"`
	Allowed  []ResourceRef `json:"allowed_resources,omitempty" jsonschema:"of the tree only these, with what lies below them"`
	Denied   []ResourceRef `json:"denied_resources,omitempty" jsonschema:"what lies at or below these is left out"`
	MaxDepth *int          `json:"max_depth,omitempty" jsonschema:"how many components below the root it reaches; 0 is the root alone"`
	Only     []string      `json:"tandem_only,omitempty" jsonschema:"of the tree only what fits one of these globs"`
	Own      bool          `json:"tandem_own,omitempty" jsonschema:"of the tree only what belongs to the principal"`
	AnyOf    []OneScope    `json:"tandem_any_of,omitempty" jsonschema:"one of these; the root is then tandem_any_of"`
}

// OneScope is a scope that is not several.
type OneScope struct {
	Root     ResourceRef   `json:"root"`
	Denied   []ResourceRef `json:"denied_resources,omitempty"`
	MaxDepth *int          `json:"max_depth,omitempty"`
	Only     []string      `json:"tandem_only,omitempty"`
	Own      bool          `json:"tandem_own,omitempty"`
}

// Scopes writes the places of a credential; none is every place.
func Scopes(tenant string, places []policy.ResourceScope) ResourceScope {
	if len(places) == 0 {
		return ResourceScope{Root: Resource(tenant, policy.ResourceRef{Kind: policy.AnyKind, Path: "/"})}
	}
	if s := one(tenant, &places[0]); len(places) == 1 && len(s.Only) == 0 && !s.Own {
		return ResourceScope{Root: s.Root, Denied: s.Denied, MaxDepth: s.MaxDepth}
	}
	out := ResourceScope{Root: Resource(tenant, policy.ResourceRef{Kind: policy.AnyKind, Path: "/"})}
	out.Root.Kind = anyOf
	for i := range places {
		out.AnyOf = append(out.AnyOf, one(tenant, &places[i]))
	}
	return out
}

func one(tenant string, s *policy.ResourceScope) OneScope {
	out := OneScope{Root: Resource(tenant, s.Root), MaxDepth: s.MaxDepth, Only: s.Only, Own: s.Own}
	for _, d := range s.Denied {
		out.Denied = append(out.Denied, Resource(tenant, d))
	}
	return out
}

// Here are the places in this house; nil is every place.
func (s ResourceScope) Here(tenant string) ([]policy.ResourceScope, error) {
	if s.Root.Kind == anyOf || len(s.AnyOf) > 0 {
		if s.Root.Kind != anyOf || len(s.AnyOf) == 0 || len(s.Allowed)+len(s.Denied)+len(s.Only) > 0 || s.MaxDepth != nil || s.Own {
			return nil, malformed("a scope is either one tree or tandem_any_of several")
		}
		var out []policy.ResourceScope
		for _, o := range s.AnyOf {
			h, err := o.here(tenant)
			if err != nil {
				return nil, err
			}
			out = append(out, h)
		}
		return out, nil
	}
	root, err := OneScope{s.Root, s.Denied, s.MaxDepth, s.Only, s.Own}.here(tenant)
	switch {
	case err != nil:
		return nil, err
	case len(s.Allowed) > 0:
		return s.allowed(tenant, root)
	case s.everything(root):
		return nil, nil
	}
	return []policy.ResourceScope{root}, nil
}

// everything is a scope that leaves nothing out.
func (s ResourceScope) everything(h policy.ResourceScope) bool {
	return h.Root.Kind == policy.AnyKind && h.Root.Path == "/" && len(s.Denied)+len(s.Only) == 0 && s.MaxDepth == nil && !s.Own
}

// allowed is the tree of each allowed resource, as deep as the whole may reach.
func (s ResourceScope) allowed(tenant string, whole policy.ResourceScope) (out []policy.ResourceScope, err error) {
	for _, a := range s.Allowed {
		r, err := a.Here(tenant)
		if err != nil {
			return nil, err
		}
		top := policy.ResourceScope{Root: whole.Root}
		if !top.Covers(r) || r.Kind == policy.AnyKind && whole.Root.Kind != policy.AnyKind {
			return nil, malformed("the allowed resource %s does not lie in the scope's root %s", r, whole.Root)
		}
		one := whole
		one.Root = r
		if whole.MaxDepth != nil {
			left := *whole.MaxDepth - (depth(r.Path) - depth(whole.Root.Path))
			if left < 0 {
				return nil, malformed("the allowed resource %s lies deeper than max_depth %d", r, *whole.MaxDepth)
			}
			one.MaxDepth = &left
		}
		out = append(out, one)
	}
	return out, nil
}

func depth(path string) int {
	if path == "/" {
		return 0
	}
	return strings.Count(path, "/")
}

func (o OneScope) here(tenant string) (policy.ResourceScope, error) {
	out := policy.ResourceScope{MaxDepth: o.MaxDepth, Only: o.Only, Own: o.Own}
	var err error
	if out.Root, err = o.Root.Here(tenant); err != nil {
		return out, err
	}
	for _, d := range o.Denied {
		h, err := d.Here(tenant)
		if err != nil {
			return out, err
		}
		out.Denied = append(out.Denied, h)
	}
	return out, nil
}
