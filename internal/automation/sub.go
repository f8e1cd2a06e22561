package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

const (
	onRun     = "run"                             // what a step waits for whose node is another automation
	onPlace   = "a place among the open runs of " // with the name of the automation
	lookAtRun = time.Minute                       // how often its run is looked at of whose end nobody told
	maxDepth  = 8                                 // how many runs may each begin the next: a ring of automations ends there
)

// sub begins a run of another automation, and waits for its end. The run is a row that the gate makes once for this attempt: after a kill
// the same one is found.
func (r *Room) sub(ctx context.Context, j *job, caller op.Caller) result {
	if j.step.child != "" {
		return r.subEnded(ctx, j)
	}
	if j.again && r.DB.Now().Sub(j.step.began) > lateKey {
		return lost("its run was begun %s ago, which is longer than the gate remembers", r.DB.Now().Sub(j.step.began).Round(time.Minute))
	}
	caller.Scope = []string{"automation.run"}
	under := op.WithCaller(context.WithValue(ctx, beginner{}, j), caller)
	begun, err := op.Do(under, r.Rooms, wire.Begin, wire.BeginIn{Name: j.body.Automation.Name, Input: j.inputs, Parent: j.id})
	if ends := j.step.began.Add(time.Duration(j.node.Budget.Time)); full(err) && r.DB.Now().Before(ends) {
		return result{waits: onPlace + j.body.Automation.Name, look: earlier(ends, r.DB.Now().Add(lookAtRun))}
	}
	if err != nil {
		return r.failed(ctx, r.Find(string(wire.Begin)), err)
	}
	return result{waits: onRun, look: r.DB.Now().Add(lookAtRun), child: begun.ID}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// beginChild begins a run for a node of another one.
func (r *Room) beginChild(ctx context.Context, tx *db.Tx, in wire.BeginIn) (*wire.Run, error) {
	c := op.CallerFrom(ctx)
	from, err := scanRun(tx.QueryRow("SELECT "+runColumns+" FROM automation_run WHERE tenant = ? AND id = ?", c.Tenant, in.Parent))
	if err != nil && !db.NoRows(err) {
		return nil, err
	}
	if err != nil || c.Door != op.DoorInside || c.Name != actorName(from.name) || !from.ended.IsZero() {
		return nil, fault.New(fault.Denied, string(wire.Begin), "a run says of itself that it begins another, and nobody else").
			WithNext("leave parent out")
	}
	begins := origin{cause: "the run " + from.id + " of " + from.name, parent: from.id, depth: from.depth + 1}
	j, known := ctx.Value(beginner{}).(*job)
	if known {
		begins.bound = j.rest()
	}
	begun, err := r.beginIn(ctx, tx, in, begins)
	if known && err == nil {
		s := &j.step // in the same change: there is no run of which its step does not know
		_, err = tx.Exec("UPDATE automation_step SET child = ? WHERE "+stepKey, begun.ID, s.tenant, s.run, s.node, s.item, s.attempt)
	}
	return begun, err
}

// rest is what a run may use that this attempt begins: what its own run has left, and no more than the node's budget.
func (j *job) rest() *run.Event {
	e := &run.Event{Kind: run.Bounded, Item: -1, Tokens: max(1, j.tokens), Cost: max(0, j.cost)}
	if b := j.node.Budget; b.Tokens > 0 {
		e.Tokens = min(e.Tokens, b.Tokens)
	}
	if b := j.node.Budget; b.Cost > 0 {
		e.Cost = min(e.Cost, b.Cost)
	}
	return e
}

// beginner is under which a context knows the attempt that begins a run.
type beginner struct{}

// subEnded reads what became of the run.
func (r *Room) subEnded(ctx context.Context, j *job) result {
	look := looking{ctx, r.DB}
	row, err := scanRun(look.QueryRow("SELECT "+runColumns+" FROM automation_run WHERE tenant = ? AND id = ? AND parent = ?", j.tenant,
		j.step.child, j.id))
	switch {
	case db.NoRows(err):
		return lost("its run %s is not there any more", j.step.child)
	case err != nil:
		return r.notYet(j, err)
	}
	now := r.DB.Now()
	until := row.began.Add(time.Duration(j.node.Budget.Time)) // not the step's: a person may have been asked before it began
	h, unread := r.fold(look, row)
	if unread == nil {
		until = until.Add(h.run.Rested(now))
	}
	switch {
	case unread != nil && !errors.Is(unread, errUnread): // the database is away, or this server ends
		return r.notYet(j, unread)
	case !row.ended.IsZero():
	case !now.Before(until): // whoever looks for orphans ends it
		e := run.Event{Kind: run.Failure, Class: "time", Text: "its run " + row.id + " is not over, and the node's time is"}
		if unread == nil { // what it used so far counts, or each attempt would begin anew for nothing
			e.Tokens, e.Cost = h.run.Tokens, h.run.Cost
		}
		return result{Event: e}
	default:
		return result{waits: onRun, look: earlier(until, now.Add(lookAtRun))}
	}
	if unread != nil {
		return lost("what its run %s gave cannot be read: the run is %s", row.id, row.status)
	}
	res := result{Event: run.Event{Kind: run.Finished, Tokens: h.run.Tokens, Cost: h.run.Cost, Output: map[string]any{}}}
	if h.run.Status != run.Completed {
		res.Kind, res.Class = run.Failure, "run"
		res.Text, res.Output = strings.TrimSuffix(fmt.Sprintf("its run %s is %s: %s", row.id, row.status, row.reason), ": "), nil
		return res
	}
	if err := r.gives(ctx, j, h, res.Output); err != nil {
		res.Kind, res.Class, res.Text, res.Output = run.Failure, "check", err.Error(), nil
	}
	return res
}

// gives takes what the node names from the run that ended: values as they are, artifacts as their text.
func (r *Room) gives(ctx context.Context, j *job, h *held, out map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(j.body.Automation.Gives)) {
		ref := j.body.Automation.Gives[name]
		v, ok := h.run.Value(ref)
		if !ok {
			return fmt.Errorf("its run %s gave no %s", h.id, ref)
		}
		if named, ok := v.(map[string]any); ok && h.run.Spec.IsArtifact(ref) {
			id, _ := named["artifact"].(string)
			text, plain, err := r.Text(ctx, j.tenant, h.name, id)
			if err != nil {
				return fmt.Errorf("the artifact %s of its run %s: %s", ref, h.id, said(err))
			}
			if !plain {
				return fmt.Errorf("%s is an artifact that has no text to give on", ref)
			}
			v = text
		}
		out[name] = v
	}
	data, err := json.Marshal(out)
	if err == nil && len(data) > maxOutput {
		err = fmt.Errorf("its run gave %d bytes; %d are allowed", len(data), maxOutput)
	}
	return err
}

