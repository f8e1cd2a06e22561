package policy

import (
	"strings"
)

// PrincipalKind is the sort of actor: a person, an agent, a session at work, a service, or the local control socket.
type PrincipalKind string

// The sorts of actor. Only a person decides.
const (
	Person  PrincipalKind = "person"
	Agent   PrincipalKind = "agent"
	Session PrincipalKind = "session"
	Service PrincipalKind = "service"
	Local   PrincipalKind = "local"
	GroupOf PrincipalKind = "group" // of people: nobody acts as one, and grants and approvers may name one
)

var principalKinds = []PrincipalKind{Person, Agent, Session, Service, Local}

var knownPrincipal = setOf(principalKinds)

// PrincipalRef names an actor ("agent:builder") or, in a grant, all of a sort ("agent:*") or everybody ("*").
type PrincipalRef struct {
	Kind PrincipalKind
	ID   string
}

// ParsePrincipal reads kind:id, kind:* or *.
func ParsePrincipal(s string) (PrincipalRef, error) {
	if s == "*" {
		return PrincipalRef{Kind: "*", ID: "*"}, nil
	}
	kind, id, ok := strings.Cut(s, ":")
	p := PrincipalRef{Kind: PrincipalKind(kind), ID: id}
	if !ok || id == "" || !knownPrincipal[p.Kind] && p.Kind != GroupOf && p.Kind != ByAssertion || hasControl(id) {
		return PrincipalRef{}, malformed("principal %q is not kind:id with a kind of person, group, agent, session, service or local", s)
	}
	return p, nil
}

// String gives the form that ParsePrincipal reads.
func (p PrincipalRef) String() string {
	if p.Kind == "*" {
		return "*"
	}
	return string(p.Kind) + ":" + p.ID
}

// MarshalText writes kind:id.
func (p PrincipalRef) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what ParsePrincipal reads.
func (p *PrincipalRef) UnmarshalText(b []byte) error {
	q, err := ParsePrincipal(string(b))
	if err == nil {
		*p = q
	}
	return err
}

// Matches says whether the reference, as written in a grant, speaks of the actor q.
func (p PrincipalRef) Matches(q PrincipalRef) bool {
	if p.Kind == "*" {
		return q.Kind != ""
	}
	return p.Kind == q.Kind && (p.ID == "*" || p.ID == q.ID)
}

// concrete says whether the reference names exactly one actor.
func (p PrincipalRef) concrete() bool {
	return knownPrincipal[p.Kind] && p.ID != "" && p.ID != "*" && !hasControl(p.ID)
}

func hasControl(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] == 0x7f {
			return true
		}
	}
	return false
}
