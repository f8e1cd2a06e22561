package identity

import (
	"context"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// A grant may be written for a name before anybody has it. Whoever comes in chooses a name: what waits for it is shown to the person
// who lets the newcomer in, and where no person looks, such a name is not given.

func receiving(name string) string { return "what waits for the name " + name }

func (r *Room) waiting(ctx context.Context, tx *db.Tx, tenant string, kind op.Kind, name string) (string, error) {
	if r.Waits == nil {
		return "", fault.New(fault.Unavailable, "join", "nobody knows what waits for the name %s", name)
	}
	all, err := r.Waits(ctx, tx, tenant, string(kind)+":"+name)
	return strings.Join(all, "; "), err
}

// receives is what an ask to join shows and is bound to.
func (r *Room) receives(ctx context.Context, in EnterIn) ([]op.Bound, error) {
	waits, err := r.waiting(ctx, nil, op.CallerFrom(ctx).Tenant, op.Agent, in.Name)
	if err != nil || waits == "" {
		return nil, err
	}
	return []op.Bound{{Name: receiving(in.Name), Value: waits}}, nil
}

// mayReceive refuses a name that brings a newcomer more than a person saw.
func (r *Room) mayReceive(ctx context.Context, tx *db.Tx, a *Actor) error {
	waits, err := r.waiting(ctx, tx, a.Tenant, a.Kind, a.Name)
	if err != nil || waits == "" {
		return err
	}
	if seen, ok := op.BoundIn(ctx, receiving(a.Name)); ok && seen == waits {
		return nil
	}
	return fault.New(fault.Conflict, "join", "grants wait for an agent called %s, and nobody was asked whether they are for you", a.Name).
		WithNext("join without the invitation: a person then sees what the name receives, and approves it")
}
