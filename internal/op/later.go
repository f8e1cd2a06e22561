package op

import (
	"context"
	"sync/atomic"

	"tandem/internal/fault"
)

// Coming is the Invoker of rooms that are made before the gate is. Until the gate is there it refuses.
type Coming struct{ set atomic.Pointer[Invoker] }

// Set gives it the Invoker that it stands for.
func (c *Coming) Set(i Invoker) { c.set.Store(&i) }

// Invoke runs an operation by name.
func (c *Coming) Invoke(ctx context.Context, name string, in any) (any, error) {
	i := c.set.Load()
	if i == nil {
		return nil, fault.New(fault.Unavailable, name, "tandem is still starting").WithNext("try again in a moment")
	}
	return (*i).Invoke(ctx, name, in)
}
