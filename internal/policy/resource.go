package policy

import (
	"strings"

	"tandem/internal/spelling"
)

// ResourceRef names one thing: its tenant, its kind and its place in the kind's tree. The path starts with a slash and is
// made of components; "/" is the root of the tree.
type ResourceRef struct {
	Tenant string       `json:"tenant,omitempty"`
	Kind   ResourceKind `json:"kind"`
	Path   string       `json:"path"`
	// Written is the path as a person wrote it, where links in it led to Path.
	Written string `json:"written,omitempty"`
	// Of is whose it is, where that matters: principals between blanks. See Belongs.
	Of string `json:"-"`
}

// Belongs writes down whose a resource is, for the grants that speak of what is the principal's own.
func Belongs(principals ...string) string { return " " + strings.Join(principals, " ") + " " }

// String gives kind:/path.
func (r ResourceRef) String() string { return string(r.Kind) + ":" + r.Path }

// ParseResource reads kind:/path, where kind may be * and a missing path is the root.
func ParseResource(s string) (ResourceRef, error) {
	kind, path, ok := strings.Cut(s, ":")
	if !ok {
		path = "/"
	}
	r := ResourceRef{Kind: ResourceKind(kind), Path: path}
	if r.Kind != AnyKind && !knownKind[r.Kind] {
		return ResourceRef{}, malformed("there is no kind of resource called %q; a resource is kind:/path, e.g. folder:/home/me/code", kind)
	}
	if !cleanPath(path) {
		return ResourceRef{}, malformed("path %q is not /component/component without . or ..", path)
	}
	return r, nil
}

// ToolRef is the resource of a tool: mcp.github.create_issue is /mcp/github/create_issue, so that a grant can name a server.
func ToolRef(name string) ResourceRef {
	return ResourceRef{Kind: KindTool, Path: toolPath(name)}
}

func toolPath(name string) string { return "/" + strings.ReplaceAll(name, ".", "/") }

// cleanPath says whether p is "/" or /component/component with components that mean themselves.
func cleanPath(p string) bool {
	if p == "/" {
		return true
	}
	if p == "" || p[0] != '/' || hasControl(p) {
		return false
	}
	start := 1
	for i := 1; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		if c := p[start:i]; c == "" || c == "." || c == ".." {
			return false
		}
		start = i + 1
	}
	return true
}

// below gives the number of components by which p lies under root: 0 for root itself, -1 when it does not lie there.
// /code does not hold /code-evil.
func below(root, p string) int {
	if root == "/" {
		if p == "/" {
			return 0
		}
		return strings.Count(p, "/")
	}
	if !strings.HasPrefix(p, root) {
		return -1
	}
	rest := p[len(root):]
	if rest == "" {
		return 0
	}
	if rest[0] != '/' {
		return -1
	}
	return strings.Count(rest, "/")
}

// ResourceScope is a tree with holes: everything at or below Root, not deeper than MaxDepth components when that is set
// (0 is the root alone), of those only the paths that fit a glob of Only when there are any, without the trees of Denied.
type ResourceScope struct {
	Root     ResourceRef   `json:"root"`
	MaxDepth *int          `json:"max_depth,omitempty"`
	Only     []string      `json:"only,omitempty"`
	Denied   []ResourceRef `json:"denied,omitempty"`
	// Own narrows it to what belongs to the principal: of sessions and relays itself, and what it opened.
	Own bool `json:"own,omitempty"`
}

// Covers says whether the scope holds r. Kinds must agree, unless the scope names all of them.
func (s *ResourceScope) Covers(r ResourceRef) bool {
	if ok := s.holds(r); !ok || len(s.Only) == 0 {
		return ok
	}
	parts := components(r.Path)
	for _, g := range s.Only {
		if newGlob(g).fits(parts) {
			return true
		}
	}
	return false
}

// holds is Covers without the globs of Only. What is left out of it is left out by any spelling.
func (s *ResourceScope) holds(r ResourceRef) bool {
	in := below
	if r.Kind == KindFolder {
		in = spelledBelow
	}
	return s.holdsAt(below(s.Root.Path, r.Path), r, in)
}

// holdsAt is holds for what lies so many components under the root, with a way to tell what is left out.
func (s *ResourceScope) holdsAt(d int, r ResourceRef, in func(root, p string) int) bool {
	if s.Root.Kind != AnyKind && s.Root.Kind != r.Kind || d < 0 || (s.MaxDepth != nil && d > *s.MaxDepth) {
		return false
	}
	for i := range s.Denied {
		if h := &s.Denied[i]; (h.Kind == AnyKind || h.Kind == r.Kind) && in(h.Path, r.Path) >= 0 {
			return false
		}
	}
	return true
}

// spelledBelow is below by any spelling of the two: on macOS and Windows /Code/PRIV is /code/priv.
func spelledBelow(root, p string) int { return below(spelling.Folded(root), spelling.Folded(p)) }

func (s *ResourceScope) check(tenant string) error {
	for _, r := range append([]ResourceRef{s.Root}, s.Denied...) {
		if r.Kind != AnyKind && !knownKind[r.Kind] {
			return malformed("there is no kind of resource called %q", r.Kind)
		}
		if !cleanPath(r.Path) {
			return malformed("path %q is not /component/component without . or ..", r.Path)
		}
		if r.Tenant != "" && r.Tenant != tenant {
			return malformed("%s belongs to another tenant", r)
		}
	}
	for _, g := range s.Only {
		if !cleanPath(g) {
			return malformed("glob %q is not /component/component", g)
		}
	}
	if s.MaxDepth != nil && *s.MaxDepth < 0 {
		return malformed("max_depth %d is negative", *s.MaxDepth)
	}
	return nil
}
