package job

import (
	"context"
	"errors"

	"tandem/internal/fault"
	forge "tandem/internal/forge/wire"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// Shown is a job in review, for a person who posts or merges it at a forge: they looked at exactly this commit, at all of it, and its
// objects are what their names say.
func (r *Room) Shown(ctx context.Context, operation, id, commit string, merges bool) (*wire.Job, error) {
	j, err := r.get(ctx, op.CallerFrom(ctx).Tenant, id)
	if err != nil {
		return nil, err
	}
	if err := j.looked(operation, commit); err != nil {
		return nil, err
	}
	if j.Verdict == wire.Red {
		return nil, fault.New(fault.Conflict, operation, "its check is red").WithNext("see why: tandem job show %s", j.ID)
	}
	if merges {
		if err := r.mergeable(ctx, j); err != nil {
			return nil, err
		}
	}
	if err := r.Tools.Genuine(ctx, j.Repo, j.Base, j.Commit, false); err != nil {
		return nil, err
	}
	if err := r.whole(ctx, j); err != nil {
		return nil, err
	}
	return &j.Job, nil
}

// PulledIn ends a job whose pull request was merged at its forge, where it stands at what was posted. One that went on since then stays.
func (r *Room) PulledIn(ctx context.Context, tenant, id string, p *forge.Pull) error {
	j, err := r.get(ctx, tenant, id)
	if fault.Is(err, fault.NotFound) { // it was forgotten, or is of a copy
		return nil
	}
	if err != nil {
		return err
	}
	if j.Commit != p.Commit || j.State != wire.Review && j.State != wire.Stopped {
		return nil
	}
	err = r.settle(ctx, j, Event{Kind: Pulled, Commit: p.Commit, By: p.MergedBy, Text: p.Ref()})
	if errors.Is(err, errStale) { // somebody moved it meanwhile
		return nil
	}
	if err == nil {
		r.wake(tenant, id)
	}
	return err
}
