package forge

import (
	"context"
	"fmt"

	"tandem/internal/fault"
	"tandem/internal/forge/wire"
	jobs "tandem/internal/job/wire"
	"tandem/internal/session/checkout"
)

// A person looks at the difference between the job's base and its last commit. The turns between wrote what is in no diff that was shown: a
// key that a later turn took out again. So not the job's commits are pushed, but one that has the files of the last one and stands on the
// base, or on what was posted before.

// sentRef keeps what was pushed in the repository: the next post stands on it.
func sentRef(job string) string { return "refs/tandem/post/" + job }

// alone is the commit that is pushed for a job's. It refuses where commits of this repository that the branch there lacks would go along,
// and where somebody else pushed.
func (r *Room) alone(ctx context.Context, tenant string, refs map[string]string, j *jobs.Job, d *wire.Drafted, p *pull) (string, error) {
	base, there := refs["refs/heads/"+d.Base], refs["refs/heads/"+d.Branch]
	if base == "" {
		return "", fault.New(fault.Conflict, "forge.post", "%s has no branch %s", d.Forge, d.Base).
			WithNext("push it there first, or start the job for a branch that is there: --onto BRANCH")
	}
	root, err := r.root(ctx, tenant, j, d, p)
	if err != nil {
		return "", err
	}
	if root != base && !r.Tools.Holds(ctx, j.Repo, base, root) {
		return "", fault.New(fault.Conflict, "forge.post", "the job began at %.12s, and %s at %s is not known to hold that: commits that nobody "+
			"looked at would be posted, too", j.Base, d.Base, d.Forge).
			WithNext("fetch it, push what is missing, then post again: git -C %s fetch", j.Repo)
	}
	if there != "" && p.of(there) == there {
		return "", fault.New(fault.Conflict, "forge.post", "somebody pushed %.12s to %s, which the job does not hold", there, d.Branch).
			WithNext("look at it there: %s", d.Where)
	}
	if as := p.as(j.Commit); as != "" && as == there {
		return as, nil
	}
	parents := []string{root}
	if there != "" {
		if parents[0] = there; !r.Tools.Holds(ctx, j.Repo, there, root) {
			parents = append(parents, root)
		}
	}
	as, err := r.Tools.Alone(ctx, j.Repo, j.Commit, parents, fmt.Sprintf("%s\n\nJob: %s\n", fault.Clip(d.Title, 72), j.ID),
		checkout.Author{Name: j.Agent, Mail: j.Session + "@tandem.invalid"})
	if err != nil {
		return "", err
	}
	if err := r.Tools.Genuine(ctx, j.Repo, root, as, false); err != nil {
		return "", err
	}
	p.Sent = append(p.Sent, sent{Commit: j.Commit, As: as})
	p.Sent = p.Sent[max(0, len(p.Sent)-maxSent):]
	return as, r.Tools.Move(ctx, j.Repo, sentRef(j.ID), as, r.Tools.Tip(ctx, j.Repo, sentRef(j.ID)))
}

// root is what the job's base is there: of a job on top of another one it is what that one's commit was posted as.
func (r *Room) root(ctx context.Context, tenant string, j *jobs.Job, d *wire.Drafted, p *pull) (string, error) {
	all, err := r.pulls(ctx, tenant, "forge = ?", d.Forge)
	for _, q := range all {
		if as := q.as(j.Base); as != "" && q.Branch == d.Base && q.Repo == j.Repo && q.Where == p.Where {
			return as, err
		}
	}
	return j.Base, err
}
