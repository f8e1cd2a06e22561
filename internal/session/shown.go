package session

import (
	"context"
	"slices"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// glance is how often a running command is held against the policy. Looking costs nothing while the policy stands.
const glance = 200 * time.Millisecond

// glances is after how many of them it is asked whether the caller is still let in and the folders still granted, which takes a query each.
const glances = 5

// whileShown is ctx for as long as policy shows the caller what its scope showed when the call began. A denial that comes while a command
// runs ends the command: its sandbox was built without it. One of the network, or of a host, ends each command that has the network, and so
// does a folder that is taken back, or the end of whoever it runs for. again is the scope as it would be now.
func (r *Room) whileShown(ctx context.Context, name string, again func(context.Context) (*tool.Scope, error), scope *tool.Scope,
	offline bool) (context.Context, func()) {
	if r.house.Sight == nil {
		return ctx, func() {}
	}
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
		for last, n := began, 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if n%glances == 0 {
				if why := r.takenBack(ctx, again, scope); why != "" {
					end(fault.New(fault.Denied, name, "the command was ended: %s", why))
					return
				}
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
			next, err := again(ctx)
			if err != nil {
				continue
			}
			last = now
			if path, err := scope.Narrowed(next); err != nil || path != "" {
				ended(path)
				return
			}
		}
	}()
	return ctx, func() { end(nil); <-gone }
}

// takenBack says what a running command rests on and is no more; "" is nothing, or a storage that does not answer.
func (r *Room) takenBack(ctx context.Context, again func(context.Context) (*tool.Scope, error), scope *tool.Scope) string {
	if r.house.Still != nil && fault.Is(r.house.Still(ctx, op.CallerFrom(ctx)), fault.Unauthenticated) {
		return "whoever it ran for may do nothing any more"
	}
	next, err := again(ctx)
	if err != nil {
		return ""
	}
	for _, f := range scope.Folders() {
		same := func(g tool.Folder) bool { return g.Path == f.Path && (f.ReadOnly || !g.ReadOnly) }
		if !slices.ContainsFunc(next.Folders(), same) {
			return f.Path + " was taken back while it ran"
		}
	}
	return ""
}
