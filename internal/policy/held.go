package policy

import (
	"cmp"
	"slices"
)

// held are the grants of a policy, found by their ids and by whom they name. It never changes; the next one shares what stays.
type held struct {
	byID   shared[*grant]
	byWho  shared[[]*grant] // by the principal as the grant writes it: person:ann, agent:*, group:seniors, *
	passed []string         // the ids of those that were passed on from others
	dead   map[string]string
	last   int // the place of the newest
	count  int
}

// holding is the next held while it is made.
type holding struct {
	tenant string
	groups groups
	byID   *sharedEdit[*grant]
	byWho  *sharedEdit[[]*grant]
	mine   map[string]bool // the lists of byWho, and with "" that of passed, which nobody else has yet
	out    held
	relink bool // something became different on which those that were passed on hang
}

func (h held) edit(tenant string, in groups) *holding {
	return &holding{tenant: tenant, groups: in, byID: h.byID.edit(), byWho: h.byWho.edit(), mine: map[string]bool{}, out: h}
}

// give adds a grant behind all others.
func (h *holding) give(g ScopedGrant) error {
	c, err := compileGrant(&g, h.tenant)
	if err != nil {
		return err
	}
	if h.byID.get(g.ID) != nil {
		return malformed("grant %s is there twice", g.ID)
	}
	h.out.last++
	h.out.count++
	c.place = h.out.last
	h.byID.put(g.ID, c)
	who := g.Principal.String()
	h.byWho.put(who, more(h, who, h.byWho.get(who), c))
	if g.DelegationID != "" {
		h.out.passed = more(h, "", h.out.passed, g.ID)
	}
	h.touched(c)
	return nil
}

// more is a list with one more. A list that other versions share is copied once for all that comes to it in one change.
func more[E any](h *holding, name string, list []E, one E) []E {
	if !h.mine[name] {
		h.mine[name], list = true, slices.Clip(list)
	}
	return append(list, one)
}

// takeBack ends a grant. One that is not there has ended already.
func (h *holding) takeBack(id string) {
	c := h.byID.get(id)
	if c == nil {
		return
	}
	h.touched(c)
	h.out.count--
	h.byID.drop(id)
	who := c.Principal.String()
	h.byWho.put(who, without(h.byWho.get(who), func(g *grant) bool { return g.ID == id }))
	if c.DelegationID != "" {
		h.out.passed = without(h.out.passed, func(other string) bool { return other == id })
	}
}

func without[E any](list []E, gone func(E) bool) []E {
	return slices.DeleteFunc(slices.Clone(list), gone)
}

// touched says whether what was passed on has to be looked at again because of a grant: it is one of them, they come from it, or it
// denies, which may be to somebody who passed something on.
func (h *holding) touched(c *grant) {
	h.relink = h.relink || c.DelegationID != "" || len(h.out.passed) > 0 && (c.Effect == Deny ||
		slices.ContainsFunc(h.out.passed, func(id string) bool { return h.byID.get(id).DelegationID == c.ID }))
}

// done ties what was passed on to what it comes from, where that may have become different.
func (h *holding) done() (held, error) {
	if h.relink {
		if err := h.link(); err != nil {
			return held{}, err
		}
	}
	h.out.byID, h.out.byWho = h.byID.done(), h.byWho.done()
	return h.out, nil
}

// link ties anew whatever was passed on: what other versions have of it stays as it is.
func (h *holding) link() error {
	fresh := make([]*grant, 0, len(h.out.passed))
	whose := map[string]bool{}
	for _, id := range h.out.passed {
		c := *h.byID.get(id)
		c.parent, c.blockers, c.dead = nil, nil, ""
		h.byID.put(id, &c)
		fresh = append(fresh, &c)
		whose[c.Principal.String()] = true
	}
	for who := range whose {
		list := slices.Clone(h.byWho.get(who))
		for i, g := range list {
			list[i] = h.byID.get(g.ID)
		}
		h.byWho.put(who, list)
	}
	h.out.dead = map[string]string{}
	if err := link(fresh, h); err != nil {
		return err
	}
	for _, g := range fresh {
		if g.dead != "" {
			h.out.dead[g.ID] = g.dead
		}
	}
	return nil
}

// denials are those of an actor.
func (h *holding) denials(p PrincipalRef) []*grant {
	return without(naming(h.byWho.get, h.groups, p), func(g *grant) bool { return g.Effect != Deny })
}

// naming are the grants that name an actor: by itself, by its kind, by a group, or with everybody.
func naming(byWho func(string) []*grant, in groups, p PrincipalRef) []*grant {
	lists := [][]*grant{byWho("*"), byWho(string(p.Kind) + ":*"), byWho(p.String())}
	if p.Kind == Person {
		for _, g := range in.of[p.ID] {
			lists = append(lists, byWho(PrincipalRef{Kind: GroupOf, ID: g}.String()))
		}
	}
	return slices.Concat(lists...)
}

// inPlace puts grants into the order in which they were given, each once.
func inPlace(list []*grant) []*grant {
	slices.SortFunc(list, func(x, y *grant) int { return cmp.Compare(x.place, y.place) })
	return slices.Compact(list)
}
