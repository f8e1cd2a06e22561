package relay

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// A relay's two sessions are its own: while it is not over, nobody else prompts, cancels or deletes them.

// Whose tells to whom a relay belongs: whoever started it, and everybody whom that one acts for.
func (r *Runner) Whose(ctx context.Context, tenant, id string) []string {
	x, err := r.get(ctx, tenant, id)
	if err != nil {
		return nil // nobody's
	}
	return x.Caller.Chain()
}

// steered remembers who told the relay something: from then on its sides act on that one's words, too.
func (x *Relay) steered(by op.Caller) {
	x.Caller.Prompted = by.Prompts(x.Caller.Prompted, x.Caller.Chain())
}

type ownKey struct{}

// asRelay marks what a relay does to its own sessions.
func asRelay(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, ownKey{}, id)
}

// Guard refuses to let anybody but its relay drive a session.
func (r *Runner) Guard(ctx context.Context, tx *db.Tx, tenant, session string) error {
	var relay, status string
	err := tx.QueryRow("SELECT r.id, r.status FROM relay_side s JOIN relay r ON r.tenant = s.tenant AND r.id = s.relay WHERE "+
		"s.tenant = ? AND s.session = ?", tenant, session).Scan(&relay, &status)
	if db.NoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if by, _ := ctx.Value(ownKey{}).(string); by == relay || Status(status).Over() {
		return nil
	}
	return fault.New(fault.Conflict, "session", "the session belongs to the relay %s", relay).
		WithNext("steer it with the relay tool: inject, enqueue or stop")
}