// hearChild has a step looked at again whose run ended before the step was parked.
func (r *Room) hearChild(ctx context.Context, j *job) {
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM automation_run WHERE tenant = ? AND id = ? AND ended_at > 0", j.tenant,
			j.step.child).Scan(&n); err != nil || n == 0 {
			return err
		}
		return r.wakeParent(tx, j.tenant, j.id, j.step.child)
	})
	if err != nil && ctx.Err() == nil {
		r.Log.Error("the end of a run is not heard", "run", j.step.child, "err", err)
	}
}

func (r *Room) wakeParent(tx *db.Tx, tenant, parent, child string) error {
	tx.AfterCommit(r.rouse)
	_, err := tx.Exec("UPDATE automation_step SET look_at = 1 WHERE tenant = ? AND run = ? AND child = ? AND state = ?", tenant, parent, child,
		parked)
	return err
}

// orphans cancels the runs whose parent is over, or goes on without them. One that cannot be read or ended keeps nobody else from going on.
func (r *Room) orphans(ctx context.Context) error {
	all, err := collectRuns(r.DB.Query(ctx, "SELECT "+runColumns+` FROM automation_run WHERE ended_at = 0 AND parent <> '' AND (NOT EXISTS
		(SELECT 1 FROM automation_run p WHERE p.tenant = automation_run.tenant AND p.id = automation_run.parent AND p.ended_at = 0)
		OR EXISTS (SELECT 1 FROM automation_step s WHERE s.tenant = automation_run.tenant AND s.run = automation_run.parent
			AND s.child = automation_run.id AND s.state = ?))`, over))
	for _, row := range all {
		err := r.DB.Write(ctx, func(tx *db.Tx) error {
			tx.AfterCommit(func() { r.endRun(runKey{row.tenant, row.id}) })
			_, err := r.tell(tx, row.tenant, row.id, func(h *held) error {
				return h.apply(run.Event{Kind: run.Stopped, Text: "the run " + row.parent + " that began it goes on without it, or is over"})
			})
			if errors.Is(err, errUnread) {
				err = r.giveUp(tx, row, "the server: the run "+row.parent+" that began it goes on without it, or is over")
			}
			return err
		})
		if err != nil && !fault.Is(err, fault.Conflict) && ctx.Err() == nil {
			r.Log.Error("a run that nobody waits for is not ended", "run", row.id, "err", err)
		}
	}
	return err
}

