package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
)

// ByAssertion is the sort of thing in a caller's chain that is nobody: a signed assertion, named by what it narrows the caller to. Whoever
// keeps the chain keeps the narrowing with it, so that nothing which the caller begins reaches further.
const ByAssertion PrincipalKind = "assertion"

// Narrowing is the most that a request may do by the assertion that let it in, whatever the person may whom that names. It only takes away.
type Narrowing struct {
	// Places are where; none is every place.
	Places []ResourceScope `json:"places,omitempty"`
	// Grants are all that it gives; none is all that the person has. What none of them gives is not given.
	Grants []ScopedGrant `json:"grants,omitempty"`
	// Boundary is which data may pass.
	Boundary DataBoundary `json:"boundary,omitzero"`
}

// Text is the narrowing as it is kept, and how a chain names it: by a digest of that text.
func (n *Narrowing) Text() (text string, by PrincipalRef) {
	raw, err := json.Marshal(n)
	if err != nil { // it was checked, and holds nothing that cannot be written
		return "", PrincipalRef{}
	}
	return string(raw), narrowedBy(string(raw))
}

func narrowedBy(text string) PrincipalRef {
	sum := sha256.Sum256([]byte(text))
	return PrincipalRef{ByAssertion, hex.EncodeToString(sum[:16])}
}

// Check refuses a narrowing that does not say clearly what it leaves.
func (n *Narrowing) Check(tenant string) error {
	_, err := n.compile(tenant)
	return err
}

// Narrowed is a narrowing ready to be asked.
type Narrowed struct {
	Narrowing
	by       PrincipalRef
	places   []*grant
	denies   []*grant
	gives    []*grant
	granted  bool
	boundary DataBoundary
}

// ReadNarrowing reads the text that a chain names, and refuses any other text.
func ReadNarrowing(tenant string, by PrincipalRef, text string) (*Narrowed, error) {
	if narrowedBy(text) != by {
		return nil, errors.New("what narrows the caller was changed")
	}
	var n Narrowing
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&n); err != nil {
		return nil, err
	}
	return n.compile(tenant)
}

func (n *Narrowing) compile(tenant string) (*Narrowed, error) {
	_, by := n.Text()
	out := &Narrowed{Narrowing: *n, by: by, boundary: n.Boundary, granted: len(n.Grants) > 0}
	if err := n.Boundary.check(); err != nil {
		return nil, err
	}
	for _, s := range n.Places {
		g, err := compileGrant(&ScopedGrant{ID: "place", Principal: PrincipalRef{"*", "*"}, Scope: s, Effect: Allow, Source: Direct,
			Permissions: permissions, DataClasses: []DataClass{AnyClass}}, tenant)
		if err != nil {
			return nil, err
		}
		out.places = append(out.places, g)
	}
	if len(n.Places) > 0 { // what all of them leave out is denied wherever it has another name
		first := n.Places[0].Denied
		if slices.ContainsFunc(n.Places, func(s ResourceScope) bool { return !slices.Equal(s.Denied, first) }) {
			return nil, errors.New("places that leave out different things are not kept to")
		}
		for i, r := range first {
			g, err := compileGrant(&ScopedGrant{ID: "hole" + strconv.Itoa(i), Principal: PrincipalRef{"*", "*"}, Effect: Deny, Source: Direct,
				Scope: ResourceScope{Root: r}, Permissions: []AccessPermission{CanView}}, tenant)
			if err != nil {
				return nil, err
			}
			out.denies = append(out.denies, g)
		}
	}
	for i := range n.Grants {
		g, err := compileGrant(&n.Grants[i], tenant)
		if err != nil {
			return nil, err
		}
		if g.Effect == Deny {
			out.denies = append(out.denies, g)
		} else {
			out.gives = append(out.gives, g)
		}
	}
	return out, nil
}

