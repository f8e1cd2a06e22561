package team

import (
	"context"
	"fmt"
	"slices"

	"tandem/internal/fault"
	"tandem/internal/foreign"
	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/team/wire"
)

// A finished task is reviewed by another agent, where the team was started so, before a person looks. What the reviewer wants changed goes
// to the task's agent once. Whatever a reviewer says, a person merges.

// maxLooks is how often the team has a task reviewed.
const maxLooks = 2

// working are all agents that a team names.
func working(in wire.StartIn) []string {
	out := append([]string{in.Lead}, in.Workers...)
	if in.Review != "" && in.Review != wire.Others {
		out = append(out, in.Review)
	}
	return out
}

// sessions is how many sessions with a share of the budget a task may have: its agent's, and one for each review.
func (t *Team) sessions() int {
	if t.Review == "" {
		return 1
	}
	return 1 + maxLooks
}

// reviewer is who reviews a task: somebody of another kind than its agent, where there is one.
func (t *Team) reviewer(k *wire.Task) string {
	if t.Review != wire.Others {
		return t.Review
	}
	all := append(slices.Clone(t.workers()), t.Lead)
	if i := slices.IndexFunc(all, func(a string) bool { return a != k.Agent }); i >= 0 {
		return all[i]
	}
	return k.Agent
}

// reviews takes a task whose job waits for a look: another agent has it first.
func (t *Team) reviews(k *wire.Task, j *job.Job) {
	if t.Review == "" {
		return
	}
	if j.Reviewer != "" {
		k.Stage, k.Reason = wire.AtWork, j.Reviewer+" reviews it"
		return
	}
	i := len(j.Reviews) - 1
	for i >= 0 && j.Reviews[i].Commit != j.Commit {
		i--
	}
	switch {
	case i < 0 && k.Looks < maxLooks && t.State == wire.Working:
		k.Stage, k.Inspect = wire.AtWork, t.reviewer(k)
	case i < 0:
	case j.Reviews[i].Says == job.Changes && k.Looks < maxLooks && k.Heard != j.Commit && j.Reviews[i].Text != "":
		k.Stage, k.Remark, k.Says = wire.AtWork, j.Reviews[i].Text, job.Changes
	default:
		k.Says = j.Reviews[i].Says
		k.Reason = fmt.Sprintf("%s reviewed it: %s", j.Reviews[i].By, k.Says)
	}
}

// inspect has a task's work reviewed, or its agent told what a reviewer wants changed, if the job still stands where it did.
func (r *Room) inspect(ctx context.Context, t *Team, k *wire.Task) error {
	as := op.WithCaller(ctx, t.Caller)
	j, err := op.Do(as, r.Rooms, job.Get, job.IDIn{ID: k.Job})
	if err != nil {
		return r.blocked(ctx, t, err)
	}
	if e := (Event{Kind: Saw, Task: k.Name, Job: j}); j.State != job.Review || changes(t, e) {
		return r.happened(ctx, t, e)
	}
	if k.Remark != "" {
		_, err := op.Do(as, r.Rooms, job.Send, job.SendIn{ID: k.Job, Text: "Another agent of your team reviewed your work and wants changes:\n" +
			foreign.Mark("review", "agent", k.Remark) + "\nMend what is right about that, and say what is not."})
		if err != nil && !fault.Is(err, fault.Conflict) {
			return r.blocked(ctx, t, err)
		}
		return r.happened(ctx, t, Event{Kind: Told, Task: k.Name})
	}
	by := k.Inspect
	if err := r.happened(ctx, t, Event{Kind: Inspects, Task: k.Name}); err != nil { // it is counted first: budgets are shared by that
		return err
	}
	if _, err := op.Do(as, r.Rooms, job.Inspect, job.ReviewIn{ID: k.Job, By: by, Commit: j.Commit}); err != nil &&
		!fault.Is(err, fault.Conflict) {
		return r.blocked(ctx, t, err)
	}
	return nil
}
