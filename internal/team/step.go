package team

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/team/wire"
)

// step does what the row says is next. A step that a crash cut off is done again, and finds what it did before.
func (r *Room) step(ctx context.Context, t *Team) error {
	switch {
	case t.Rests:
		return r.rest(ctx, t)
	case t.Hush || t.Flight != "" && t.State != wire.Planning && t.State != wire.Working:
		return r.hush(ctx, t)
	case !t.Until.IsZero() && !r.DB.Now().Before(t.Until) && !t.resting() && t.State != wire.Proposed:
		return r.happened(ctx, t, Event{Kind: Paused, Text: "its time is over: it was to work until " + t.Until.Format(time.RFC3339)})
	case t.State == wire.Blocked:
		return r.sees(ctx, t)
	}
	if err := r.still(ctx, t.Caller); fault.Is(err, fault.Unauthenticated) {
		return r.happened(ctx, t, Event{Kind: Blocked, Text: t.By + " started it, and may do nothing here any more"})
	} else if err != nil {
		return err
	}
	if t.Prompt != "" {
		if err := r.lead(ctx, t); err != nil || t.State == wire.Planning {
			return err
		}
	}
	if t.State != wire.Working {
		return nil
	}
	for _, k := range t.Tasks {
		if err := r.look(ctx, t, k.Name); err != nil {
			return err
		}
	}
	for _, k := range t.ready() {
		if err := r.begin(ctx, t, k.Name); err != nil {
			return err
		}
	}
	if t.State == wire.Working && t.over() {
		return r.happened(ctx, t, Event{Kind: Ended, Text: report(t, r.spent(ctx, t), r.DB.Now())})
	}
	return nil
}

// rest brings a team to rest: its lead's turn is ended, and each of its jobs that goes on by itself is stopped, also one that was being
// begun. One that waits for a person's look stays there.
func (r *Room) rest(ctx context.Context, t *Team) error {
	if k := t.task(t.Begins); k != nil { // by its key it is the job that there is
		if err := r.started(ctx, t, k); err != nil {
			if f := fault.Public(err); f.Kind == fault.Unavailable || f.Kind == fault.Internal || ctx.Err() != nil {
				return err
			}
			if err := r.happened(ctx, t, Event{Kind: Unbegun, Task: k.Name}); err != nil {
				return err
			}
		}
	}
	if err := r.quiet(ctx, t); err != nil {
		return err
	}
	for _, k := range t.Tasks {
		if k.Job == "" || k.Over() {
			continue
		}
		held, err := r.Halt(ctx, t.Tenant, k.Job, t.ID, "its team is "+string(t.State))
		if err != nil {
			return err
		}
		if held && !k.Held {
			if err := r.happened(ctx, t, Event{Kind: Held, Task: k.Name}); err != nil {
				return err
			}
		}
	}
	return r.happened(ctx, t, Event{Kind: Rested})
}

// look sees where a task's job stands, and does to it what is next.
func (r *Room) look(ctx context.Context, t *Team, name string) error {
	k := t.task(name)
	if k == nil || k.Job == "" || k.Over() || t.State != wire.Working {
		return nil
	}
	as := op.WithCaller(ctx, t.Caller)
	done := func(e Kind, err error) error {
		if err != nil && !fault.Is(err, fault.Conflict) { // then it is elsewhere by now, which is seen
			return r.blocked(ctx, t, err)
		}
		return r.happened(ctx, t, Event{Kind: e, Task: name})
	}
	if k.Held || k.Say != "" || k.Again { // the row may be older than what somebody said
		now, err := r.get(ctx, t.Tenant, t.ID)
		if err != nil {
			return err
		}
		if now.State != t.State {
			return errStale
		}
	}
	if k.Inspect != "" || k.Remark != "" {
		return r.inspect(ctx, t, k)
	}
	if (k.Say != "" || k.Again) && !k.Held && len(t.Behind(k)) > 0 { // it gave its files back when it failed, and another has them
		return nil
	}
	switch {
	case k.Held:
		_, err := op.Do(as, r.Rooms, job.Resume, job.ResumeIn{ID: k.Job})
		return done(Loosed, err)
	case k.Say != "":
		_, err := op.Do(as, r.Rooms, job.Send, job.SendIn{ID: k.Job, Text: "The lead of your team says:\n" + k.Say, Agent: k.Hand})
		return done(Told, err)
	case k.Again:
		_, err := op.Do(as, r.Rooms, job.Resume, job.ResumeIn{ID: k.Job})
		return done(Retried, err)
	}
	return r.see(ctx, t, k)
}

// sees sees where the jobs of a blocked team stand: those that are at work go on.
func (r *Room) sees(ctx context.Context, t *Team) error {
	for _, k := range t.Tasks {
		if k.Job == "" || k.Over() || t.State != wire.Blocked {
			continue
		}
		if err := r.see(ctx, t, k); err != nil {
			return err
		}
	}
	return nil
}

