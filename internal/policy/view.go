package policy

import (
	bitset "math/bits"
	"slices"
	"sync"
	"time"

	cedar "github.com/cedar-policy/cedar-go"
)

// StrictTenantContext is who calls, for whom, and within which limits of their credential.
type StrictTenantContext struct {
	Tenant    string
	Principal PrincipalRef
	// AuthorityChain is for whom the principal acts, nearest first.
	AuthorityChain []PrincipalRef
	// Prompters are those on whose words the principal acts, each with whom it acts for: their denials hold, too.
	Prompters [][]PrincipalRef
	// Narrowed are what the chains name by ByAssertion; where one is missing, nothing is left.
	Narrowed []*Narrowed
	// Ceiling limits a scoped credential; nil is no limit beyond the principal's own.
	Ceiling  *Ceiling
	Boundary DataBoundary
	// ExpiresAt ends the credential; zero is no end.
	ExpiresAt time.Time
}

// View is one caller's share of a policy. It is safe for use by many goroutines. The zero and the nil View refuse.
type View struct {
	ctx     StrictTenantContext
	policy  *Compiled
	now     time.Time
	until   time.Time
	ceiling []ceilingRight
	members []member
	// prompters bind by their denials alone.
	prompters []member
	// narrowed takes away from what all of them leave.
	narrowed []*Narrowed
	refusal  string
	mu       sync.RWMutex
	shown    map[masked]bool
	sights   map[string]*Sight
}

// member is one of the caller's chain, with the grants and rules that can speak of it in one drawer for each kind.
type member struct {
	ref     PrincipalRef
	uid     cedar.EntityUID
	parents cedar.EntityUIDSet
	drawers []drawer
}

type drawer struct {
	denies  []*grant
	gives   [tiers][]*grant
	forbids []*rule
	asks    []*rule
	permits []*rule
}

// drawer finds the one of the question's kind.
func (m *member) drawer(q *question) *drawer { return &m.drawers[bitset.TrailingZeros64(q.kind)] }

// View gives the answers for one caller, and keeps them for the caller's next request. A context that makes no sense gives a
// View that refuses and says why.
func (c *Compiled) View(ctx StrictTenantContext, now time.Time) *View {
	if c == nil || ctx.Ceiling != nil || !ctx.ExpiresAt.IsZero() || len(ctx.Boundary.Allowed)+len(ctx.Boundary.Denied) > 0 {
		return c.prepare(ctx, now) // a limited credential is rare, and its limits are part of the answer
	}
	key := ctx.key()
	if v := c.views.find(key, now); v != nil {
		return v
	}
	v := c.prepare(ctx, now)
	c.views.keep(key, v)
	return v
}

// views are the ones in use. Callers come and go, so when there are many all are forgotten.
type views struct {
	mu    sync.Mutex
	byKey map[string]*View
}

const maxViews = 1024

func (s *views) find(key string, now time.Time) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.byKey[key]
	if v == nil || now.Before(v.now) || (!v.until.IsZero() && !now.Before(v.until)) {
		return nil
	}
	return v
}

func (s *views) keep(key string, v *View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey == nil || len(s.byKey) >= maxViews {
		s.byKey = map[string]*View{}
	}
	s.byKey[key] = v
}

func (c *Compiled) prepare(ctx StrictTenantContext, now time.Time) *View {
	narrowed, known := ctx.narrowings()
	ctx.AuthorityChain, ctx.Prompters = Actors(ctx.AuthorityChain), slices.Clone(ctx.Prompters)
	for i, chain := range ctx.Prompters {
		ctx.Prompters[i] = Actors(chain)
	}
	v := &View{ctx: ctx, policy: c, now: now, narrowed: narrowed}
	switch {
	case c == nil || c.tenant == "":
		v.refusal = "no policy is loaded"
	case ctx.Tenant != c.tenant:
		v.refusal = "the caller belongs to another tenant"
	case ctx.Principal.Kind == Session && len(ctx.AuthorityChain) == 0:
		v.refusal = "a session acts for somebody, and this one names nobody"
	case !known:
		v.refusal = "what narrows the caller is not known here"
	case ctx.Boundary.check() != nil:
		v.refusal = ctx.Boundary.check().Error()
	}
	chain := append([]PrincipalRef{ctx.Principal}, ctx.AuthorityChain...)
	for _, p := range slices.Concat(append(slices.Clip(ctx.Prompters), chain)...) {
		if !p.concrete() && v.refusal == "" {
			v.refusal = "the caller " + p.String() + " is not an actor"
		}
	}
	if ctx.Ceiling != nil && v.refusal == "" {
		var err error
		if v.ceiling, err = ctx.Ceiling.compile(c.tenant); err != nil {
			v.refusal = err.Error()
		}
	}
	if v.refusal != "" {
		return v
	}
	for i, p := range chain {
		v.members = append(v.members, c.member(p, chain[i+1:]))
	}
	v.prompters = c.prompted(&ctx, chain)
	v.until = v.end()
	return v
}

