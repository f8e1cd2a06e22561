package policy

import "slices"

// decide answers for one member of the caller's chain: steps 4 to 7 of the package comment.
func (m *member) decide(q *question) Decision {
	in := m.drawer(q)
	e := in.evaluation(q, m)
	no, spoken := m.denied(q, in, e)
	if spoken && no.Effect == Deny {
		return no
	}
	d := m.given(q, in, e)
	if spoken && d.Effect == Allow {
		q.note(m, no.By, Ask, no.note)
		d = no
	}
	if d.Effect == Deny || len(in.asks) == 0 {
		return d
	}
	said := d
	for rest := in.asks; ; { // all that ask have to be content; the first says why
		r, failed := e.first(rest)
		switch {
		case r == nil:
			return said
		case failed != "" && r.callBound && q.Facts != nil && q.Facts.Opaque: // it asks, as it would if it were so
		case failed != "":
			return Decision{Code: CodeRuleError, By: "rule:" + r.id, Reason: "rule " + r.id + " failed: " + failed}
		}
		q.note(m, "rule:"+r.id, Ask, r.reason)
		asks := r.asks()
		asks.note = ""
		switch {
		case said.By == d.By && d.Effect == Ask: // a rule is the reason, not what it was granted by
			said = asks.joined(q.groups, d)
		case said.Effect == Ask:
			said = said.joined(q.groups, asks)
		default:
			said = asks
		}
		rest = afterRule(rest, r)
	}
}

// denied is what is denied to one member: a no, or an ask where nobody knows whether the call does what is denied. spoken is false
// where nothing denies it.
func (m *member) denied(q *question, in *drawer, e *evaluation) (d Decision, spoken bool) {
	q.self = m.ref
	var doubt *grant
	for _, g := range in.denies {
		if g.covers(q) {
			if (g.tier > 0 || q.Facts != nil) && g.doubtful(q) {
				doubt = g
				continue
			}
			q.heard(m, g, Deny)
			return Decision{Code: CodeDenied, By: g.by, Reason: sentence(g.Note, "a grant denies it to "+g.Principal.String())}, true
		}
	}
	r, failed := e.first(in.forbids)
	unsure := ""
	if r != nil && failed != "" && r.callBound && q.Facts != nil && q.Facts.Opaque {
		// It failed for want of what the call does not show. Those behind it may still forbid.
		unsure = r.id
		r, failed = e.first(afterRule(in.forbids, r))
		for r != nil && failed != "" && r.callBound {
			r, failed = e.first(afterRule(in.forbids, r))
		}
	}
	switch {
	case r != nil && failed != "":
		q.note(m, "rule:"+r.id, Deny, r.reason)
		return Decision{Code: CodeRuleError, By: "rule:" + r.id, Reason: "rule " + r.id + " failed: " + failed}, true
	case r != nil:
		q.note(m, "rule:"+r.id, Deny, r.reason)
		return Decision{Code: CodeForbidden, By: "rule:" + r.id, Reason: sentence(r.reason, "rule "+r.id+" forbids it")}, true
	case doubt != nil:
		return Decision{Effect: Ask, Code: CodeAsk, By: doubt.by, Approvers: anyPerson, note: doubt.Note,
			Reason: "nobody knows whether this touches what is denied: " + sentence(doubt.Note, doubt.ID)}, true
	case unsure != "":
		return Decision{Effect: Ask, Code: CodeAsk, By: "rule:" + unsure, Approvers: anyPerson,
			Reason: "nobody knows whether this does what rule " + unsure + " forbids"}, true
	}
	return Decision{}, false
}

// given reads the tiers: the first that speaks decides, and in it ask beats allow.
func (m *member) given(q *question, in *drawer, e *evaluation) Decision {
	var spelled asksSpelled
	for tier := range tiers {
		var d Decision
		for _, g := range in.gives[tier] {
			if !g.covers(q) {
				if g.Effect == Ask && g.coversBy(q, true) && g.gives(q) == Ask {
					spelled.note(q, m, g.asks(q))
				}
				continue
			}
			eff := g.gives(q)
			q.heard(m, g, eff)
			switch {
			case eff == Allow && d.Effect == Deny:
				d = Decision{Effect: Allow, Code: CodeGranted, By: g.by}
				d.Reason = "granted"
			case eff == Ask && d.Effect == Ask:
				d.Approvers = q.groups.meet(d.Approvers, g.answerers(q.groups))
			case eff == Ask:
				d = g.asks(q)
			}
		}
		if tier == 0 && len(in.permits) > 0 {
			d = e.permitted(in.permits, d, &spelled)
		}
		if d.Effect != Deny {
			d.fallback = d.Effect == Ask && tier == tierOf(Fallback)
			return spelled.narrow(q, d)
		}
	}
	return Decision{Code: CodeNoGrant, Reason: "nothing grants it to " + m.ref.String()}
}

// asks is the decision of a grant that asks.
func (g *grant) asks(q *question) Decision {
	return Decision{Effect: Ask, Code: CodeAsk, By: g.by, Approvers: g.answerers(q.groups), note: g.Note,
		Reason: sentence(g.Note, "it is granted with an approval each time")}
}

// permitted adds the permitting rules to what people granted.
func (e *evaluation) permitted(permits []*rule, d Decision, spelled *asksSpelled) Decision {
	hold := e.all(permits)
	for _, r := range permits {
		if ok, _ := e.holdsSpelled(r); ok && !slices.Contains(hold, r) {
			spelled.note(e.q, e.m, r.asks())
		}
	}
	for _, r := range hold {
		switch {
		case r.ask && d.Effect == Ask:
			d = d.joined(e.q.groups, r.asks())
			e.q.note(e.m, "rule:"+r.id, Ask, r.reason)
		case r.ask:
			d = r.asks()
			e.q.note(e.m, "rule:"+r.id, Ask, r.reason)
		default:
			if d.Effect == Deny {
				d = Decision{Effect: Allow, Code: CodeGranted, By: "rule:" + r.id, Reason: sentence(r.reason, "rule "+r.id+" permits it")}
			}
			e.q.note(e.m, "rule:"+r.id, Allow, r.reason)
		}
	}
	return d
}

// asks is the decision of a rule that asks.
func (r *rule) asks() Decision {
	return Decision{Effect: Ask, Code: CodeAsk, By: "rule:" + r.id, Approvers: approversOf(r.approvers), Needs: r.needs, note: r.reason,
		Reason: sentence(r.reason, "rule "+r.id+" asks for an approval")}
}

func sentence(written, otherwise string) string {
	if written != "" {
		return written
	}
	return otherwise
}

func afterRule(rules []*rule, r *rule) []*rule { return rules[slices.Index(rules, r)+1:] }
