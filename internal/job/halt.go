package job

import (
	"context"
	"errors"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
)

// Halt stops a job that goes on by itself, by the word of the team that it is of: also when who started it may not do that any more.
// It says whether the job is stopped by that word. One that waits for a person's look stays there.
func (r *Room) Halt(ctx context.Context, tenant, id, team, why string) (bool, error) {
	for {
		j, err := r.get(ctx, tenant, id)
		switch {
		case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied): // nor does one go on whose row does not count
			return false, nil
		case err != nil:
			return false, err
		case j.State.Waits():
			return j.State == wire.Stopped && j.StoppedBy == team, nil
		}
		if err := r.settle(ctx, j, Event{Kind: Stop, By: team, Text: why}); errors.Is(err, errStale) && ctx.Err() == nil {
			continue // it moved in this moment
		} else if err != nil {
			return false, err
		}
		r.wake(tenant, id)
		r.others(ctx, j)
		return true, nil
	}
}
