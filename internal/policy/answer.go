package policy

import (
	"slices"
	"strings"
)

// Ways in which a person proves to be here, as a rule may ask for one.
var presences = []string{"pin", "passkey", "device"}

// Needs is what an ask needs beside somebody who may answer it. Asks that meet need all that each of them needs.
type Needs struct {
	// Two says that two different people have to agree: the rule calls it critical.
	Two bool `json:"two_people,omitempty" jsonschema:"two different people have to approve it"`
	// Presence is how they have to prove that they are here; empty is any way.
	Presence []string `json:"presence,omitempty" jsonschema:"how who answers must prove to be here: pin, passkey or device; any way when left out"`
	// Others says that nobody answers for whom the asker acts.
	Others bool `json:"others,omitempty" jsonschema:"somebody else has to answer than the person for whom it is asked"`
}

// join is what both need; ok is false where no way of being here is left that both take.
func (n Needs) join(o Needs) (out Needs, ok bool) {
	out = Needs{Two: n.Two || o.Two, Others: n.Others || o.Others, Presence: n.Presence}
	switch {
	case len(n.Presence) == 0:
		out.Presence = o.Presence
	case len(o.Presence) > 0:
		out.Presence = nil
		for _, p := range n.Presence {
			if slices.Contains(o.Presence, p) {
				out.Presence = append(out.Presence, p)
			}
		}
		return out, len(out.Presence) > 0
	}
	return out, true
}

// joined is one ask out of two: whom both name, with all that either needs.
func (d Decision) joined(g groups, o Decision) Decision {
	var ok bool
	if d.Approvers = g.meet(d.Approvers, o.Approvers); len(d.Approvers) == 0 {
		return d
	}
	if d.Needs, ok = d.Needs.join(o.Needs); !ok {
		d.Approvers = nil
	}
	return d
}

// Both is the narrower of two answers to one call; of two asks, what both need.
func (v *View) Both(a, b Decision) Decision {
	switch {
	case b.Effect < a.Effect:
		return b
	case a.Effect != Ask || b.Effect != Ask || v.policy == nil:
		return a
	}
	if a = a.joined(v.policy.groups, b); len(a.Approvers) == 0 {
		return nobody(a)
	}
	return a
}

// Asked is what the grant or rule of that name asks for, by whatever way a call came to it.
func (v *View) Asked(by string) Decision {
	d := Decision{Effect: Ask, Code: CodeAsk, By: by, Approvers: anyPerson}
	if v.policy == nil {
		return d
	}
	for _, r := range v.policy.rules {
		if "rule:"+r.id == by {
			return r.asks()
		}
	}
	if id, is := strings.CutPrefix(by, "grant:"); is {
		if g := v.policy.byID.get(id); g != nil {
			d.Approvers = g.answerers(v.policy.groups)
		}
	}
	for _, n := range v.narrowed {
		if asked := n.asked(v.policy.groups); n.by.String() == by && asked.Effect == Ask {
			d.Approvers, d.Needs = asked.Approvers, asked.Needs
		}
	}
	if len(d.Approvers) == 0 {
		return nobody(d)
	}
	return d
}

func nobody(d Decision) Decision {
	return Decision{Code: CodeNobody, By: d.By, Reason: "an approval is needed, and nobody may give it"}
}
