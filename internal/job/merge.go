package job

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/foreign"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session/checkout"
)

// refOf is where a merged job is found in the repository, when its branch could not be moved.
func refOf(id string) string { return "refs/tandem/job/" + id }

// merge brings a job's commit into its repository. The person's own checkout is left alone: a branch that is checked out is not moved.
func (r *Room) merge(ctx context.Context, in wire.MergeIn) (*wire.Job, error) {
	c := op.CallerFrom(ctx)
	j, err := r.get(ctx, c.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if j.State == wire.Merged && j.Commit == in.Commit {
		return r.seen(ctx, j)
	}
	if err := j.looked("job.merge", in.Commit); err != nil {
		return nil, err
	}
	if err := j.stands("job.merge"); err != nil {
		return nil, err
	}
	if err := r.mergeable(ctx, j); err != nil {
		return nil, err
	}
	op.Note(ctx, "commit", j.Commit)
	if err := r.Tools.Genuine(ctx, j.Repo, j.Base, j.Commit, false); err != nil {
		return nil, err
	}
	if err := r.whole(ctx, j); err != nil {
		return nil, err
	}
	e, err := r.arrive(ctx, j, c.Name)
	if err != nil {
		return nil, err
	}
	if err := r.settle(ctx, j, e); err != nil {
		return nil, overtaken(j, e, err)
	}
	r.wake(j.Tenant, j.ID)
	if j, err = r.get(ctx, c.Tenant, in.ID); err != nil {
		return nil, err
	}
	return r.seen(ctx, j)
}

// overtaken says what became of a merge while which somebody else moved the job.
func overtaken(j *Job, e Event, err error) error {
	if !errors.Is(err, errStale) {
		return err
	}
	did := "nothing was merged"
	if e.Kind == Merge {
		did = fmt.Sprintf("%s stands at %.12s already", e.Ref, e.Commit)
	}
	return fault.New(fault.Conflict, "job.merge", "somebody else moved the job meanwhile; %s", did).
		WithNext("see where it stands: tandem job show %s", j.ID)
}

// arrive moves the branch, or a ref beside it, by compare-and-set. What a person was shown is the difference to the base: where the branch
// does not stand there, it is brought into the workspace first.
func (r *Room) arrive(ctx context.Context, j *Job, by string) (Event, error) {
	e := Event{Kind: Merge, Commit: j.Commit, By: by}
	branch := "refs/heads/" + j.Onto
	tip := ""
	if j.Onto != "" {
		at, err := r.Tools.At(ctx, j.Repo, branch)
		if err != nil {
			return e, err
		}
		tip = at
	}
	out, err := r.Tools.Out(ctx, j.Repo, j.Onto)
	if err != nil {
		return e, err
	}
	if r.there(ctx, j) {
		e.Ref = branch
		return e, nil
	}
	if beside, err := r.beside(ctx, j, tip, out); err != nil {
		return e, err
	} else if tip != "" && tip != j.Base && !beside {
		return r.rejoin(ctx, j, tip)
	}
	if tip == "" || out {
		e.Ref = refOf(j.ID)
		// The line names the commit: a ref can be written by whoever works in the repository.
		e.Next = "git -C " + quoted(j.Repo) + " merge --ff-only " + j.Commit
		if tip == "" {
			e.Next = "git -C " + quoted(j.Repo) + " merge " + j.Commit
		}
		return e, r.Tools.Move(ctx, j.Repo, e.Ref, j.Commit, r.Tools.Tip(ctx, j.Repo, e.Ref))
	}
	e.Ref = branch
	return e, r.Tools.Move(ctx, j.Repo, branch, j.Commit, tip)
}

// rejoin brings a branch that moved on into the job's workspace: the two together are another commit, which needs a check and a look of
// its own. What does not go together goes back to the agent.
func (r *Room) rejoin(ctx context.Context, j *Job, tip string) (Event, error) {
	on := checkout.Line{Branch: j.Branch, Parents: []string{j.Commit}}
	what := j.beneath(tip)
	message := fmt.Sprintf("Merge %s into the job\n\nJob: %s\n", strings.TrimPrefix(what, "branch "), j.ID)
	if r.Tools.Holds(ctx, j.Repo, j.Commit, tip) { // it moved back: the files stay, and what they differ in is more
		head, err := r.Tools.Redo(ctx, j.Path, on, message, j.author())
		return Event{Kind: Remade, Commit: head, Base: tip}, err
	}
	head, conflicts, err := r.Tools.Join(ctx, j.Path, on, tip, message, j.author())
	if err != nil {
		return Event{}, err
	}
	if len(conflicts) == 0 {
		return Event{Kind: Remade, Commit: head, Base: tip}, nil
	}
	return Event{Kind: Conflict, Base: tip, Text: fmt.Sprintf("The %s moved on while you worked, to commit %.12s. "+
		"Tandem merged it into your workspace, and these files do not go together:\n%s\n\n"+
		"The marks of the conflict are in them. Resolve them so that both changes hold, and end your turn.",
		what, tip, foreign.Mark("files", "git", strings.Join(conflicts, "\n")))}, nil
}

// beside says that the branch is checked out and does not hold the job below yet, which was merged beside it: the line that brings this
// one brings both.
func (r *Room) beside(ctx context.Context, j *Job, tip string, out bool) (bool, error) {
	if j.On == "" || !out || tip == "" || !r.Tools.Holds(ctx, j.Repo, j.Base, tip) {
		return false, nil
	}
	lower, err := r.get(ctx, j.Tenant, j.On)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && lower.State == wire.Merged && lower.Commit == j.Base && lower.Elsewhere == "", err
}

// quoted is a path as a shell reads it.
func quoted(path string) string {
	if strings.IndexFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r))
	}) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// recover is asked after a crash in the middle of a merge: whether the commit arrived.
