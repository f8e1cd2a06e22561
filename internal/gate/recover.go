package gate

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/owner"
)

type openIntent struct {
	seq                                    int64
	tenant, op, caller, input, key, server string
	sig                                    []byte
}

// began is the purpose of the signature of an intent: a room may finish what was begun, so nobody but the gate says that it was.
const began = "an effect was begun"

func (i openIntent) signed() []byte {
	sum := journal.Digest(strconv.FormatInt(i.seq, 10), i.tenant, i.op, i.caller, i.input, i.key, i.server)
	return sum[:]
}

// forged says why an intent is nobody's, where it is: the gate did not write it, or it was settled before and put back.
func (g *Gate) forged(ctx context.Context, i openIntent) (why string, err error) {
	if !g.journal.Attested(began, i.signed(), i.sig) {
		return "this was in the database as begun, and no server that keeps the journal's key began it: nothing was done", nil
	}
	settled, err := g.journal.Settled(ctx, i.seq)
	if settled {
		why = "this was in the database as begun, and had ended before: nothing was done"
	}
	return why, err
}

// Recover settles the effects that a crash cut off: the room completes or
// confirms them, or their outcome is recorded as unknown. It returns how many
// were unknown. What belongs to a server that lives is left to it, and of what
// one did on another machine nothing here tells how far it came.
func (g *Gate) Recover(ctx context.Context, others func(context.Context) (owner.Others, error)) (unknown int, err error) {
	rows, err := g.db.Query(ctx, "SELECT seq, tenant, op, caller, input, key, server, sig FROM gate_intent ORDER BY seq")
	open, err := db.Collect(rows, err, func(rows *sql.Rows) (i openIntent, err error) {
		return i, rows.Scan(&i.seq, &i.tenant, &i.op, &i.caller, &i.input, &i.key, &i.server, &i.sig)
	})
	if err != nil || len(open) == 0 {
		return 0, err
	}
	who, err := others(ctx)
	if err != nil {
		return 0, err
	}
	for _, i := range open {
		if who.Living[i.server] {
			continue
		}
		known, err := g.settle(ctx, i, who.Far[i.server])
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

func (g *Gate) settle(ctx context.Context, i openIntent, far bool) (known bool, err error) {
	if why, err := g.forged(ctx, i); err != nil {
		return false, err
	} else if why != "" {
		return false, g.disown(ctx, i, why)
	}
	var caller op.Caller
	if err := json.Unmarshal([]byte(i.caller), &caller); err != nil {
		return false, err
	}
	caller.Idempotency = i.key
	ctx = op.WithCaller(ctx, caller)
	if g.guards.Past(i.op) {
		return false, g.lost(ctx, i, caller, "the server was restored from a copy that was made while this was under way")
	}
	if far {
		return false, g.lost(ctx, i, caller, "the server that did it ended, and its machine is another one")
	}
	o := g.table.Get(i.op)
	if o == nil {
		return false, g.lost(ctx, i, caller, "this program no longer has the operation")
	}
	in, err := o.Decode([]byte(i.input))
	if err != nil {
		return false, g.lost(ctx, i, caller, "its input cannot be read any more")
	}
	in = o.Plan(ctx, in)
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

// disown takes a line that is not the gate's own off the table. None of its words is believed: they are told as what was found.
func (g *Gate) disown(ctx context.Context, i openIntent, why string) error {
	house := op.CallerFrom(ctx)
	return g.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec("DELETE FROM gate_intent WHERE seq = ?", i.seq); err != nil {
			return err
		}
		payload, err := json.Marshal(map[string]any{"reason": why, "op": fault.Clip(i.op, 100), "tenant": fault.Clip(i.tenant, 100)})
		if err != nil {
			return err
		}
		_, err = g.journal.Append(tx, journal.Event{Tenant: house.Tenant, Type: "gate.intent", Phase: journal.Unknown, Actor: house.Name,
			Request: house.Request, Payload: payload})
		return err
	})
}
