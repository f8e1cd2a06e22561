package policy

import (
	"slices"

	"tandem/internal/spelling"
)

// Source is what a tenant's policy is written as: grants as rows, rules as Cedar text, which data lies where, and what may pass.
type Source struct {
	Tenant   string
	Version  int64
	Grants   []ScopedGrant
	Rules    string
	Labels   []Label
	Boundary DataBoundary
	// Groups are the people under one name; the owners are always among them.
	Groups []Group
}

// Compiled is a tenant's policy, checked and ready. What it answers never changes, and it may be shared. The zero Compiled
// refuses.
type Compiled struct {
	tenant  string
	version int64
	held
	written
	views views
}

// written is what a policy says beside its grants.
type written struct {
	rules    []*rule
	labels   []Label
	lows     []string // the labels' paths, folded
	boundary DataBoundary
	// reads are the attributes that any rule reads; others need not be made.
	reads  map[string]bool
	groups groups
}

// Compile checks everything at once. On error there is no policy, and without a policy everything is refused.
func Compile(src Source) (*Compiled, error) {
	return (&Compiled{tenant: src.Tenant}).Changed(Change{Version: src.Version, Given: src.Grants, Written: &src})
}

// Change is what became different from one version of a policy to another.
type Change struct {
	Version   int64
	Given     []ScopedGrant
	TakenBack []string
	// Written is what stands beside the grants now, nil where that stayed; its own grants are not read.
	Written *Source
}

// Changed is the policy after a change. It costs what the change does, not what the policy is: the two share the rest. What is
// answered is what Compile would make of it all.
func (c *Compiled) Changed(to Change) (*Compiled, error) {
	if c.tenant == "" {
		return nil, malformed("a policy belongs to a tenant")
	}
	next := &Compiled{tenant: c.tenant, version: to.Version, written: c.written}
	if to.Written != nil {
		var err error
		if next.written, err = to.Written.compile(); err != nil {
			return nil, err
		}
	}
	h := c.held.edit(c.tenant, next.groups)
	h.relink = to.Written != nil && len(c.passed) > 0 // who is in a group may have passed something on
	for _, id := range to.TakenBack {
		h.takeBack(id)
	}
	for _, g := range to.Given {
		if err := h.give(g); err != nil {
			return nil, err
		}
	}
	var err error
	next.held, err = h.done()
	return next, err
}

func (src *Source) compile() (w written, err error) {
	if err := src.Boundary.check(); err != nil {
		return w, err
	}
	if err := checkLabels(src.Labels, src.Tenant); err != nil {
		return w, err
	}
	w = written{boundary: src.Boundary, labels: slices.Clone(src.Labels), reads: map[string]bool{}}
	for _, l := range w.labels {
		w.lows = append(w.lows, spelling.Folded(l.Resource.Path))
	}
	if w.groups, err = resolve(src.Groups); err != nil {
		return w, err
	}
	if w.rules, err = compileRules(src.Rules); err != nil {
		return w, err
	}
	for _, r := range w.rules {
		for _, name := range r.reads {
			w.reads[name] = true
		}
	}
	return w, nil
}

// Version is the version the policy was compiled from.
func (c *Compiled) Version() int64 {
	if c == nil {
		return 0
	}
	return c.version
}

// Dead lists the grants that can never give anything, with the reason. It is not to be changed.
func (c *Compiled) Dead() map[string]string {
	if c == nil {
		return nil
	}
	return c.dead
}

// Rules is how many rules the policy has.
func (c *Compiled) Rules() int {
	if c == nil {
		return 0
	}
	return len(c.rules)
}

// Grants is how many grants the policy has.
func (c *Compiled) Grants() int {
	if c == nil {
		return 0
	}
	return c.count
}

// Grant is one of the policy's grants, nil where there is none of that id. It is not to be changed.
func (c *Compiled) Grant(id string) *ScopedGrant {
	if g := c.byID.get(id); g != nil {
		return g.ScopedGrant
	}
	return nil
}
