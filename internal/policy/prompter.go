package policy

import (
	"slices"
	"strings"
)

// prompted makes members of those who only prompted the caller: their denials are heard, and nothing else of them. Who is in the
// caller's own chain is heard whole already.
func (c *Compiled) prompted(ctx *StrictTenantContext, own []PrincipalRef) (out []member) {
	known := slices.Clone(own)
	for _, chain := range ctx.Prompters {
		for i, p := range chain {
			if !slices.Contains(known, p) {
				known, out = append(known, p), append(out, c.member(p, chain[i+1:]))
			}
		}
	}
	return out
}

// objects is what somebody who prompted the caller is denied: that it was granted nothing says nothing, so that whoever may prompt a
// session need not be granted what the session does.
func (m *member) objects(q *question) (Decision, bool) {
	in := m.drawer(q)
	d, spoken := m.denied(q, in, in.evaluation(q, m))
	if spoken {
		d.Prompter, d.Reason = m.ref.ID, "it is done for a prompt of "+m.ref.String()+": "+d.Reason
		if d.Effect == Ask {
			q.note(m, d.By, Ask, d.note)
		}
	}
	return d, spoken
}

// key names a caller and all that its answers hang on.
func (ctx *StrictTenantContext) key() string {
	var key strings.Builder
	key.WriteString(ctx.Tenant + "\x00" + ctx.Principal.String())
	for _, p := range ctx.AuthorityChain {
		key.WriteString("\x00" + p.String())
	}
	for _, chain := range ctx.Prompters {
		key.WriteString("\x00")
		for _, p := range chain {
			key.WriteString("\x00" + p.String())
		}
	}
	return key.String()
}
