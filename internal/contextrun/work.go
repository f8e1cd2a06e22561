package contextrun

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// report writes an event of a task or the blackboard, a last word also in a run that is full; the run's row is saved by the caller, once.
func (r *run) report(ctx context.Context, tx *db.Tx, kind, task, command string, payload any, word last) (*wire.Event, error) {
	e, err := r.event(ctx, tx, kind, payload)
	if err != nil {
		return nil, err
	}
	e.Task, e.Command, e.Patch = task, command, r.Patches+1
	if err := r.room(len(e.Payload), word); err != nil {
		return nil, err
	}
	note(ctx, r, e)
	return e, r.write(tx, e)
}

func (r *Room) add(ctx context.Context, tx *db.Tx, in wire.AddIn) (wire.AddOut, error) {
	out := wire.AddOut{Tasks: []*wire.Task{}, Events: []*wire.Event{}}
	if len(in.Tasks) == 0 || len(in.Tasks) > maxBatch {
		return out, bad("one call adds between 1 and %d tasks, not %d", maxBatch, len(in.Tasks))
	}
	one, err := held(ctx, tx, in.ID)
	if err != nil {
		return out, err
	}
	fresh, err := unsent(tx, one, in.Tasks, op.CallerFrom(ctx).Name)
	if err != nil {
		return out, err
	}
	if len(fresh) == 0 {
		out.Run = one.Run
		return out, nil
	}
	if one.Status.Ended() {
		return out, over(one)
	}
	if one.Tasks+len(fresh) > maxTasks {
		return out, fault.New(fault.Exhausted, "context.add", "%s would have more than %d tasks", one.ID, maxTasks).
			WithNext("begin another context run for the rest: tandem context start OBJECTIVE")
	}
	if fresh, err = inOrder(fresh); err != nil {
		return out, err
	}
	for _, t := range fresh {
		task, err := newTask(tx, one, t)
		if err != nil {
			return out, err
		}
		task.MadeAt, task.MovedAt = nowOf(tx), nowOf(tx)
		e, err := one.report(ctx, tx, added, task.ID, t.Command, task, ofNothing)
		if err != nil {
			return out, err
		}
		if err := insertTask(tx, one, task); err != nil {
			return out, err
		}
		out.Tasks, out.Events = append(out.Tasks, task), append(out.Events, e)
	}
	out.Run = one.Run
	op.Note(ctx, "tasks", len(fresh))
	return out, one.save(tx, false)
}

// unsent are the tasks whose commands did not come before, each with an id.
func unsent(tx *db.Tx, one *run, all []wire.TaskIn, by string) (out []wire.TaskIn, err error) {
	seen := map[string]bool{}
	for _, t := range all {
		if err := words(maxWord, t.Command, t.Kind, t.Workflow, t.Node, t.Parent); err != nil {
			return nil, err
		}
		before, err := sent(tx, one, t.Command, saying{kind: added, task: t.ID, by: by})
		if err != nil {
			return nil, err
		}
		if before != nil {
			continue
		}
		if t.ID == "" {
			t.ID = id.New("task")
		}
		for _, word := range []string{t.ID, "\x00" + t.Command} { // two of one call
			if seen[word] && word != "\x00" {
				return nil, bad("%.64q is there twice", word)
			}
			seen[word] = true
		}
		out = append(out, t)
	}
	return out, nil
}

