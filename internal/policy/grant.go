package policy

import (
	"slices"
	"strings"
	"time"

	"tandem/internal/spelling"
)

// ScopedGrant says what a principal may do to a tree of resources, with which tools, to which data, and until when. A grant
// that gives and names no data class covers the everyday ones (Everyday); one that denies and names none covers all of it.
type ScopedGrant struct {
	ID           string             `json:"grant_id"`
	Principal    PrincipalRef       `json:"principal"`
	Scope        ResourceScope      `json:"resource"`
	Effect       Effect             `json:"effect"`
	Permissions  []AccessPermission `json:"permissions"`
	DataClasses  []DataClass        `json:"data_classes,omitempty"`
	ToolPatterns []string           `json:"tool_patterns,omitempty"`
	// Approvers are the persons who may answer when the effect is ask; none named means any person who may decide.
	Approvers []PrincipalRef `json:"approvers,omitempty"`
	Source    GrantSource    `json:"grant_source"`
	// SourcePrincipal is who gave the grant. A delegation needs one, and it must hold the parent.
	SourcePrincipal *PrincipalRef `json:"source_principal,omitempty"`
	// ExpiresAt ends the grant; zero is no end.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// DelegationID is the grant this one was made from.
	DelegationID string `json:"delegation_id,omitempty"`
	// Redelegate is how many times in a row the grant may be passed on.
	Redelegate int    `json:"redelegate,omitempty"`
	Note       string `json:"note,omitempty"`
}

// Check refuses a grant that does not say clearly what it covers.
func (g *ScopedGrant) Check(tenant string) error {
	_, err := compileGrant(g, tenant)
	return err
}

// grant is a ScopedGrant ready to be matched.
type grant struct {
	*ScopedGrant
	perms bits
	named bits // perms without the view that each permission brings along
	kinds uint64
	by    string
	only  []glob
	// low and lowOnly are the root and the globs for folded paths; see spelled.go.
	low     string
	lowOnly []glob
	// argBound marks a denial that depends on a call's arguments alone: a mask, which knows none, passes it by.
	argBound bool
	tools    []toolPattern
	tier     int
	parent   *grant
	// blockers are the denials of who passed the grant on: nobody passes on what he is denied.
	blockers []*grant
	dead     string
	place    int // among all grants, in the order in which they were given
}

func compileGrant(g *ScopedGrant, tenant string) (*grant, error) {
	fail := func(format string, args ...any) (*grant, error) {
		return nil, malformed("grant "+g.ID+": "+format, args...)
	}
	if g.ID == "" || hasControl(g.ID) {
		return nil, malformed("a grant needs an id")
	}
	known := knownPrincipal[g.Principal.Kind] || g.Principal.Kind == GroupOf && g.Principal.ID != "*"
	if g.Principal.Kind != "*" && (!known || g.Principal.ID == "") {
		return fail("principal %q is not known", g.Principal)
	}
	if err := g.Scope.check(tenant); err != nil {
		return fail("%v", err)
	}
	c := &grant{ScopedGrant: g, tier: tierOf(g.Source), kinds: kindMask(g.Scope.Root.Kind), by: "grant:" + g.ID,
		low: spelling.Folded(g.Scope.Root.Path)}
	if c.tier < 0 {
		return fail("source %q is not one of direct, delegation, default, fallback", g.Source)
	}
	if g.Effect > Allow {
		return fail("the effect is not one of allow, ask, deny")
	}
	if len(g.Permissions) == 0 {
		return fail("it names no permission")
	}
	for _, p := range g.Permissions {
		b := bit(p)
		if b == 0 {
			return fail("there is no permission called %q, only view, read, edit, execute, delegate and admin", p)
		}
		c.perms |= b
	}
	c.named = c.perms
	if g.Effect != Deny {
		c.perms |= bit(CanView)
	} else if c.perms&bit(CanView) != 0 {
		c.perms = ^bits(0) // what may not be seen may not be touched either
	}
	if err := checkClasses(g.DataClasses); err != nil {
		return fail("%v", err)
	}
	for _, s := range g.ToolPatterns {
		t, err := parseTool(s)
		if err != nil {
			return fail("%v", err)
		}
		c.tools = append(c.tools, t)
		c.argBound = t.bound() && (c.argBound || len(c.tools) == 1)
	}
	for _, p := range g.Scope.Only {
		c.only = append(c.only, newGlob(p))
		c.lowOnly = append(c.lowOnly, newSpelledGlob(p))
	}
	if err := checkApprovers(g.Approvers); err != nil {
		return fail("%v", err)
	}
	if (g.Source == Delegation) != (g.DelegationID != "") {
		return fail("a delegation names the grant it comes from, and only a delegation does")
	}
	if g.Source == Delegation && (g.SourcePrincipal == nil || !g.SourcePrincipal.concrete() || g.Effect == Deny) {
		return fail("a delegation allows or asks, and names who passes it on")
	}
	if g.Redelegate < 0 {
		return fail("redelegate %d is negative", g.Redelegate)
	}
	return c, nil
}