func (c *Compiled) member(p PrincipalRef, chain []PrincipalRef) member {
	m := member{ref: p, uid: uid(p), drawers: make([]drawer, len(kinds))}
	above := c.above(p, chain)
	m.parents = cedar.NewEntityUIDSet(above...)
	for _, g := range c.speakOf(p, chain) {
		if g.dead == "" {
			m.file(g.kinds, func(d *drawer) {
				if g.Effect == Deny {
					d.denies = append(d.denies, g)
				} else {
					d.gives[g.tier] = append(d.gives[g.tier], g)
				}
			})
		}
	}
	for _, r := range c.rules {
		if r.speaksOf(p, above) {
			m.file(r.kinds, func(d *drawer) {
				switch {
				case r.forbid && r.ask:
					d.asks = append(d.asks, r)
				case r.forbid:
					d.forbids = append(d.forbids, r)
				default:
					d.permits = append(d.permits, r)
				}
			})
		}
	}
	return m
}

// above is what a member lies in, as rules see it: those it acts for, and the groups of the people among them.
func (c *Compiled) above(p PrincipalRef, chain []PrincipalRef) (out []cedar.EntityUID) {
	for i, a := range append([]PrincipalRef{p}, chain...) {
		if i > 0 {
			out = append(out, uid(a))
		}
		if a.Kind == Person {
			for _, g := range c.groups.of[a.ID] {
				out = append(out, uid(PrincipalRef{Kind: GroupOf, ID: g}))
			}
		}
	}
	return out
}

func (m *member) file(kinds uint64, put func(*drawer)) {
	for i := range m.drawers {
		if kinds&(1<<i) != 0 {
			put(&m.drawers[i])
		}
	}
}

// timedMask is how long a mask may lag behind a rule that speaks of the time.
const timedMask = 30 * time.Second

// speakOf are the grants that are the principal's. A session is its agent at work, so what people granted or denied the agent is its own;
// the house's defaults for sessions are narrower than those for agents.
func (c *Compiled) speakOf(p PrincipalRef, chain []PrincipalRef) []*grant {
	all := naming(c.byWho.get, c.groups, p)
	if p.Kind == Session && len(chain) > 0 && chain[0].Kind == Agent {
		all = append(all, without(naming(c.byWho.get, c.groups, chain[0]), func(g *grant) bool { return g.tier != 0 && g.Effect != Deny })...)
	}
	return inPlace(all)
}

// Until is when the earliest of the caller's grants or the credential ends; zero is never. A View kept longer still judges
// every request by its own time, but May answers as of when the View was made.
func (v *View) Until() time.Time {
	if v == nil {
		return time.Time{}
	}
	return v.until
}

func (v *View) end() time.Time {
	var end time.Time
	earlier := func(t time.Time) {
		if !t.IsZero() && t.After(v.now) && (end.IsZero() || t.Before(end)) {
			end = t
		}
	}
	earlier(v.ctx.ExpiresAt)
	for _, n := range v.narrowed {
		for _, g := range n.within() {
			earlier(g.ExpiresAt)
		}
	}
	for _, m := range slices.Concat(v.members, v.prompters) {
		for _, d := range m.drawers {
			for _, g := range slices.Concat(d.denies, d.gives[0], d.gives[1], d.gives[2]) {
				for ; g != nil; g = g.parent {
					earlier(g.ExpiresAt)
				}
			}
			for _, r := range slices.Concat(d.forbids, d.asks, d.permits) {
				if r.timed {
					earlier(v.now.Add(timedMask))
				}
			}
		}
	}
	return end
}

// May says whether the resource is worth showing to the caller: some request with this permission could be allowed, or be
// allowed after an ask. It is for masking lists; the act itself is decided by Decide.
//
// The answer is kept: the same lists are shown again and again, and a View does not change.
func (v *View) May(p AccessPermission, r ResourceRef) bool {
	if v == nil {
		return false
	}
	key := masked{p, r}
	v.mu.RLock()
	may, known := v.shown[key]
	v.mu.RUnlock()
	if known {
		return may
	}
	q := questions.Get().(*question)
	*q = question{Request: Request{Permission: p, Resource: r}, mask: true}
	may = v.decide(q).Effect != Deny
	questions.Put(q)
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.shown) < maxKept {
		if v.shown == nil {
			v.shown = map[masked]bool{}
		}
		v.shown[key] = may
	}
	return may
}

// Allows says whether a request with this permission is allowed without an ask.
func (v *View) Allows(p AccessPermission, r ResourceRef) bool {
	return v.Decide(Request{Permission: p, Resource: r}).Effect == Allow
}

// questions are used again: a mask asks by the thousand.
var questions = sync.Pool{New: func() any { return new(question) }}

type masked struct {
	permission AccessPermission
	resource   ResourceRef
}

// maxKept bounds the memory of a View; what comes later is worked out each time.
const maxKept = 4096

// MayUse says whether a tool is worth showing.
func (v *View) MayUse(tool string) bool { return v.May(CanExecute, ToolRef(tool)) }
