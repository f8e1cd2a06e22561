package gate

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
)

type openIntent struct {
	seq                    int64
	op, caller, input, key string
}

// Recover settles the effects that a crash cut off, before anybody is served:
// the room completes or confirms them, or their outcome is recorded as
// unknown. It returns how many were unknown.
func (g *Gate) Recover(ctx context.Context) (unknown int, err error) {
	rows, err := g.db.Query(ctx, "SELECT seq, op, caller, input, key FROM gate_intent ORDER BY seq")
	open, err := db.Collect(rows, err, func(rows *sql.Rows) (i openIntent, err error) {
		return i, rows.Scan(&i.seq, &i.op, &i.caller, &i.input, &i.key)
	})
	if err != nil {
		return 0, err
	}
	for _, i := range open {
		known, err := g.settle(ctx, i)
		if err != nil {
			return unknown, fmt.Errorf("settle the intent %d of %s: %w", i.seq, i.op, err)
		}
		if !known {
			unknown++
			g.log.Warn("outcome unknown after a crash", "op", i.op, "intent", i.seq)
		}
	}
	return unknown, nil
}

func (g *Gate) settle(ctx context.Context, i openIntent) (known bool, err error) {
	var caller op.Caller
	if err := json.Unmarshal([]byte(i.caller), &caller); err != nil {
		return false, err
	}
	caller.Idempotency = i.key
	ctx = op.WithCaller(ctx, caller)
	if g.guards.Past(i.op) {
		return false, g.lost(ctx, i, caller, "the server was restored from a copy that was made while this was under way")
	}
	o := g.table.Get(i.op)
	if o == nil {
		return false, g.lost(ctx, i, caller, "this program no longer has the operation")
	}
	in, err := o.Decode([]byte(i.input))
	if err != nil {
		return false, g.lost(ctx, i, caller, "its input cannot be read any more")
	}
	out, done, err := o.Recover(op.Inside(ctx, o), in)
	c := &call{op: o, in: in, caller: caller, resource: o.Resource(ctx, in)}
	switch {
	case done:
		return true, g.outcome(ctx, c, i.seq, out, err)
	case err != nil:
		return false, g.lost(ctx, i, caller, fault.Public(err).Msg)
	}
	return false, g.lost(ctx, i, caller, "nothing tells whether it happened")
}

func (g *Gate) lost(ctx context.Context, i openIntent, caller op.Caller, why string) error {
	return g.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec("DELETE FROM gate_intent WHERE seq = ?", i.seq); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE gate_call SET state = 'unknown' WHERE tenant = ? AND actor = ? AND key = ? AND state = 'running'",
			caller.Tenant, caller.Actor, i.key); err != nil {
			return err
		}
		payload, err := json.Marshal(map[string]any{"reason": why})
		if err != nil {
			return err
		}
		_, err = g.journal.Append(tx, journal.Event{Tenant: caller.Tenant, Type: i.op, Phase: journal.Unknown, Actor: caller.Name,
			For:     caller.For,
			Request: caller.Request, Payload: payload, Cause: i.seq})
		return err
	})
}
