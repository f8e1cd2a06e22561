package op

import (
	"context"
	"strconv"
	"sync"

	"tandem/internal/fault"
)

type insideKey struct{}
type lookKey struct{}

// inside is an operation whose handler runs, as the operations that it calls see it.
type inside struct {
	key   string // the idempotency key of the call
	mu    sync.Mutex
	calls int
}

// Inside is "this caller, inside this operation": the context that the handler
// of o gets. Whatever it calls is called by the same caller, but as a call of
// its own. Its idempotency key is made from the outer one and its place in the
// order of calls, so an operation that is composed of several does not collide
// with itself, and one that is repeated finds what its parts answered. Inside a
// read everything but reads is refused.
func Inside(ctx context.Context, o *Op) context.Context {
	c := CallerFrom(ctx)
	in := &inside{}
	if c.Idempotency != "" {
		in.key = c.Idempotency + "/" + o.Name
		c.Idempotency = ""
		ctx = WithCaller(ctx, c)
	}
	ctx = context.WithValue(ctx, insideKey{}, in)
	if o.Class == ClassRead {
		ctx = Looking(ctx)
	}
	return ctx
}

// Entering is who calls o in ctx, with the key that belongs to this one call.
// A caller who brings a key keeps it.
func Entering(ctx context.Context, o *Op) Caller {
	c := CallerFrom(ctx)
	in, _ := ctx.Value(insideKey{}).(*inside)
	if in == nil || in.key == "" || c.Idempotency != "" || !o.Changes() {
		return c
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.calls++
	c.Idempotency = in.key + "." + strconv.Itoa(in.calls)
	return c
}

// Looking is ctx for somebody who may only look: whatever changes anything is
// refused in it, whoever calls.
func Looking(ctx context.Context) context.Context { return context.WithValue(ctx, lookKey{}, true) }

// Admits refuses what changes anything where one may only look.
func Admits(ctx context.Context, o *Op) error {
	if looking, _ := ctx.Value(lookKey{}).(bool); looking && o.Changes() {
		return fault.New(fault.Denied, o.Name, "%s changes something, and here one may only look", o.Name).
			WithNext("call it outside of the plan, or of the reading operation that passed it on")
	}
	return nil
}

// Later is the caller as it may be kept for what it wants done after this call:
// the same actor with the same scope, without what belongs to this one request
// (presence, the power to decide, the request's id and key).
func (c Caller) Later(by Door) Caller {
	c.Present, c.Recovers, c.Decides, c.Request, c.Idempotency, c.Door = "", "", false, "", "", by
	return c
}
