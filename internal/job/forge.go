package job

import (
	"context"
	"errors"
	"fmt"

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
		if err := j.stands(operation); err != nil {
			return nil, err
		}
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

// PulledIn ends a job whose pull request was merged at its forge, and says why it does not. A forge's word takes no work away: what is not
// in the posted commit keeps the job and its workspace, and the commit stays in the repository under a ref of the job's.
func (r *Room) PulledIn(ctx context.Context, tenant, id string, p *forge.Pull) (why string, err error) {
	j, err := r.get(ctx, tenant, id)
	if fault.Is(err, fault.NotFound) { // it was forgotten, or is of a copy
		return "", nil
	}
	if err != nil || j.State == wire.Merged {
		return "", err
	}
	switch {
	case j.State != wire.Review && j.State != wire.Stopped, j.hushes():
		return fmt.Sprintf("the job is %s here", j.State), nil
	case j.Commit != p.Commit:
		return fmt.Sprintf("the job here is at %.12s by now, and %.12s was posted", j.Commit, p.Commit), nil
	case j.Path != "" && !r.Tools.Clean(ctx, j.Path, j.Branch, j.Commit):
		return "its workspace " + j.Path + " holds work that was not posted", nil
	}
	ref := refOf(j.ID)
	if at := r.Tools.Tip(ctx, j.Repo, ref); at != j.Commit {
		if err := r.Tools.Move(ctx, j.Repo, ref, j.Commit, at); err != nil {
			return "", err
		}
	}
	err = r.settle(ctx, j, Event{Kind: Pulled, Commit: p.Commit, By: p.MergedBy + " at " + p.Forge, Text: p.Ref(), Ref: ref})
	if errors.Is(err, errStale) {
		return "somebody moved the job meanwhile", nil
	}
	if err == nil {
		r.wake(tenant, id)
	}
	return "", err
}