// see takes where a task's job stands.
func (r *Room) see(ctx context.Context, t *Team, k *wire.Task) error {
	j, err := op.Do(op.WithCaller(ctx, t.Caller), r.Rooms, job.Get, job.IDIn{ID: k.Job})
	if err != nil && t.State == wire.Blocked && ctx.Err() == nil {
		return nil // it waits for somebody already
	}
	if fault.Is(err, fault.NotFound) {
		return r.happened(ctx, t, Event{Kind: Blocked, Text: fmt.Sprintf("the job %s of the task %s is gone", k.Job, k.Name)})
	}
	if err != nil {
		return r.blocked(ctx, t, err)
	}
	e := Event{Kind: Saw, Task: k.Name, Job: j}
	if !changes(t, e) {
		return nil
	}
	return r.happened(ctx, t, e)
}

// changes says whether an event would change anything but the record.
func changes(t *Team, e Event) bool {
	was, err := json.Marshal(t)
	if err != nil {
		return true
	}
	var after Team
	if json.Unmarshal(was, &after) != nil || after.apply(e) != nil {
		return true
	}
	now, err := json.Marshal(&after)
	return err != nil || string(was) != string(now)
}

// begin has a task done as a job of its own. The row says so first: a team that was stopped or paused meanwhile begins nothing, and one
// that is stopped in this moment knows of the job.
func (r *Room) begin(ctx context.Context, t *Team, name string) error {
	k := t.task(name)
	if t.State != wire.Working || k == nil || k.Job != "" {
		return nil
	}
	if t.Begins != name {
		if err := r.happened(ctx, t, Event{Kind: Begins, Task: name}); err != nil {
			return err
		}
	}
	err := r.started(ctx, t, t.task(name))
	if f := fault.Public(err); err != nil && ctx.Err() == nil && f.Kind != fault.Unavailable && f.Kind != fault.Internal {
		return r.happened(ctx, t, Event{Kind: Blocked, Task: name, Text: said(f)})
	}
	return err
}

// started starts a task's job. The key makes a step that a crash cut off find the same job again: what the job hears is of the plan alone,
// and the same each time.
func (r *Room) started(ctx context.Context, t *Team, k *wire.Task) error {
	c := t.Caller
	c.Idempotency = t.ID + "." + k.Name
	j, err := op.Do(op.WithCaller(ctx, c), r.Rooms, job.Start, job.StartIn{Task: told(t, k), Folder: t.Folder, Onto: t.Onto, Agent: k.Agent,
		Check: k.Check, Budget: t.Share, Knowledge: t.Knowledge})
	if err != nil {
		return err
	}
	return r.happened(ctx, t, Event{Kind: Began, Task: k.Name, Job: j})
}

// told is what the agent of a task hears.
func told(t *Team, k *wire.Task) string {
	var b strings.Builder
	b.WriteString(k.Text)
	goal, _, _ := strings.Cut(strings.TrimSpace(t.Goal), "\n")
	fmt.Fprintf(&b, "\n\nThis is the task %s of a team whose goal is: %s.", k.Name, fault.Clip(goal, 500))
	if len(k.Files) > 0 {
		fmt.Fprintf(&b, " It is about these files: %s.", strings.Join(k.Files, ", "))
	}
	var others []string
	for _, o := range t.Tasks {
		if o.Name != k.Name && !t.follows(o, k.Name) && !t.follows(k, o.Name) {
			name := o.Name
			if len(o.Files) > 0 {
				name += " (" + strings.Join(o.Files, ", ") + ")"
			}
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(&b, " Others may work on %s at the same time, in checkouts of their own: do only your task, and leave their files alone.",
			strings.Join(others, ", "))
	}
	return b.String()
}

// follows says whether a task comes after another one, also with others between them.
func (t *Team) follows(k *wire.Task, name string) bool {
	return slices.ContainsFunc(k.After, func(a string) bool { return a == name || t.follows(t.task(a), name) })
}

// report is what became of a team, from what happened.
func report(t *Team, spent *wire.Spent, now time.Time) string {
	var b strings.Builder
	merged := 0
	for _, k := range t.Tasks {
		if k.Stage == wire.Merged {
			merged++
		}
	}
	fmt.Fprintf(&b, "%d of %d tasks were merged into %s, in %s. The plan was number %d, approved by %s.\n", merged, len(t.Tasks), t.Onto,
		now.Sub(t.MadeAt).Round(time.Second), t.Version, t.ApprovedBy)
	for _, k := range t.Tasks {
		fmt.Fprintf(&b, "- %s: %s", k.Name, k.Stage)
		if k.Job != "" {
			fmt.Fprintf(&b, ", %s by %s", k.Job, k.Agent)
		}
		if k.Stage == wire.Merged {
			fmt.Fprintf(&b, ", %.12s", k.Commit)
		}
		if k.Check == "" {
			b.WriteString(", unchecked")
		}
		if k.Reason != "" {
			fmt.Fprintf(&b, ": %s", k.Reason)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "Used: %d tokens in %d turns, %.2f USD where the price is known. The lead was asked %d times.\n", spent.Tokens,
		spent.Turns, spent.Cents/100, t.Turns)
	for _, c := range t.Criteria {
		fmt.Fprintf(&b, "Not checked by tandem: %s\n", c)
	}
	return b.String()
}
