package vocabulary

import (
	"strings"

	"tandem/internal/policy"
)

// ResourceRef names one thing, or the tree below it. The id is its whole path in the kind's tree, or its own name where parent_path names
// what it lies in.
type ResourceRef struct {
	Organization string       `json:"organization_id"`
	Workspace    string       `json:"workspace_id"`
	Project      string       `json:"project_id,omitempty"`
	Kind         ResourceKind `json:"resource_kind"`
	ID           string       `json:"resource_id" jsonschema:"the path in the kind's tree, or one name below those of parent_path"`
	Parents      []Parent     `json:"parent_path,omitempty" jsonschema:"what it lies in, outermost first"`
	Branch       string       `json:"branch_id,omitempty"`
	Prefix       string       `json:"path_prefix,omitempty" jsonschema:"the tree below it that is meant, component by component"`
	Written      string       `json:"tandem_written,omitempty" jsonschema:"the path as somebody wrote it, where links led from it"`
}

// Parent is something that a resource lies in.
type Parent struct {
	Kind ResourceKind `json:"kind"`
	ID   string       `json:"id"`
	Name string       `json:"name,omitempty"`
}

// Resource writes a resource of a tenant. One that names no tenant is of whoever's policy it stands in, and is written with it.
func Resource(tenant string, r policy.ResourceRef) ResourceRef {
	out := ResourceRef{Organization: tenant, Workspace: tenant, Kind: KindOf(r.Kind), ID: r.Path, Written: r.Written}
	for i, c := range r.Path {
		if c == '/' && i+1 < len(r.Path) {
			out.Parents = append(out.Parents, Parent{Kind: out.Kind, ID: max(r.Path[:i], "/")})
		}
	}
	return out
}

// Here is the resource of this house. Whatever would be lost of it is refused.
func (r ResourceRef) Here(tenant string) (policy.ResourceRef, error) {
	fail := func(format string, args ...any) (policy.ResourceRef, error) {
		return policy.ResourceRef{}, malformed(format, args...)
	}
	kind, err := r.Kind.Here()
	switch {
	case err != nil:
		return policy.ResourceRef{}, err
	case r.Organization != tenant || r.Workspace != tenant && r.Workspace != "*":
		return fail("the resource belongs to another tenant than %s", tenant)
	case r.Project != "" || r.Branch != "":
		return fail("nothing here is bound to a project_id or a branch_id, and without it the grant would reach further")
	}
	for _, p := range r.Parents {
		if p.house() && p.Kind != r.Kind && p.ID != tenant {
			return fail("the resource lies in the %s %.60q, and this is %s", p.Kind, p.ID, tenant)
		}
	}
	path, err := r.path()
	if err != nil {
		return policy.ResourceRef{}, err
	}
	out, err := policy.ParseResource(string(kind) + ":" + path)
	out.Written = r.Written
	return out, err
}

// path is the id's, below the parents and above the prefix.
func (r ResourceRef) path() (string, error) {
	path := r.ID
	if strings.HasPrefix(path, "/") {
		for i, p := range r.Parents {
			if p.house() {
				continue
			}
			if p.Kind != r.Kind || path == p.ID || !inside(p.ID, path) || i > 0 && !r.Parents[i-1].house() && !inside(r.Parents[i-1].ID, p.ID) {
				return "", malformed("the resource %s does not lie in its parent %.60q", path, p.ID)
			}
		}
	} else {
		path = ""
		for _, id := range append(r.names(), r.ID) {
			if id == "" || strings.Contains(id, "/") {
				return "", malformed("%.60q is neither a path nor one name", id)
			}
			path += "/" + id
		}
		for _, p := range r.Parents {
			if p.Kind != r.Kind && !p.house() {
				return "", malformed("nothing of the kind %s lies in one of the kind %s here", r.Kind, p.Kind)
			}
		}
	}
	if r.Prefix == "" || r.Prefix == "/" {
		return path, nil
	}
	return strings.TrimSuffix(path, "/") + "/" + strings.TrimPrefix(r.Prefix, "/"), nil
}

// names are those of the parents that are of the resource's own kind.
func (r ResourceRef) names() (out []string) {
	for _, p := range r.Parents {
		if p.Kind == r.Kind {
			out = append(out, p.ID)
		}
	}
	return out
}

// house is a parent that is the tenant itself: all that there is lies in it.
func (p Parent) house() bool { return p.Kind == "organization" || p.Kind == "workspace" }

// inside says whether a path lies at or below a root, component by component.
func inside(root, path string) bool {
	s := policy.ResourceScope{Root: policy.ResourceRef{Kind: policy.KindResource, Path: root}}
	return s.Covers(policy.ResourceRef{Kind: policy.KindResource, Path: path})
}