func checkApprovers(list []PrincipalRef) error {
	for _, p := range list {
		if p.Kind != Person && (p.Kind != GroupOf || p.ID == "*") || p.ID == "" {
			return malformed("approver %q is neither a person nor a group", p)
		}
	}
	return nil
}

// covers says whether the grant speaks of the question. A grant that gives must surely cover it; one that denies covers it
// when it might, by any spelling.
func (g *grant) covers(q *question) bool { return g.coversBy(q, g.Effect == Deny) }

// coversBy is covers by any spelling of a file's path, or by the one that it names.
func (g *grant) coversBy(q *question, wide bool) bool {
	if g.dead != "" || g.perms&q.bit == 0 || g.kinds&q.kind == 0 || (q.mask && g.argBound && g.Effect == Deny) {
		return false
	}
	if !g.ExpiresAt.IsZero() && !q.now.Before(g.ExpiresAt) {
		return false
	}
	if g.Scope.Own && !strings.Contains(q.Resource.Of, Belongs(q.self.String())) {
		return false
	}
	if !g.holds(q, wide) || !g.coversPath(q, wide) || !g.coversClass(q) || !g.coversTool(q, wide) {
		return false
	}
	for _, b := range g.blockers {
		if b.covers(q) {
			return false
		}
	}
	return g.parent == nil || g.parent.coversBy(q, wide)
}

func (g *grant) holds(q *question, wide bool) bool {
	if wide && q.Resource.Kind == KindFolder {
		return g.Scope.holdsAt(below(g.low, q.lowPath()), q.Resource, below)
	}
	return g.Scope.holds(q.Resource)
}

func (g *grant) coversPath(q *question, wide bool) bool {
	if len(g.only) == 0 {
		return true
	}
	if wide && q.Resource.Kind == KindFolder {
		if q.lowParts == nil {
			q.lowParts = components(q.lowPath())
		}
		return slices.ContainsFunc(g.lowOnly, func(o glob) bool { return o.fits(q.lowParts) })
	}
	if q.parts == nil {
		q.parts = components(q.Resource.Path)
	}
	for _, o := range g.only {
		if o.fits(q.parts) {
			return true
		}
	}
	return false
}

func (g *grant) coversClass(q *question) bool {
	switch {
	case q.anyClass && g.Effect != Deny:
		return true // the call itself will show its data
	case q.anyClass:
		return len(g.DataClasses) == 0 || hasClass(g.DataClasses, AnyClass)
	case len(g.DataClasses) == 0:
		return g.Effect == Deny || q.Class.everyday()
	}
	return hasClass(g.DataClasses, q.Class)
}

func (g *grant) coversTool(q *question, wide bool) bool {
	if len(g.tools) == 0 {
		return true
	}
	if q.tool == "" {
		return q.mask && g.Effect != Deny // by some tool, perhaps
	}
	for i := range g.tools {
		t := &g.tools[i]
		if !t.names(q.tool, g.Effect != Allow) {
			continue
		}
		switch {
		case q.mask && (g.Effect != Deny || !t.bound()):
			return true // the call itself will show its arguments
		case q.mask: // a denial of some arguments hides nothing
		case g.Effect == Deny && t.touched(q.Facts) != not, g.Effect != Deny && t.surely(q.Facts, wide):
			return true
		}
	}
	return false
}

// doubtful says that a denial covers the question only because nobody knows what the call touches.
func (g *grant) doubtful(q *question) bool {
	if len(g.tools) == 0 {
		return false
	}
	for i := range g.tools {
		if t := &g.tools[i]; t.names(q.tool, g.Effect != Allow) && t.touched(q.Facts) == certain {
			return false
		}
	}
	return true
}

// gives is the grant's effect, narrowed by every grant above it. Who may do something after an ask may see it without one.
func (g *grant) gives(q *question) Effect {
	e := Allow
	for p := g; p != nil; p = p.parent {
		if p.Effect != Ask || p.named&q.bit != 0 {
			e = min(e, p.Effect)
		}
	}
	return e
}

// answerers are the grant's approvers, narrowed by those of every asking grant above it.
func (g *grant) answerers(in groups) []PrincipalRef {
	out := approversOf(g.Approvers)
	for p := g.parent; p != nil; p = p.parent {
		if p.Effect == Ask {
			out = in.meet(out, approversOf(p.Approvers))
		}
	}
	return out
}

var anyPerson = []PrincipalRef{{Kind: Person, ID: "*"}}

func approversOf(list []PrincipalRef) []PrincipalRef {
	if len(list) == 0 {
		return anyPerson
	}
	return list
}

var kindIndex = func() map[ResourceKind]uint64 {
	m := map[ResourceKind]uint64{AnyKind: ^uint64(0)}
	for i, k := range kinds {
		m[k] = 1 << i
	}
	return m
}()

func kindMask(k ResourceKind) uint64 { return kindIndex[k] }