func (r *Room) recover(ctx context.Context, in wire.MergeIn) (*wire.Job, bool, error) {
	j, err := r.get(ctx, op.CallerFrom(ctx).Tenant, in.ID)
	if err != nil || j.State == wire.Merged {
		if err != nil {
			return nil, false, err
		}
		j.Comments = nil
		return &j.Job, true, nil
	}
	if j.State != wire.Review || j.Commit != in.Commit {
		return nil, false, nil
	}
	beside := r.Tools.Tip(ctx, j.Repo, refOf(j.ID)) == j.Commit
	moved := j.Onto != "" && r.Tools.Tip(ctx, j.Repo, "refs/heads/"+j.Onto) == j.Commit
	if !beside && !moved {
		return nil, false, nil // a person says it again
	}
	e, err := r.arrive(ctx, j, op.CallerFrom(ctx).Name)
	if err == nil {
		err = r.settle(ctx, j, e)
	}
	if err != nil {
		return nil, false, err
	}
	if j, err = r.get(ctx, j.Tenant, j.ID); err != nil {
		return nil, false, err
	}
	j.Comments = nil
	return &j.Job, true, nil
}

// looked refuses where a person cannot have looked at what the job is now.
func (j *Job) looked(operation, commit string) error {
	switch {
	case j.State != wire.Review:
		return fault.New(fault.Conflict, operation, "the job is %s, and not in review", j.State).WithNext("see why: tandem job show %s", j.ID)
	case commit != "" && j.Commit != commit && strings.HasPrefix(j.Commit, commit):
		return fault.New(fault.Invalid, operation, "%.12s is the beginning of the job's commit, and others may begin like it", commit).
			WithNext("look, and type the line at the end, which has the whole commit: tandem job diff %s", j.ID)
	case j.Commit != commit:
		return fault.New(fault.Conflict, operation, "the job is at %.12s by now, and you looked at %.12s", j.Commit, commit).
			WithNext("look again: tandem job diff %s", j.ID)
	}
	return nil
}
