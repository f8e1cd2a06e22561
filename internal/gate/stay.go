package gate

import (
	"context"
	"sync/atomic"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// recheck is how long an open stream outlives the right to it at most. A
// variable for the tests alone.
var recheck = 5 * time.Second

// Admit lets a caller into a stream, or says why not. The stream's context ends
// soon after the caller would not be let in again, and until then what they may
// see is what the policy says now.
func (g *Gate) Admit(ctx context.Context, name string, in any) (context.Context, error) {
	o := g.table.Get(name)
	if o == nil || o.Class != op.ClassStream {
		return ctx, fault.New(fault.NotFound, "gate", "there is no stream %s", name)
	}
	if _, err := g.Do(ctx, o, in); err != nil {
		return ctx, err
	}
	first, err := g.look(ctx, o, in)
	if err != nil {
		return ctx, err
	}
	if first.decision.Effect == policy.Deny && !o.Masked { // it was taken back just now
		return ctx, g.denial(first)
	}
	var now atomic.Pointer[call]
	now.Store(first)
	ctx = g.stay(ctx, func(ctx context.Context) error {
		next, err := g.look(ctx, o, in)
		if err != nil {
			return err
		}
		if next.decision.Effect < first.decision.Effect {
			return g.denial(next)
		}
		now.Store(next)
		return nil
	})
	ctx = op.WithSight(ctx, op.Sight{File: func(path string) bool { return now.Load().sight().File(path) },
		Tracked: func(path string, r op.Resource) bool { return now.Load().sight().Tracked(path, r) },
		Takes:   func(root, lease string, r op.Resource) bool { return now.Load().sight().Takes(root, lease, r) },
		Tells:   func(root, lease string, r op.Resource) bool { return now.Load().sight().Tells(root, lease, r) }})
	return op.WithMay(ctx, func(right string, r op.Resource) bool { return now.Load().may(right, r) }), nil
}

// look is a call as the policy sees it now, planned anew.
func (g *Gate) look(ctx context.Context, o *op.Op, in any) (*call, error) {
	in = o.PlanAnew(ctx, in)
	c := &call{op: o, in: in, caller: op.CallerFrom(ctx), resource: o.Resource(ctx, in)}
	if err := g.lookUp(ctx, c); err != nil {
		return nil, err
	}
	c.decision = c.weigh(ctx, c.view, g.db.Now())
	if c.decision.Effect == policy.Allow && c.program != nil {
		c.decision = c.weigh(ctx, c.program, g.db.Now())
	}
	return c, nil
}

// Stay is ctx for as long as its caller is let in, for what stays open and is no
// stream of the table.
func (g *Gate) Stay(ctx context.Context) context.Context {
	return g.stay(ctx, func(context.Context) error { return nil })
}

// stay ends with the request, or with the first answer that is no. A storage
// that does not answer is no answer.
func (g *Gate) stay(ctx context.Context, may func(context.Context) error) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	tick := time.NewTicker(recheck)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := g.Still(ctx, op.CallerFrom(ctx))
			if err == nil {
				err = may(ctx)
			}
			if err != nil {
				end(err)
				return
			}
		}
	}()
	return ctx
}

// waited is how long a look may take before its caller is asked about again. A variable for the tests alone.
var waited = time.Second

// again says why a call that took a while, as every wait does, would not be let in any more: what it found came after it was let in.
func (g *Gate) again(ctx context.Context, c *call) error {
	// What a call began goes on: whoever is not told of it because a token ran out meanwhile would begin it again.
	if c.op.Class == op.ClassRead && (c.caller.Kind == op.Session || c.caller.Aged()) {
		if err := g.Still(ctx, c.caller); err != nil {
			return err
		}
	}
	next, err := g.look(ctx, c.op, c.in)
	if err != nil {
		return err
	}
	if next.decision.Effect < c.decision.Effect {
		return g.refuse(ctx, next, g.denial(next))
	}
	return nil
}

// Still says why a caller who was let in would not be let in again.
func (g *Gate) Still(ctx context.Context, c op.Caller) error { return g.guards.Still(ctx, c) }