// abreast pauses the runs whose parent is paused, and lets those go on that were paused so when their parent does.
func (r *Room) abreast(ctx context.Context) error {
	const apart = " FROM automation_run WHERE ended_at = 0 AND parent <> '' AND status = ? AND EXISTS (SELECT 1 FROM automation_run p WHERE " +
		"p.tenant = automation_run.tenant AND p.id = automation_run.parent AND p.status = ?)"
	for _, c := range []struct {
		child, parent run.Status
		happens       run.Event
	}{{run.Running, run.Paused, run.Event{Kind: run.Pausing, Text: "the run that began it is paused"}},
		{run.Paused, run.Running, run.Event{Kind: run.Resumed, Text: "the run that began it goes on"}}} {
		all, err := collectRuns(r.DB.Query(ctx, "SELECT "+runColumns+apart, c.child, c.parent))
		if err != nil {
			return err
		}
		for _, row := range all {
			e := c.happens
			e.By = row.parent
			err := r.DB.Write(ctx, func(tx *db.Tx) error {
				_, err := r.change(tx, row.tenant, row.id, func(h *held) error {
					if h.status != string(c.child) || c.child == run.Paused && h.run.PausedBy != row.parent {
						return nil // somebody else paused it, and lets it go on
					}
					tx.AfterCommit(func() { r.stir(runKey{row.tenant, row.id}) })
					return h.apply(e)
				})
				return err
			})
			if err != nil && ctx.Err() == nil {
				r.Log.Error("a run does not follow the one that began it", "run", row.id, "err", err)
			}
		}
	}
	return nil
}

// builtSub says what of a node that is another automation cannot be.
func builtSub(a *spec.Automation, n *spec.Node, s *spec.Sub, no func(string, ...any)) {
	if s.Name == a.Name {
		no("node %s: it would run itself for ever", n.ID)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Output)) {
		if s.Gives[name] == "" {
			no("node %s: automation.gives says of the output %s which node.output of %s it is", n.ID, name, s.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Gives)) {
		if _, there := n.Output[name]; !there {
			no("node %s: automation.gives names %s, which is no output of the node", n.ID, name)
		}
	}
}

// unseen refuses a definition that names automations which whoever switches it on may not run or see.
func unseen(ctx context.Context, a *spec.Automation) (err error) {
	look := func(right, name string) {
		if err == nil && !op.May(ctx, right, at(name)) {
			err = op.NoSuch("automation", name)
		}
	}
	each(a, func(_ *spec.Node, b *spec.Body) {
		if b.Automation != nil {
			look("automation.run", b.Automation.Name)
		}
	})
	for _, t := range a.Triggers {
		if t.Ended != "" {
			look("automation.read", t.Ended)
		}
	}
	return err
}
