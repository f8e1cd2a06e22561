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
	tenant   string
	version  int64
	grants   []*grant
	dead     map[string]string // the grants that can never give anything, with the reason
	rules    []*rule
	labels   []Label
	lows     []string // the labels' paths, folded
	boundary DataBoundary
	// reads are the attributes that any rule reads; others need not be made.
	reads  map[string]bool
	groups groups
	views  views
}

// Compile checks everything at once. On error there is no policy, and without a policy everything is refused.
func Compile(src Source) (*Compiled, error) {
	if src.Tenant == "" {
		return nil, malformed("a policy belongs to a tenant")
	}
	if err := src.Boundary.check(); err != nil {
		return nil, err
	}
	if err := checkLabels(src.Labels, src.Tenant); err != nil {
		return nil, err
	}
	c := &Compiled{tenant: src.Tenant, version: src.Version, boundary: src.Boundary, labels: slices.Clone(src.Labels)}
	for _, l := range c.labels {
		c.lows = append(c.lows, spelling.Folded(l.Resource.Path))
	}
	var err error
	if c.groups, err = resolve(src.Groups); err != nil {
		return nil, err
	}
	for _, g := range slices.Clone(src.Grants) {
		compiled, err := compileGrant(&g, src.Tenant)
		if err != nil {
			return nil, err
		}
		compiled.groups = c.groups
		c.grants = append(c.grants, compiled)
	}
	if err := link(c.grants); err != nil {
		return nil, err
	}
	c.dead = map[string]string{}
	for _, g := range c.grants {
		if g.dead != "" {
			c.dead[g.ID] = g.dead
		}
	}
	if c.rules, err = compileRules(src.Rules); err != nil {
		return nil, err
	}
	c.reads = map[string]bool{}
	for _, r := range c.rules {
		for _, name := range r.reads {
			c.reads[name] = true
		}
	}
	return c, nil
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
