package policy

import (
	"slices"
	"strings"
)

// Kin says in which checkout a path lies: the names of its repository and the checkout's root; none for a path in no repository.
// Checkouts with a name in common are of one repository, and what is denied or labelled in one of them is so in all.
type Kin func(path string) (names []string, root string)

// NoKin is the Kin of a machine that has no repositories.
func NoKin(string) (names []string, root string) { return nil, "" }

// alias is another name of a tree that policy speaks of.
type alias struct{ name, of string }

// aliases are the places that links lead to now, of what policy speaks of by a path that goes through them.
func (s *Sight) aliases() (out []alias) {
	if s.real == nil {
		return nil
	}
	for edge := range s.edges {
		if at := s.real(edge); at != edge {
			out = append(out, alias{at, edge})
		}
	}
	for written, root := range s.written {
		if at := s.real(written); at != root {
			out = append(out, alias{at, root})
		}
	}
	return out
}

// twins are the other names of a path that policy speaks of: through links, and in the other checkouts of its repository.
func (s *Sight) twins(path string) []string {
	out := s.checkouts(path)
	aliases := s.aliases()
	for _, p := range append([]string{path}, out...) {
		for _, a := range aliases {
			d := spelledBelow(a.name, p)
			if d < 0 {
				continue
			}
			parts := components(p)
			rest := strings.Join(parts[len(parts)-d:], "/")
			if t := strings.TrimSuffix(strings.TrimSuffix(a.of, "/")+"/"+rest, "/"); t != path && t != "" {
				out = append(out, t)
			}
		}
	}
	return out
}

// Named is Of for one path that somebody wrote, which may go through links itself.
func (s *Sight) Named(path string) Seen {
	return s.Of(path).and(s.led(path)).and(s.stored(path))
}

// Elsewhere is what policy says of a path by its other names, where links in it lead included.
func (s *Sight) Elsewhere(path string) Seen {
	return s.elsewhere(path).and(s.led(path)).and(s.stored(path))
}

func (s *Sight) led(path string) Seen {
	if s.real == nil {
		return Seen{}
	}
	at := s.real(path)
	if at == path {
		return Seen{}
	}
	return s.askTwin(path, at).and(s.elsewhere(at)).and(s.stored(at))
}

