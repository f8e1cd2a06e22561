package policy

// link ties each grant that was passed on to its parent and finds the ones that are dead: their parent is gone, denies, may not be
// passed on, was not held by who passed it on, or is dead itself. A circle of delegations is an error.
func link(passed []*grant, in *holding) error {
	const walking, done = 1, 2
	state := make(map[*grant]int, len(passed))
	denials := map[PrincipalRef][]*grant{}
	var walk func(g *grant) error
	walk = func(g *grant) error {
		if g.DelegationID == "" || state[g] == done {
			return nil
		}
		if state[g] == walking {
			return malformed("grant %s is delegated from itself", g.ID)
		}
		state[g] = walking
		if p := in.byID.get(g.DelegationID); p == nil {
			g.dead = "the grant it was passed on from, " + g.DelegationID + ", is gone"
		} else {
			if err := walk(p); err != nil {
				return err
			}
			g.parent = p
			g.dead = whyDead(p, g, in.groups)
			by := *g.SourcePrincipal
			if _, known := denials[by]; !known {
				denials[by] = in.denials(by)
			}
			g.blockers = denials[by]
		}
		state[g] = done
		return nil
	}
	for _, g := range passed {
		if err := walk(g); err != nil {
			return err
		}
	}
	return nil
}

func whyDead(p, g *grant, in groups) string {
	switch {
	case p.dead != "":
		return "the grant it was passed on from, " + p.ID + ", is dead: " + p.dead
	case p.Effect == Deny:
		return "the grant it was passed on from, " + p.ID + ", denies"
	case p.perms&bit(CanDelegate) == 0 || p.Redelegate < 1:
		return "the grant it was passed on from, " + p.ID + ", may not be passed on"
	case g.Redelegate >= p.Redelegate:
		return "it may be passed on more often than its parent " + p.ID
	case !in.names(p.Principal, *g.SourcePrincipal):
		return g.SourcePrincipal.String() + " does not hold " + p.ID
	}
	return ""
}

// CheckDelegation says why child may not be made from parent, before it is stored. Whatever it lets through is still held
// to the parent at every decision; this gives the person who grants a clear answer instead of a grant that does nothing.
func CheckDelegation(parent, child *ScopedGrant, tenant string, in []Group) error {
	p, err := compileGrant(parent, tenant)
	if err != nil {
		return err
	}
	c, err := compileGrant(child, tenant)
	if err != nil {
		return err
	}
	groups, err := resolve(in)
	if err != nil {
		return err
	}
	if child.DelegationID != parent.ID {
		return malformed("grant %s is not passed on from %s", child.ID, parent.ID)
	}
	if why := whyDead(p, c, groups); why != "" {
		return malformed("grant %s: %s", child.ID, why)
	}
	switch {
	case c.perms&^p.perms != 0:
		return malformed("grant %s: its permissions exceed those of %s", child.ID, parent.ID)
	case c.Effect > p.Effect:
		return malformed("grant %s: it allows where %s asks", child.ID, parent.ID)
	case !p.Scope.Covers(c.Scope.Root):
		return malformed("grant %s: %s lies outside %s", child.ID, child.Scope.Root, parent.Scope.Root)
	case !p.ExpiresAt.IsZero() && (c.ExpiresAt.IsZero() || c.ExpiresAt.After(p.ExpiresAt)):
		return malformed("grant %s: it outlives %s", child.ID, parent.ID)
	}
	for _, class := range child.DataClasses {
		if !p.coversClass(&question{Request: Request{Class: class}}) {
			return malformed("grant %s: %s does not cover %s data", child.ID, parent.ID, class)
		}
	}
	return nil
}
