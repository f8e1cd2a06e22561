package policy

import "slices"

// MayAny says whether there is any resource of a kind that the caller could use so, after an ask or without: whether an
// operation is worth showing before anybody has said on what.
func (v *View) MayAny(p AccessPermission, kind ResourceKind) bool {
	q := &question{Request: Request{Permission: p, Resource: ResourceRef{Kind: kind, Path: "/"}}, mask: true}
	if v == nil || len(v.members) == 0 {
		return false
	}
	presence, refusal := v.complete(q)
	if refusal != nil || !v.reachable(q) || (presence && v.ctx.Principal.Kind != Person) {
		return false
	}
	for i := range v.members {
		if !v.members[i].any(q) {
			return false
		}
	}
	for i := range v.prompters {
		if v.prompters[i].none(q) {
			return false
		}
	}
	return !slices.ContainsFunc(v.narrowed, func(n *Narrowed) bool { return !n.any(q) })
}

// reachable is the ceiling without its places.
func (v *View) reachable(q *question) bool {
	if v.ctx.Ceiling == nil {
		return true
	}
	for _, r := range v.ceiling {
		if r.kinds&q.kind != 0 && r.perms&q.bit != 0 {
			return true
		}
	}
	return false
}

func (m *member) any(q *question) bool {
	if m.none(q) {
		return false
	}
	in := m.drawer(q)
	for _, tier := range in.gives {
		for _, g := range tier {
			if g.perms&q.bit != 0 && g.live(q) {
				return true
			}
		}
	}
	for _, r := range in.permits {
		if r.actions&q.bit != 0 {
			return true
		}
	}
	return false
}

// none says that all of the kind is denied.
func (m *member) none(q *question) bool {
	return slices.ContainsFunc(m.drawer(q).denies, func(g *grant) bool { return g.whole() && g.covers(q) })
}

// whole says that the grant speaks of everything of its kind, whatever the data, the tool or the place.
func (g *grant) whole() bool {
	s := &g.Scope
	return s.Root.Path == "/" && s.MaxDepth == nil && len(s.Only)+len(s.Denied)+len(g.tools)+len(g.DataClasses) == 0
}

func (g *grant) live(q *question) bool {
	for ; g != nil; g = g.parent {
		if !g.ExpiresAt.IsZero() && !q.now.Before(g.ExpiresAt) {
			return false
		}
	}
	return true
}
