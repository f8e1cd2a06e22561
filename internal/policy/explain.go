package policy

// Step is one grant or rule that spoke during a decision.
type Step struct {
	Principal PrincipalRef `json:"principal"`
	By        string       `json:"by"`
	Effect    Effect       `json:"effect"`
	Note      string       `json:"note,omitempty"`
	// Group is the one that the grant names, where it speaks of the principal by a group.
	Group string `json:"group,omitempty"`
}

// Explain decides like Decide and also lists what spoke, in the order in which it was heard.
func (v *View) Explain(r Request) (Decision, []Step) {
	steps := []Step{}
	d := v.decide(&question{Request: r, trace: &steps})
	return d, steps
}

// heard notes a grant that spoke.
func (q *question) heard(m *member, g *grant, e Effect) {
	if q.note(m, g.by, e, g.Note); q.trace != nil && g.Principal.Kind == GroupOf {
		(*q.trace)[len(*q.trace)-1].Group = g.Principal.ID
	}
}

func (q *question) note(m *member, by string, e Effect, note string) {
	if q.trace != nil {
		*q.trace = append(*q.trace, Step{Principal: m.ref, By: by, Effect: e, Note: note})
	}
}