// checkouts are the same path in the other checkouts of its repository that policy speaks of.
func (s *Sight) checkouts(path string) []string {
	if s.kin == nil || len(s.edges) < 2 {
		return nil
	}
	names, root := s.kin(path)
	if len(names) == 0 {
		return nil
	}
	s.noteRoot(root)
	var out []string
	for edge := range s.edges {
		if edge == "/" || below(root, edge) >= 0 {
			continue
		}
		others, there := s.kin(edge)
		if there == root || !slices.ContainsFunc(others, func(n string) bool { return slices.Contains(names, n) }) {
			continue
		}
		if t := there + strings.TrimPrefix(path, root); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// noteRoot remembers a checkout, for Edges.
func (s *Sight) noteRoot(root string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.roots == nil {
		s.roots = map[string]bool{}
	}
	if len(s.roots) < maxFits {
		s.roots[root] = true
	}
}

// elsewhere is what policy says of a path by its other names. That nothing grants it there says nothing: a denial travels, and a grant
// does not.
func (s *Sight) elsewhere(path string) Seen {
	var seen Seen
	for _, twin := range s.twins(path) {
		seen = seen.and(s.askTwin(path, twin))
	}
	return seen
}

// and is what is left of two views.
func (s Seen) and(o Seen) Seen {
	if o.Hidden && !s.Hidden || o.Fixed && !s.Fixed && !s.Hidden {
		s.By = o.By
	}
	s.Hidden, s.Fixed = s.Hidden || o.Hidden, s.Fixed || o.Fixed
	if s.Asks == "" {
		s.Asks = o.Asks
	}
	return s
}

// byLabel begins the reason of what a label hides in another checkout.
const byLabel = "label:"

// askTwin asks about the path in another checkout, and about the path itself with the label that it has there.
func (s *Sight) askTwin(path, twin string) Seen {
	if s.view == nil || s.view.policy == nil {
		return Seen{Hidden: true}
	}
	seen := Seen{}
	look := func(right, at string, class DataClass) Decision {
		return s.view.Decide(Request{Right: right, Resource: ResourceRef{Kind: KindFolder, Path: at}, Tool: s.tool,
			Facts: &Facts{Paths: []string{at}}, Class: class})
	}
	weigh := func(at string, class DataClass) {
		switch d := look("folder.read", at, class); {
		case d.Effect == Deny && d.ungiven() && class != "": // what grants the path does not grant data of that class
			seen = seen.and(Seen{Hidden: true, By: byLabel + string(class)})
		case d.Effect == Deny && !d.ungiven():
			seen = seen.and(Seen{Hidden: true, By: d.By})
		case d.Effect == Ask && at == path:
			seen = seen.and(Seen{Asks: d.By})
		}
		if d := look("folder.write", at, class); d.Effect == Deny && !d.ungiven() {
			seen = seen.and(Seen{Fixed: true, By: d.By})
		}
	}
	weigh(twin, "")
	if class, also, labelled := s.view.policy.classOf(ResourceRef{Kind: KindFolder, Path: twin}); labelled {
		for _, c := range append(also, class) {
			weigh(path, c)
		}
	}
	if s.tool != "" {
		d := s.view.Decide(Request{Right: "tool.execute", Resource: ToolRef(s.tool), Tool: s.tool, Facts: &Facts{Paths: []string{twin}}})
		if d.Effect == Deny && !d.ungiven() {
			seen = seen.and(Seen{Hidden: true, By: d.By})
		}
	}
	return seen
}

// edgesElsewhere are the edges of other checkouts, as they lie in those at, above or below a folder.
func (s *Sight) edgesElsewhere(folder string) []string {
	if s.kin == nil || len(s.edges) < 2 {
		return nil
	}
	roots := []string{}
	if _, root := s.kin(folder); root != "" {
		roots = append(roots, root)
	}
	s.mu.Lock()
	for root := range s.roots {
		if below(folder, root) > 0 {
			roots = append(roots, root)
		}
	}
	s.mu.Unlock()
	var out []string
	for _, root := range roots {
		names, _ := s.kin(root)
		for edge := range s.edges {
			others, there := s.kin(edge)
			if edge == "/" || there == root || there == "" ||
				!slices.ContainsFunc(others, func(n string) bool { return slices.Contains(names, n) }) {
				continue
			}
			if e := root + strings.TrimPrefix(edge, there); below(folder, e) > 0 {
				out = append(out, e)
			}
		}
	}
	return out
}

// labelled are the classes that somebody gave a path, here or else in another checkout of its repository.
func (s *Sight) labelled(path string) []DataClass {
	for _, p := range append([]string{path}, s.twins(path)...) {
		if class, also, labelled := s.view.policy.classOf(ResourceRef{Kind: KindFolder, Path: p}); labelled {
			return append(also, class)
		}
	}
	return nil
}

// Denied says whether somebody denied a path of a repository, or labelled it with a class that the caller may not read there. A path of
// which nothing is said is not denied: who may read the repository may read it.
func (s *Sight) Denied(path string, repository ResourceRef) bool {
	if s.view == nil || s.view.policy == nil {
		return true
	}
	for _, seen := range []Seen{s.askTwin(path, path), s.elsewhere(path)} {
		if seen.Hidden && seen.By != "" && !seen.House() && !strings.HasPrefix(seen.By, byLabel) {
			return true
		}
	}
	return slices.ContainsFunc(s.labelled(path), func(class DataClass) bool {
		return s.view.Decide(Request{Right: "repo.read", Resource: repository, Class: class}).Effect != Allow
	})
}

// Kept says whether a path of a repository is not shown to the caller: somebody denied it, or it is a file that holds keys and the house
// keeps those from the caller.
func (s *Sight) Kept(path string, repository ResourceRef) bool {
	if s.Denied(path, repository) {
		return true
	}
	seen := s.askTwin(path, path)
	return seen.Hidden && seen.House()
}

// Whole says whether nothing of a checkout is denied, so that a copy of its repository may be given away: history cannot be handed out
// in parts. Of a pattern nobody knows what it will fit in a history, so one is enough for a no.
func (s *Sight) Whole(root string, repository ResourceRef) bool {
	if s.slow && (s.view == nil || s.view.policy == nil) || s.globs || s.Denied(root, repository) {
		return false
	}
	return !slices.ContainsFunc(s.Edges(root), func(e string) bool { return s.Denied(e, repository) })
}

// Withheld says whether something is denied of a checkout on this machine whose repository is meant, by the names that Kin knows it by.
func (s *Sight) Withheld(meant func(names []string) bool, repository ResourceRef) bool {
	if s.kin == nil || s.view == nil || s.view.policy == nil {
		return true
	}
	for edge := range s.edges {
		if names, root := s.kin(edge); len(names) > 0 && meant(names) && !s.Whole(root, repository) {
			return true
		}
	}
	return false
}