// objects is what the narrowing says against a question that the caller itself may do; false where it says nothing.
func (n *Narrowed) objects(q *question, self PrincipalRef) (Decision, bool) {
	q.self = self
	covers := func(g *grant) bool { return g.covers(q) }
	over := func(code, format string, args ...any) (Decision, bool) {
		d := no(code, format, args...)
		d.By = n.by.String()
		return d, true
	}
	switch {
	case !n.boundary.Admits(q.Class): // also of a list: what a label would say of each thing is known
		return over(CodeNarrowed, "%s data does not pass by the assertion", q.Class)
	case slices.ContainsFunc(n.denies, covers):
		return over(CodeNarrowed, "the assertion denies it")
	case len(n.places) > 0 && !slices.ContainsFunc(n.places, covers):
		return over(CodeBeyond, "the assertion does not reach that far")
	case !n.granted:
		return Decision{}, false
	}
	given, asks := false, Decision{}
	for _, g := range n.gives {
		switch {
		case g.gives(q) == Ask && (g.covers(q) || g.coversBy(q, true)): // of two spellings the one that asks counts
			if given = given || g.covers(q); asks.Effect == Ask { // each of them is to be answered
				asks = asks.joined(q.groups, g.asks(q))
			} else {
				asks = g.asks(q)
			}
			asks.By = n.by.String()
		case g.covers(q):
			given = true
		}
	}
	if !given {
		return over(CodeBeyond, "no grant of the assertion gives it")
	}
	return asks, asks.Effect == Ask
}

// narrow is an answer after all that narrows the caller.
func (v *View) narrow(q *question, d Decision) Decision {
	for _, n := range v.narrowed {
		if d.Effect == Deny {
			return d
		}
		against, spoken := n.objects(q, v.ctx.Principal)
		switch {
		case !spoken:
		case against.Effect == Ask && d.Effect == Ask:
			d = d.joined(q.groups, against)
		default:
			d = against
		}
	}
	return d
}

// asked is what its grants that ask need, all of them: whoever comes from one of many files does not know which it was.
func (n *Narrowed) asked(in groups) (d Decision) {
	for _, g := range n.gives {
		switch one := (Decision{Effect: Ask, Approvers: g.answerers(in)}); {
		case g.Effect != Ask:
		case d.Effect != Ask:
			d = one
		default:
			d = d.joined(in, one)
		}
	}
	return d
}

// within are all grants of a narrowing, for whoever looks where it may change an answer.
func (n *Narrowed) within() []*grant { return slices.Concat(n.places, n.denies, n.gives) }

// any says whether something of a kind is left.
func (n *Narrowed) any(q *question) bool {
	fits := func(g *grant) bool { return g.perms&q.bit != 0 && g.kinds&q.kind != 0 && g.live(q) }
	return (len(n.places) == 0 || slices.ContainsFunc(n.places, fits)) && (!n.granted || slices.ContainsFunc(n.gives, fits))
}

// narrowings resolves the names in the chains of a caller. One that is named and not known leaves nothing.
func (ctx *StrictTenantContext) narrowings() (out []*Narrowed, known bool) {
	for _, chain := range append(slices.Clip(ctx.Prompters), ctx.AuthorityChain) {
		for _, p := range chain {
			if p.Kind != ByAssertion || slices.ContainsFunc(out, func(n *Narrowed) bool { return n.by == p }) {
				continue
			}
			i := slices.IndexFunc(ctx.Narrowed, func(n *Narrowed) bool { return n.by == p })
			if i < 0 {
				return nil, false
			}
			out = append(out, ctx.Narrowed[i])
		}
	}
	return out, true
}

// Actors are those of a chain who are somebody.
func Actors(chain []PrincipalRef) []PrincipalRef {
	if !slices.ContainsFunc(chain, isNarrowing) {
		return chain
	}
	return slices.DeleteFunc(slices.Clone(chain), isNarrowing)
}

func isNarrowing(p PrincipalRef) bool { return p.Kind == ByAssertion }
