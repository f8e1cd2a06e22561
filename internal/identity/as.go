package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// As is an agent at work for a caller: what it may do is what the agent, the
// caller, and everybody that either acts for may do. Without a name it is the
// agent that every program is which calls over MCP and was not told which one
// to be. A name must be that of an agent which a person made: a program cannot
// pick itself an actor that nobody wrote rules for.
func (r *Room) As(ctx context.Context, c op.Caller, name string) (op.Caller, error) {
	who := WellKnown(MCP)
	if name != "" {
		who = strings.TrimPrefix(name, string(op.Agent)+":")
	}
	a, err := r.Actor(ctx, c.Tenant, who)
	if err != nil {
		return op.Caller{}, err
	}
	chain, err := r.chain(ctx, a)
	switch {
	case err != nil:
		return op.Caller{}, err
	case a.Kind != op.Agent:
		return op.Caller{}, fault.New(fault.Invalid, "actor", "%s is a %s, and only an agent's place can be taken", a.Name, a.Kind).
			WithNext("list them: tandem actor list")
	case a.DisabledAt != nil:
		return op.Caller{}, fault.New(fault.Denied, "actor", "%s is disabled", a.Name)
	case a.ID != WellKnown(MCP) && slices.ContainsFunc(chain, isLocal): // a program of this user made it, before that needed a person
		return op.Caller{}, fault.New(fault.Denied, "actor", "%s was made by a program, not by a person", a.Name).
			WithNext("a person makes one: tandem actor add NAME --kind agent")
	}
	as := a.Caller(c.Door, append([]string{string(c.Kind) + ":" + c.Name}, c.For...))
	for _, p := range chain {
		if !slices.Contains(as.For, p) {
			as.For = append(as.For, p)
		}
	}
	as.Via, as.Token, as.Session, as.Scope, as.Client, as.Request, as.Idempotency = c.Actor, c.Token, c.Session, c.Scope, c.Client, c.Request,
		c.Idempotency
	as.Prompted, as.Until, as.Narrow = c.Prompted, c.Until, c.Narrow
	if c.Via != "" {
		as.Via = c.Via
	}
	return as, nil
}

func isLocal(ref string) bool { return strings.HasPrefix(ref, string(op.Local)+":") }

// mcpAgent makes the agent that calls over MCP where there is none yet. Somebody may have taken its name before it had one.
func (r *Room) mcpAgent(tx *db.Tx) error {
	for name, try := MCP, 2; ; try++ {
		_, err := tx.Exec("INSERT INTO actor ("+actorColumns+") VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING",
			LocalTenant, WellKnown(MCP), op.Agent, name, WellKnown(LocalUser), tx.Now())
		if err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM actor WHERE tenant = ? AND id = ?", LocalTenant, WellKnown(MCP)).Scan(&n); err != nil ||
			n == 1 {
			return err
		}
		name = fmt.Sprintf("%s-%d", MCP, try)
	}
}
