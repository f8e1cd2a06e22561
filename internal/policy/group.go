package policy

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Owners is the group of those whose house it is. It is always there; until somebody changes it, the first person is alone in it.
const Owners = "owners"

// Bounds of groups: a decision reads them resolved, and a person has to be able to say who is in one.
const (
	maxGroups     = 1000
	maxMembers    = 10000  // of all groups together
	maxResolved   = 100000 // the same, with everybody counted in each group that they are in through another
	maxGroupDepth = 8
	maxGroupName  = 64
)

// Group is people under one name. Its members are people (person:anna) and other groups (group:seniors).
type Group struct {
	Name    string         `json:"name"`
	Members []PrincipalRef `json:"members"`
}

// groups are the people in each group, those of the groups in it among them, and the groups of each person, by name.
type groups struct {
	in map[string]map[string]bool
	of map[string][]string
}

// has says whether a person is in a group. Nobody is in one that does not exist.
func (g groups) has(group, person string) bool { return g.in[group][person] }

// CheckGroupName refuses what could be mistaken for something else.
func CheckGroupName(name string) error {
	ok := name != "" && len(name) <= maxGroupName && !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	})
	if !ok {
		return malformed("%q is not a group's name: letters, digits, - _ . and at most %d of them", name, maxGroupName)
	}
	return nil
}

// WithOwners are the groups with the owners among them: the first person, where nobody wrote any.
func WithOwners(list []Group) []Group {
	if slices.ContainsFunc(list, func(g Group) bool { return g.Name == Owners }) {
		return list
	}
	return append(slices.Clone(list), Group{Name: Owners, Members: []PrincipalRef{{Kind: Person, ID: "owner"}}})
}

// resolve finds out who is in each group. A group in itself, groups nested too deep, and members that are neither a person nor a
// group are refused.
func resolve(list []Group) (groups, error) {
	list = WithOwners(list)
	if len(list) > maxGroups {
		return groups{}, malformed("there are more than %d groups", maxGroups)
	}
	byName, members := map[string]*Group{}, 0
	for i, g := range list {
		if err := CheckGroupName(g.Name); err != nil {
			return groups{}, err
		}
		if byName[g.Name] != nil {
			return groups{}, malformed("group %s is there twice", g.Name)
		}
		byName[g.Name] = &list[i]
		if members += len(g.Members); members > maxMembers {
			return groups{}, malformed("the groups have more than %d members together", maxMembers)
		}
	}
	w := walk{all: byName, found: map[string]map[string]bool{}, depth: map[string]int{}}
	for _, g := range list {
		if err := w.into(g.Name, nil); err != nil {
			return groups{}, err
		}
	}
	out := groups{in: w.found, of: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(w.found)) {
		for person := range w.found[name] {
			out.of[person] = append(out.of[person], name)
		}
	}
	return out, nil
}

// walk visits each group once, those in it first.
type walk struct {
	all   map[string]*Group
	found map[string]map[string]bool
	depth map[string]int // how many groups lie under one another, from this one on
	size  int
}

// into resolves a group. above are the groups that it was reached by.
func (w *walk) into(name string, above []string) error {
	if slices.Contains(above, name) {
		return malformed("group %s would be in itself: %s", name, strings.Join(append(above, name), " > "))
	}
	if w.found[name] != nil {
		return nil
	}
	g := w.all[name]
	if g == nil {
		return malformed("there is no group %s, and group %s names it", name, above[len(above)-1])
	}
	people, depth := map[string]bool{}, 1
	for _, m := range g.Members {
		switch {
		case m.Kind == Person && m.concrete():
			people[m.ID] = true
		case m.Kind == GroupOf && g.Name != Owners:
			if err := w.into(m.ID, append(slices.Clip(above), name)); err != nil {
				return err
			}
			depth = max(depth, 1+w.depth[m.ID])
			for p := range w.found[m.ID] {
				people[p] = true
			}
		default:
			return malformed("%s cannot be in group %s: its members are people%s", m, g.Name, orGroups(g.Name))
		}
	}
	if depth > maxGroupDepth {
		return malformed("groups nest at most %d deep, and %s would be %d", maxGroupDepth, name, depth)
	}
	if w.size += len(people); w.size > maxResolved {
		return malformed("the groups are too large: counted through all that they nest, they have more than %d members", maxResolved)
	}
	w.found[name], w.depth[name] = people, depth
	return nil
}

func orGroups(name string) string {
	if name == Owners {
		return ""
	}
	return " and groups"
}

// names says whether a reference, as written in a grant or among approvers, speaks of the actor q: by itself, by its kind, or by a group.
func (g groups) names(p, q PrincipalRef) bool {
	if p.Kind == GroupOf {
		return q.Kind == Person && g.has(p.ID, q.ID)
	}
	return p.Matches(q)
}

// meet keeps whom both lists name. It is how two asks with different approvers become one.
func (g groups) meet(a, b []PrincipalRef) []PrincipalRef {
	switch { // nearly always nobody is named, on one side or both
	case len(a) == 1 && a[0] == anyPerson[0]:
		return b
	case len(b) == 1 && b[0] == anyPerson[0]:
		return a
	}
	var out []PrincipalRef
	add := func(p PrincipalRef) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, x := range a {
		for _, y := range b {
			switch {
			case x == y, g.names(x, y), y.Kind == GroupOf && x == anyPerson[0]:
				add(y)
			case g.names(y, x), x.Kind == GroupOf && y == anyPerson[0]:
				add(x)
			case x.Kind == GroupOf && y.Kind == GroupOf:
				for _, person := range sortedKeys(g.in[x.ID]) {
					if g.has(y.ID, person) {
						add(PrincipalRef{Kind: Person, ID: person})
					}
				}
			}
		}
	}
	return out
}

func sortedKeys(set map[string]bool) (out []string) {
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// Names says whether a reference, as written in a grant, speaks of an actor: by itself, by its kind, or by a group.
func (c *Compiled) Names(p, q PrincipalRef) bool { return c != nil && c.groups.names(p, q) }

// RuleOf is a rule that speaks of a group or lets it answer; "" where none does.
func (c *Compiled) RuleOf(group string) string {
	ref := PrincipalRef{Kind: GroupOf, ID: group}
	for _, r := range c.rules {
		if slices.Contains(r.approvers, ref) || slices.Contains(r.entities, uid(ref)) {
			return r.id
		}
	}
	return ""
}

// Approves says whether a list of approvers, as kind:name, names a person.
func (c *Compiled) Approves(approvers []string, person string) bool {
	return slices.ContainsFunc(approvers, func(s string) bool {
		p, err := ParsePrincipal(s)
		return err == nil && c.Names(p, PrincipalRef{Kind: Person, ID: person})
	})
}

// Lacks is the first group that does not exist, of those that are named; "" where all do.
func (c *Compiled) Lacks(refs ...PrincipalRef) string {
	for _, p := range refs {
		if p.Kind == GroupOf && c.groups.in[p.ID] == nil {
			return p.ID
		}
	}
	return ""
}

// RulesLack is the first group that a rule names and that does not exist.
func (c *Compiled) RulesLack() string {
	for _, r := range c.rules {
		refs := r.approvers
		for _, e := range r.entities {
			refs = append(slices.Clip(refs), PrincipalRef{Kind: principalOf(e.Type), ID: string(e.ID)})
		}
		if name := c.Lacks(refs...); name != "" {
			return name
		}
	}
	return ""
}

// People are those in a group, by name.
func (c *Compiled) People(group string) []string {
	if c == nil {
		return nil
	}
	return sortedKeys(c.groups.in[group])
}
