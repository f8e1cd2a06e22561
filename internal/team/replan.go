package team

import (
	"fmt"
	"slices"

	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/team/wire"
)

// A team that works may be given another plan by a person: what has begun stays in it as it is, and the rest may be more, less or others.

// worked says that a team works by an approved plan, or will go on to.
func (t *Team) worked() bool {
	return t.ApprovedBy != "" && (t.State == wire.Working || t.State == wire.Paused || t.State == wire.Blocked)
}

func hasBegun(k *wire.Task) bool { return k.Job != "" || k.Stage != wire.Waits }

// replan takes another plan of a person while the team works. The person who is there wrote it, and so approves it.
func (t *Team) replan(p wire.Plan, by string) error {
	if t.Begins != "" {
		return fault.New(fault.Conflict, "team.plan", "the task %s is being begun in this moment", t.Begins).WithNext("give the plan again")
	}
	if err := checkPlan(p, t.workers()); err != nil {
		return err
	}
	var tasks []*wire.Task
	begins := 0
	for i, item := range p.Tasks {
		k := t.task(item.Name)
		if k != nil && hasBegun(k) {
			if !same(k.Item, t.settled(item, i)) {
				return fault.New(fault.Conflict, "team.plan", "the task %s has begun, and stays in the plan as it is", k.Name).
					WithNext("begin with the plan as it is: tandem team plan %s", t.ID)
			}
			tasks = append(tasks, k)
			continue
		}
		for _, a := range item.After {
			if o := t.task(a); o != nil && o.Stage == wire.Dropped {
				return fault.New(fault.Invalid, "team.plan", "%s comes after %s, which was dropped", item.Name, a).
					WithNext("leave %s out of what it comes after", a)
			}
		}
		tasks, begins = append(tasks, &wire.Task{Item: t.settled(item, i), Stage: wire.Waits}), begins+1
	}
	for _, k := range t.Tasks {
		if hasBegun(k) && !slices.Contains(tasks, k) {
			return fault.New(fault.Conflict, "team.plan", "the task %s has begun, and stays in the plan", k.Name).
				WithNext("when it is not needed: tandem job stop JOB --discard")
		}
	}
	if err := t.shareAnew(len(tasks)-begins, begins); err != nil {
		return err
	}
	t.Criteria, t.Tasks, t.ApprovedBy = p.Criteria, tasks, by
	t.Version++
	return nil
}

// settled is a task of a plan with what the team's plan says where it is silent.
func (t *Team) settled(item wire.Item, i int) wire.Item {
	if item.Agent == "" {
		item.Agent = t.workers()[i%len(t.workers())]
	}
	if item.Check == "" {
		item.Check = t.Check
	}
	return item
}

func same(a, b wire.Item) bool {
	return a.Name == b.Name && a.Text == b.Text && a.Check == b.Check && a.Agent == b.Agent && slices.Equal(a.After, b.After) &&
		slices.Equal(a.Files, b.Files)
}

// shareAnew has tasks that have not begun share what those that have were not given. A share never grows: a review of a task that has
// begun may still be to come.
func (t *Team) shareAnew(begun, begins int) (err error) {
	since := int64((begun - t.Counted) * t.sessions())
	part := func(all, lead, given, share int64) (int64, int64) {
		given += share * since
		if all == 0 || begins == 0 {
			return share, given
		}
		n := min(share, (all-lead-given)/int64(begins*t.sessions()))
		if n < max(1, share/10) {
			err = fault.New(fault.Exhausted, "team.plan", "what is left of %s is not enough for %d tasks that have not begun", t.Budget, begins).
				WithNext("give a plan with fewer, or start another team")
		}
		return n, given
	}
	var each, given job.Budget
	all, lead := t.Budget, leads(t.Budget)
	each.Cents, given.Cents = part(all.Cents, lead.Cents, t.Given.Cents, t.Share.Cents)
	each.Tokens, given.Tokens = part(all.Tokens, lead.Tokens, t.Given.Tokens, t.Share.Tokens)
	each.Turns, given.Turns = part(all.Turns, lead.Turns, t.Given.Turns, t.Share.Turns)
	if err == nil {
		t.Share, t.Given, t.Counted = each, given, begun
	}
	return err
}

// replanned is another plan in words.
func (t *Team) replanned() string {
	return fmt.Sprintf("the plan is number %d by now, by %s", t.Version, t.ApprovedBy)
}
