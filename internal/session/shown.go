package session

import (
	"context"
	"time"

	"tandem/internal/fault"
	"tandem/internal/tool"
)

// glance is how often a running command is held against the policy. Looking costs nothing while the policy stands.
const glance = 200 * time.Millisecond

// whileShown is ctx for as long as policy shows the caller what its scope showed when the call began. A denial that comes while a command
// runs ends the command: its sandbox was built without it. One of the network, or of a host, ends each command that has the network.
func (r *Room) whileShown(ctx context.Context, t tool.Tool, in CallIn, scope *tool.Scope, offline bool) (context.Context, func()) {
	if r.house.Sight == nil {
		return ctx, func() {}
	}
	name := t.Spec().Name
	began, err := r.house.Sight(ctx, name)
	if err != nil {
		return ctx, func() {}
	}
	unreached := began.Unreached()
	ctx, end := context.WithCancelCause(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(glance)
		defer tick.Stop()
		for last := began; ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now, err := r.house.Sight(ctx, name)
			if err != nil || now == last { // a storage that does not answer says nothing
				continue
			}
			ended := func(what string) {
				end(fault.New(fault.Denied, name, "the command was ended: %s was denied while it ran", what))
			}
			if cut := now.CutOff(unreached); cut != "" && !offline {
				ended(cut)
				return
			}
			env, err := r.envOf(ctx, t, in)
			if err != nil {
				continue
			}
			last = now
			if path, err := scope.Narrowed(env.Scope); err != nil || path != "" {
				ended(path)
				return
			}
		}
	}()
	return ctx, func() { end(nil); <-gone }
}