// inOrder puts each task behind those of the same call that it waits for, and refuses those that wait for each other in a circle.
func inOrder(all []wire.TaskIn) ([]wire.TaskIn, error) {
	byID, out := map[string]wire.TaskIn{}, make([]wire.TaskIn, 0, len(all))
	for _, t := range all {
		byID[t.ID] = t
	}
	const under, placed = 1, 2
	state := map[string]int{}
	var visit func(t wire.TaskIn) error
	visit = func(t wire.TaskIn) error {
		switch state[t.ID] {
		case placed:
			return nil
		case under:
			return bad("the task %s waits for itself, by way of others", t.ID).WithNext("take one of them out of after")
		}
		state[t.ID] = under
		for _, need := range t.After {
			if other, here := byID[need]; here {
				if err := visit(other); err != nil {
					return err
				}
			}
		}
		state[t.ID] = placed
		out = append(out, t)
		return nil
	}
	for _, t := range all {
		if err := visit(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newTask is a task that is to be added, once all that it names is right.
func newTask(tx *db.Tx, one *run, in wire.TaskIn) (*wire.Task, error) {
	payload, err := someJSON("the payload of a task", in.Payload, maxPayload)
	switch {
	case err != nil:
		return nil, err
	case in.Kind == "":
		return nil, bad("what sort of work is the task %s? its kind is missing", in.ID)
	case in.MaxAttempts < 0 || in.MaxAttempts > 100 || max(in.Priority, -in.Priority) > 1_000_000:
		return nil, bad("a task is claimed between 1 and 100 times, and its priority lies between -1000000 and 1000000")
	case in.Stage != "" && in.Stage != wire.Pending && in.Stage != wire.Runnable && in.Stage != wire.Stuck:
		return nil, bad("a new task is pending, runnable or blocked, not %.40q", string(in.Stage))
	case len(in.After) > maxNeeds || len(in.Decisions) > maxNeeds || len(in.Artifacts) > maxNeeds:
		return nil, bad("a task names at most %d others, decisions and artifacts", maxNeeds)
	}
	if err := cmp.Or(named("a task", in.ID), words(maxWord, slices.Concat(in.Decisions, in.Artifacts)...)); err != nil {
		return nil, err
	}
	if known, err := findTask(tx, one, in.ID); err != nil || known != nil {
		if err == nil {
			err = fault.New(fault.Conflict, "context.add", "%s has a task %s already", one.ID, in.ID).WithNext("leave the id out, or give another")
		}
		return nil, err
	}
	t := &wire.Task{ID: in.ID, Nr: one.Tasks + 1, Kind: in.Kind, Payload: payload, Stage: in.Stage, Workflow: in.Workflow, Node: in.Node,
		Parent: in.Parent, Decisions: in.Decisions, Artifacts: in.Artifacts, Priority: in.Priority, MaxAttempts: in.MaxAttempts, Rev: 1}
	for _, need := range in.After {
		if slices.Contains(t.After, need) {
			continue
		}
		other, err := findTask(tx, one, need)
		if err != nil {
			return nil, err
		}
		if other == nil {
			return nil, bad("%s waits for %.64q, and there is no such task", in.ID, need).WithNext("add both in one call, or that one first")
		}
		if t.After = append(t.After, need); other.Stage != wire.Done {
			t.Waits++
		}
	}
	if t.MaxAttempts == 0 {
		t.MaxAttempts = 3
	}
	if t.Stage != wire.Stuck {
		if t.Stage = wire.Runnable; t.Waits > 0 || in.Stage == wire.Pending {
			t.Stage = wire.Pending
		}
	}
	return t, nil
}

// resting refuses claims of a run that does not go on.
func resting(r *run) error {
	if r.Status != wire.Paused && r.Status != wire.Awaiting && r.Status != wire.Blocked {
		return nil
	}
	return fault.New(fault.Conflict, "context.claim", "%s does not go on: it is %s", r.ID, r.Status).
		WithNext("say that it does: tandem context append %s run_resumed --status running", r.ID)
}

func (r *Room) claim(ctx context.Context, tx *db.Tx, in wire.ClaimIn) (wire.ClaimOut, error) {
	d, err := lease(in.LeaseMS)
	if err := cmp.Or(err, words(maxWord, in.Agent, in.Command, in.Kind, in.Workflow, in.Task)); err != nil {
		return wire.ClaimOut{}, err
	}
	one, err := held(ctx, tx, in.ID)
	if err != nil {
		return wire.ClaimOut{}, err
	}
	before, err := sent(tx, one, in.Command, saying{kind: claimed, task: in.Task, by: op.CallerFrom(ctx).Name})
	if err != nil || before != nil {
		return again(ctx, tx, one, before, err)
	}
	if one.Status.Ended() {
		return wire.ClaimOut{}, over(one)
	}
	if err := resting(one); err != nil {
		return wire.ClaimOut{}, err
	}
	if err := giveUp(ctx, tx, one); err != nil {
		return wire.ClaimOut{}, err
	}
	t, why, err := choose(tx, one, in)
	if err != nil {
		return wire.ClaimOut{}, err
	}
	if t == nil {
		return wire.ClaimOut{Why: why}, one.save(tx, false)
	}
	e, err := one.move(ctx, tx, t, claimed, in.Command, takes(t, op.CallerFrom(ctx).Name, in.Agent, d, nowOf(tx)))
	if err != nil {
		return wire.ClaimOut{}, err
	}
	t.Token = id.New("lease")
	op.Note(ctx, "task", t.ID)
	op.Note(ctx, "attempt", t.Attempt)
	return wire.ClaimOut{Task: t, Event: e}, cmp.Or(saveTask(tx, one, t), one.save(tx, false))
}

// again answers a claim that came before: with its task, while that is still held by it.
func again(ctx context.Context, tx *db.Tx, one *run, before *wire.Event, err error) (wire.ClaimOut, error) {
	if err != nil {
		return wire.ClaimOut{}, err
	}
	t, err := findTask(tx, one, before.Task)
	if err != nil || t == nil {
		return wire.ClaimOut{Again: true}, err
	}
	c, err := changeOf(before)
	if err != nil || before.Type != claimed || c.Attempt != t.Attempt || t.Stage != wire.InProgress || before.By != op.CallerFrom(ctx).Name {
		return wire.ClaimOut{Again: true, Why: "this claim came before, and its task is not held by it any more"}, err
	}
	return wire.ClaimOut{Task: t, Event: before, Again: true}, nil
}

// givesBack are the actions by which whoever holds a task tells how it went with it: once for each claim, also in a run that is full.
var givesBack = []string{"complete", "fail", "block", "release"}

// move writes what becomes of a task, and applies it. The task's row is saved by the caller.
func (r *run) move(ctx context.Context, tx *db.Tx, t *wire.Task, kind, command string, c change) (*wire.Event, error) {
	word := ofNothing
	if t.Stage == wire.InProgress && slices.Contains(givesBack, c.Action) {
		word = ofAClaim
	}
	e, err := r.report(ctx, tx, kind, t.ID, command, c, word)
	if err == nil {
		applyTask(t, c, e)
	}
	return e, err
}

// giveUp fails the tasks whose last lease has run out: nobody may claim them any more.
func giveUp(ctx context.Context, tx *db.Tx, one *run) error {
	late, err := tasks(tx, one, " AND stage = ? AND lease_ends <= ? AND attempt >= most ORDER BY nr", string(wire.InProgress), tx.Ended())
	for _, t := range late {
		if err != nil {
			break
		}
		_, err = one.move(ctx, tx, t, moved, "", change{Action: "give_up", Stage: wire.Broken, Rev: t.Rev + 1,
			Error: fmt.Sprintf("its lease ran out, and it was claimed %d times already", t.Attempt)})
		err = cmp.Or(err, saveTask(tx, one, t))
	}
	return err
}

// choose is the task that a claim gets: the one it names, or the one of the highest priority that may be claimed, the oldest of these.
func choose(tx *db.Tx, one *run, in wire.ClaimIn) (*wire.Task, string, error) {
	if in.Task != "" {
		t, err := findTask(tx, one, in.Task)
		if err != nil {
			return nil, "", err
		}
		if t == nil {
			return nil, "", noTask(one, in.Task)
		}
		return t, "", claimable(t, tx.Now(), tx.Ended())
	}
	list, err := tasks(tx, one, ` AND (stage IN ('pending', 'runnable') AND retry_at <= ? OR stage = 'in_progress' AND lease_ends <= ?)
		AND waits = 0 AND attempt < most AND (? = '' OR kind = ?) AND (? = '' OR workflow = ?) ORDER BY priority DESC, nr LIMIT 1`,
		tx.Now(), tx.Ended(), in.Kind, in.Kind, in.Workflow, in.Workflow)
	if err != nil || len(list) > 0 {
		return append(list, nil)[0], "", err
	}
	all, err := tasks(tx, one, "")
	return nil, waits(one, all, tx.Now(), tx.Ended()), err
}

func noTask(one *run, id string) error {
	return fault.New(fault.NotFound, "context", "%s has no task %.64q", one.ID, id).
		WithNext("see what there is: tandem context show %s", one.ID)
}

// waits says why nothing of a run can be claimed; "" when something can.
func waits(r *run, all []*wire.Task, now, ended time.Time) string {
	if err := resting(r); err != nil || r.Status.Ended() {
		return "it is " + string(r.Status)
	}
	count := map[string]int{}
	for _, t := range all {
		switch {
		case claimable(t, now, ended) == nil:
			return ""
		case t.Waits > 0 && (t.Stage == wire.Pending || t.Stage == wire.Runnable):
			count["wait for others"]++
		case t.RetryAt != nil && t.RetryAt.After(now) && t.Stage == wire.Runnable:
			count["are tried again later"]++
		case t.Stage == wire.InProgress:
			count["are held"]++
		case t.Stage == wire.Stuck || t.Stage == wire.Broken:
			count["are "+string(t.Stage)]++
		case t.Stage != wire.Done: // claimed as often as it may be, and given back
			count["are runnable"]++
		}
	}
	out := ""
	for _, what := range []string{"wait for others", "are held", "are tried again later", "are blocked", "are failed", "are runnable"} {
		if n := count[what]; n > 0 {
			out += fmt.Sprintf(", %d %s", n, what)
		}
	}
	switch {
	case len(all) == 0:
		return "it has no tasks"
	case out == "":
		return "all tasks are done"
	}
	return fmt.Sprintf("of %d tasks %s", len(all), out[2:])
}

func (r *Room) transition(ctx context.Context, tx *db.Tx, in wire.TransitionIn) (wire.TransitionOut, error) {
	if err := cmp.Or(words(maxText, in.Error), words(maxWord, in.Agent, in.Command)); err != nil {
		return wire.TransitionOut{}, err
	}
	one, err := held(ctx, tx, in.ID)
	if err != nil {
		return wire.TransitionOut{}, err
	}
	t, err := findTask(tx, one, in.Task)
	if err == nil && t == nil {
		err = noTask(one, in.Task)
	}
	if err != nil {
		return wire.TransitionOut{}, err
	}
	kind := moved
	if in.Action == "heartbeat" {
		kind = beat
	}
	before, err := sent(tx, one, in.Command, saying{kind, t.ID, in.Action, op.CallerFrom(ctx).Name})
	if err != nil || before != nil {
		t.Token = ""
		return wire.TransitionOut{Task: t, Event: before, Again: true}, err
	}
	if one.Status.Ended() {
		return wire.TransitionOut{}, over(one)
	}
	c, err := moves(t, in, nowOf(tx))
	if err != nil {
		return wire.TransitionOut{}, err
	}
	e, err := one.move(ctx, tx, t, kind, in.Command, c)
	if err != nil {
		return wire.TransitionOut{}, err
	}
	if err := cmp.Or(saveTask(tx, one, t), one.save(tx, false)); err != nil {
		return wire.TransitionOut{}, err
	}
	op.Note(ctx, "action", in.Action)
	if c.Stage == wire.Done {
		err = freed(tx, one, t, e)
	}
	t.Token = ""
	return wire.TransitionOut{Task: t, Event: e}, err
}

// freed takes a task that is done from what others wait for.
func freed(tx *db.Tx, one *run, done *wire.Task, e *wire.Event) error {
	next, err := tasks(tx, one, " AND id IN (SELECT task FROM context_need WHERE tenant = ? AND run = ? AND needs = ?)", one.tenant, one.ID,
		done.ID)
	for _, t := range next {
		if err == nil {
			free(t, e)
			err = saveTask(tx, one, t)
		}
	}
	return err
}
