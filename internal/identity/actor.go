package identity

import (
	"strings"
	"time"
	"unicode"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// LocalTenant is the house's own tenant, which the machine belongs to.
const LocalTenant = "local"

// Names of the actors that the house's own tenant has from the start.
const (
	Owner     = "owner"     // the person whose machine it is
	LocalUser = "local"     // whoever speaks on the control socket
	API       = "api"       // the holder of TANDEM_API_TOKEN
	Connector = "connector" // the holder of TANDEM_TOKEN
	System    = "tandem"    // the program itself: timers, recovery
	MCP       = "mcp"       // a program that calls over MCP for whoever speaks on the control socket
)

// Actor is somebody or something that acts.
type Actor struct {
	ID         string     `json:"id"`
	Tenant     string     `json:"tenant"`
	Kind       op.Kind    `json:"kind" jsonschema:"person, agent, session, service or local"`
	Name       string     `json:"name" jsonschema:"unique in the tenant"`
	For        string     `json:"for,omitempty" jsonschema:"the id of the actor on whose behalf it acts"`
	ForName    string     `json:"for_name,omitempty" jsonschema:"that one's name, in lists"`
	CreatedAt  time.Time  `json:"created_at"`
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
}

// actorPrefix begins every actor's id. No name does: where either may be given, one must not be taken for the other.
const actorPrefix = "act_"

// CheckName refuses names that could be mistaken for something else.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 64 && !strings.HasPrefix(name, "-") && !strings.HasPrefix(name, actorPrefix) &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
		})
	if ok {
		return nil
	}
	return fault.New(fault.Invalid, "actor", "%q is not a name: letters, digits, - _ . and at most 64 of them, not beginning with - or %s",
		name, actorPrefix)
}

// CheckKind refuses kinds that cannot be added by hand.
func CheckKind(k op.Kind) error {
	switch k {
	case op.Person, op.Agent, op.Service:
		return nil
	}
	return fault.New(fault.Invalid, "actor.add", "%q is not a kind of actor that can be added", k).WithNext("use person, agent or service")
}

// Caller is the actor as a caller by some door, without presence.
func (a *Actor) Caller(door op.Door, chain []string) op.Caller {
	return op.Caller{Tenant: a.Tenant, Actor: a.ID, Name: a.Name, Kind: a.Kind, For: chain, Door: door}
}
