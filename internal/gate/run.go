package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/secret"
)

// state runs a change, its event and its idempotency key as one transaction.
func (g *Gate) state(ctx context.Context, c *call) (out any, err error) {
	err = g.db.Write(ctx, func(tx *db.Tx) error {
		c.notes = op.Notes{} // the transaction may run again
		if prior, found, err := c.repeated(tx); err != nil || found {
			out = prior
			return err
		}
		if err := g.spend(tx, c); err != nil {
			return err
		}
		var err error
		if out, err = c.op.RunState(ctx, tx, c.in); err != nil {
			return err
		}
		if err := c.remember(tx, "done", g.record(c.caller), out); err != nil {
			return err
		}
		_, err = g.append(tx, c, journal.Done, 0, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// effect records the intent, acts, and records the outcome.
func (g *Gate) effect(ctx context.Context, c *call) (out any, err error) {
	var seq int64
	var found bool
	err = g.db.Write(ctx, func(tx *db.Tx) error {
		var err error
		if out, found, err = c.repeated(tx); err != nil || found {
			return err
		}
		if err := g.spend(tx, c); err != nil {
			return err
		}
		if err := c.remember(tx, "running", g.record(c.caller), nil); err != nil {
			return err
		}
		if seq, err = g.append(tx, c, journal.Intent, 0, nil); err != nil {
			return err
		}
		if c.first != nil {
			if err := c.first(tx); err != nil {
				return err
			}
		}
		return g.intend(tx, c, seq)
	})
	if err != nil || found {
		return out, err
	}
	c.notes.Ends, c.notes.Seals = true, nil // the intent told of those until here
	out, acted := c.run(ctx)
	// The outcome is recorded even when the caller has gone.
	ctx = context.WithoutCancel(ctx)
	if errors.Is(acted, errPanic) {
		err = g.lost(ctx, openIntent{seq: seq, op: c.op.Name, key: c.caller.Idempotency}, c.caller,
			"it broke off: nothing tells whether it happened")
	} else {
		err = g.outcome(ctx, c, seq, out, acted)
	}
	if err != nil {
		g.log.Error("outcome not recorded", "op", c.op.Name, "intent", seq, "err", err)
		if acted == nil {
			return nil, fmt.Errorf("%s was done, but its outcome could not be recorded: %w", c.op.Name, err)
		}
	}
	if acted != nil {
		return nil, acted
	}
	return out, nil
}

func (g *Gate) outcome(ctx context.Context, c *call, seq int64, out any, acted error) error {
	return g.db.Write(ctx, func(tx *db.Tx) error {
		extra := map[string]any{"ok": acted == nil}
		if acted != nil {
			f := fault.Public(acted)
			extra["fault"] = f.Kind.String()
			if !c.op.Sealed {
				extra["reason"] = f.Msg
			}
			if err := c.forget(tx); err != nil {
				return err
			}
		} else if err := c.finish(tx, g.record(c.caller), out); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM gate_intent WHERE seq = ?", seq); err != nil {
			return err
		}
		for _, write := range c.notes.Along {
			if err := write(tx); err != nil {
				return err
			}
		}
		_, err := g.append(tx, c, journal.Outcome, seq, extra)
		return err
	})
}

func (g *Gate) intend(tx *db.Tx, c *call, seq int64) error {
	caller, err := json.Marshal(c.caller)
	if err != nil {
		return err
	}
	input, err := c.op.Redacted(c.in)
	if err != nil {
		return err
	}
	i := openIntent{seq: seq, tenant: c.caller.Tenant, op: c.op.Name, caller: string(caller), input: string(input),
		key: c.caller.Idempotency, server: g.Server}
	_, err = tx.Exec("INSERT INTO gate_intent (seq, tenant, op, caller, input, key, server, sig) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		i.seq, i.tenant, i.op, i.caller, i.input, i.key, i.server, g.journal.Attest(began, i.signed()))
	return err
}

// repeated finds the answer to an idempotency key that was used before.
func (c *call) repeated(tx *db.Tx) (out any, found bool, err error) {
	key := c.caller.Idempotency
	if key == "" {
		return nil, false, nil
	}
	digest, err := c.sent()
	if err != nil {
		return nil, false, err
	}
	var was, state, answer string
	err = tx.QueryRow("SELECT digest, state, answer FROM gate_call WHERE tenant = ? AND actor = ? AND key = ?"+tx.ForUpdate(),
		c.caller.Tenant, c.caller.Actor, key).Scan(&was, &state, &answer)
	switch {
	case db.NoRows(err):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case was != digest:
		return nil, false, fault.New(fault.Conflict, c.op.Name, "the idempotency key %q was used for something else", key).
			WithNext("use a new key for a new request")
	case state == "running":
		return nil, false, fault.New(fault.Conflict, c.op.Name, "the first request with this idempotency key is still running").
			With("outcome", "running").WithNext("wait, then repeat it with the same key")
	case state == "unknown":
		return nil, false, fault.New(fault.Conflict, c.op.Name,
			"a crash hid the outcome of the first request with this key: it may or may not have happened").
			With("outcome", "unknown").WithNext("look at the target, then use a new key if it must be done again")
	}
	if c.op.Sealed {
		return nil, false, fault.New(fault.Conflict, c.op.Name,
			"this was done already with the same idempotency key, and what it answered is sealed and kept nowhere").
			WithNext("look at what it did, then use a new key if it must be done again")
	}
	p := reflect.New(c.op.Out)
	if err := json.Unmarshal([]byte(answer), p.Interface()); err != nil {
		return nil, false, fmt.Errorf("read the stored answer of %s: %w", c.op.Name, err)
	}
	return p.Elem().Interface(), true, nil
}

// remember stores the key of a call that is made for the first time. When the same call came by another way meanwhile, that one
// is the first, and this one is tried again and finds it.
func (c *call) remember(tx *db.Tx, state string, redact secret.Record, out any) error {
	if c.caller.Idempotency == "" {
		return nil
	}
	digest, err := c.sent()
	if err != nil {
		return err
	}
	answer, err := c.kept(redact, out)
	if err != nil {
		return err
	}
	n, err := tx.Changed("INSERT INTO gate_call (tenant, actor, key, op, digest, state, answer, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, "+
		"?) ON CONFLICT (tenant, actor, key) DO NOTHING",
		c.caller.Tenant, c.caller.Actor, c.caller.Idempotency, c.op.Name, digest, state, answer, tx.Now())
	if err == nil && n == 0 {
		err = db.ErrAgain
	}
	return err
}

// finish stores the answer of a call that was running.
func (c *call) finish(tx *db.Tx, redact secret.Record, out any) error {
	if c.caller.Idempotency == "" {
		return nil
	}
	answer, err := c.kept(redact, out)
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE gate_call SET state = 'done', answer = ? WHERE tenant = ? AND actor = ? AND key = ?",
		answer, c.caller.Tenant, c.caller.Actor, c.caller.Idempotency)
	return err
}

// kept is what stays of an answer, for whoever repeats the call. Of sealed words nothing does: the table is read in the clear.
func (c *call) kept(redact secret.Record, out any) (string, error) {
	if c.op.Sealed {
		return "", nil
	}
	answer, err := json.Marshal(out)
	return string(redact.JSON(answer)), err
}

func (c *call) forget(tx *db.Tx) error {
	if c.caller.Idempotency == "" {
		return nil
	}
	_, err := tx.Exec("DELETE FROM gate_call WHERE tenant = ? AND actor = ? AND key = ?", c.caller.Tenant, c.caller.Actor,
		c.caller.Idempotency)
	return err
}
