package policy

import (
	"slices"
	"strings"

	"tandem/internal/spelling"
)

// stored is what policy says of a path because it lies in the store of a repository: the store holds files of every checkout again, as
// objects and as text (conflicts that were resolved before, patches under way, messages), under names that nobody denied. So where
// something of a repository is kept from the caller, its whole store is, as it is in the sandbox of commands.
func (s *Sight) stored(path string) Seen {
	if s.kin == nil || s.view == nil || s.view.policy == nil {
		return Seen{}
	}
	var seen Seen
	var edges []string
	root := storeIn(path)
	if root != "" {
		edges = s.Edges(root)
		for _, g := range s.patterns { // nobody knows what a pattern fits in a history
			if at := g.Scope.Root; at.Kind == KindFolder && (spelledBelow(at.Path, root) >= 0 || spelledBelow(root, at.Path) >= 0) {
				return Seen{Hidden: true, By: g.by}
			}
		}
	}
	for edge := range s.edges {
		if edge != "/" && s.storeOf(edge, path) {
			edges = append(edges, edge)
		}
	}
	for _, edge := range edges {
		if storeIn(edge) != "" {
			continue // it speaks of the store, and for itself
		}
		kept := s.of(edge).and(s.elsewhere(edge))
		if kept.Hidden && !kept.House() {
			seen = seen.and(Seen{Hidden: true, By: kept.By})
		}
		if kept.Asks != "" && !(Seen{By: kept.Asks}).House() {
			seen = seen.and(Seen{Asks: kept.Asks})
		}
	}
	return seen
}

// storeIn is the checkout in whose own store a path lies, by the store's name; "" for a path in none.
func storeIn(path string) string {
	at := 0
	for part := range strings.SplitSeq(path, "/") {
		if low := spelling.Folded(part); low == ".git" || low == ".jj" {
			return strings.TrimSuffix(path[:at], "/")
		}
		at += len(part) + 1
	}
	return ""
}

// storeOf says whether a path lies in the store of the repository that holds an edge, wherever that store is.
func (s *Sight) storeOf(edge, path string) bool {
	names, _ := s.kin(edge)
	return slices.ContainsFunc(names, func(name string) bool {
		kind, store, _ := strings.Cut(name, ":")
		return (kind == "git" || kind == "jj") && spelledBelow("/"+strings.TrimPrefix(store, "/"), path) >= 0
	})
}
