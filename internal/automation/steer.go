package automation

import (
	"context"
	"encoding/json"
	"errors"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// runAt is the automation that a run belongs to, for policy.
func (r *Room) runAt(ctx context.Context, runID string) op.Resource {
	var name string
	err := r.DB.QueryRow(ctx, "SELECT name FROM automation_run WHERE tenant = ? AND id = ?", op.CallerFrom(ctx).Tenant, runID).Scan(&name)
	if err != nil { // the handler says that there is none
		return op.Resource{Kind: "automation", Path: "/", Called: runID}
	}
	return at(name)
}

func (r *Room) runOps() []op.Op {
	ofRun := func(o op.Op) op.Op {
		return op.Placing(o, func(ctx context.Context, in wire.RunIn) op.Resource { return r.runAt(ctx, in.ID) })
	}
	ofStep := func(o op.Op) op.Op {
		return op.Placing(o, func(ctx context.Context, in wire.StepIn) op.Resource { return r.runAt(ctx, in.ID) })
	}
	ofRepair := func(o op.Op) op.Op {
		return op.Placing(o, func(ctx context.Context, in wire.RepairIn) op.Resource { return r.runAt(ctx, in.ID) })
	}
	person := func(verb, doc string) op.Spec { // an agent never says what is to be done with a step that may have acted
		return op.Spec{Right: "automation.admin", Present: true, People: true, MCP: "-", Method: "POST",
			Path: "/automation-runs/{id}/" + verb, Doc: doc}
	}
	return []op.Op{
		op.Binding(wire.Begin.State(op.Spec{Right: "automation.run", Method: "POST", Path: "/automation/{name}/run",
			Doc: "Begin a run of an automation that is switched on. It goes on by itself; read it with automation_trace."},
			func(in wire.BeginIn) op.Resource { return at(in.Name) }, r.begin), r.bind),
		wire.Runs.Read(op.Spec{Right: "automation.list", Masked: true, Method: "GET", Path: "/automation-runs",
			Doc: "List runs of automations, newest first."}, func(wire.RunsIn) op.Resource { return at("") }, r.runs),
		ofRun(wire.Trace.Read(op.Spec{Right: "automation.read", Method: "GET", Path: "/automation-runs/{id}",
			Doc: "Read a run: where each step stands, what it was given and gave, why the run waits and on whom."}, nil, r.trace)),
		ofRun(wire.Pause.State(op.Spec{Right: "automation.run", Method: "POST", Path: "/automation-runs/{id}/pause",
			Doc: "Pause a run: what is under way ends, and nothing new is begun."}, nil, r.steer(run.Pausing))),
		ofRun(wire.Resume.State(op.Spec{Right: "automation.run", Method: "POST", Path: "/automation-runs/{id}/resume",
			Doc: "Go on with a paused run."}, nil, r.steer(run.Resumed))),
		ofRun(wire.Cancel.State(op.Spec{Right: "automation.run", Method: "POST", Path: "/automation-runs/{id}/cancel",
			Doc: "Cancel a run. What is under way is not undone."}, nil, r.steer(run.Stopped))),
		ofStep(wire.Retry.State(person("retry",
			"Let a step run again that failed, or of which nobody knows whether it acted. Needs a person present."), nil, r.mend(run.Retried))),
		ofStep(wire.Skip.State(person("skip", "Skip a step, with a reason. Needs a person present."), nil, r.mend(run.Passed))),
		ofStep(wire.Accept.State(person("accept",
			"Say that a step was done of which nobody knew, with what it gave. Needs a person present."), nil, r.mend(run.Accepted))),
		ofRepair(wire.Review.Read(op.Spec{Right: "automation.read", Method: "POST", Path: "/automation-runs/{id}/review",
			Doc: "Say what a node of a run is told, and what a repair would change, as a diff. It changes nothing."}, nil, r.review)),
		ofRepair(wire.Repair.State(person("repair", "Have a node of a run that failed or waits told something else, and go on from there: "+
			"its prompt or model, or other words of the definition.\nThe repair is one that was looked at, by the digest that "+
			"automation_review gives. Needs a person present."), nil, r.repair)),
		op.Placing(wire.Rehearse.Read(op.Spec{Right: "automation.read", Method: "POST", Path: "/automation-runs/{id}/rehearse",
			Doc: "Play a run again with the newest version of its automation, or another definition, on the answers that were recorded.\n" +
				"It says what would differ, and which nodes have no answer. No model is asked, nothing is done, and the run stays as it is."},
			nil, r.rehearse), func(ctx context.Context, in wire.RehearseIn) op.Resource { return r.runAt(ctx, in.ID) }),
		op.Binding(wire.Hand.State(op.Spec{Right: "automation.run", Method: "POST", Path: "/automation/{name}/handoff/{handoff}",
			Doc: "Hand over what a run waits for, or will wait for: the values of the node's outputs, by their names.\n" +
				"What does not fit is refused and changes nothing. It is data for the run, and gives no right."},
			func(in wire.HandIn) op.Resource { return handoffsOf(in.Name, in.Handoff) }, r.hand), r.bindHand),
		wire.Handoffs.Read(op.Spec{Right: "automation.read", Method: "GET", Path: "/automation/{name}/handoffs",
			Doc: "List what the newest runs of an automation wait for until somebody hands it over, what was handed over, and by whom."},
			named, r.handoffs),
		wire.Ticks.Read(op.Spec{Right: "automation.read", Method: "GET", Path: "/automation/{name}/ticks",
			Doc: "List the moments at which an automation was due: the run of each, or why there was none."}, named, r.ticks),
		wire.Tick.State(op.Spec{Right: "automation.run", Socket: true, MCP: "-",
			Doc: "Deal with a schedule that is due. The server alone calls it, as the automation."},
			func(in wire.TickIn) op.Resource { return ticksOf(in.Name) }, r.tick),
		wire.Notice.State(op.Spec{Right: "automation.run", Socket: true, MCP: "-",
			Doc: "Begin a run for an event of the journal. The server alone calls it, as the automation."},
			func(in wire.NoticeIn) op.Resource { return ticksOf(in.Name) }, r.notice),
		wire.Look.Read(op.Spec{Right: "automation.run", Socket: true, MCP: "-",
			Doc: "Look at the files or the bookmark that a trigger watches. The server alone calls it, as the automation."},
			func(in wire.TickIn) op.Resource { return ticksOf(in.Name) }, r.lookAt),
		wire.Changed.State(op.Spec{Right: "automation.run", Socket: true, MCP: "-",
			Doc: "Begin a run for files that changed or a bookmark that moved. The server alone calls it, as the automation."},
			func(in wire.ChangedIn) op.Resource { return ticksOf(in.Name) }, r.changed),
		op.Expiring(wire.Pass.State(op.Spec{Right: "automation.run", Socket: true, MCP: "-",
			Doc: "Pass a gate. A run alone calls it, and a person answers."},
			passing, r.passed), r.ends),
		wire.Command.Effect(op.Spec{Right: "automation.run", Socket: true, MCP: "-",
			Doc: "Run a node's command in the box. A run alone calls it, as its automation."},
			func(in wire.CommandIn) op.Resource { return commandsOf(in.Name) }, r.command, nil),
	}
}

// bind is what a name stands for while somebody approves a run: the version that is switched on.
func (r *Room) bind(ctx context.Context, in wire.BeginIn) ([]op.Bound, error) {
	s, err := scan(r.DB.QueryRow(ctx, "SELECT "+columns+" FROM automation WHERE tenant = ? AND name = ?", op.CallerFrom(ctx).Tenant, in.Name))
	if db.NoRows(err) {
		return nil, op.NoSuch("automation", in.Name)
	}
	if err != nil {
		return nil, err
	}
	return []op.Bound{{Name: "version", Value: s.Live}}, nil
}

func (r *Room) begin(ctx context.Context, tx *db.Tx, in wire.BeginIn) (*wire.Run, error) {
	if in.Parent == "" {
		return r.beginIn(ctx, tx, in, origin{cause: "by hand"})
	}
	return r.beginChild(ctx, tx, in)
}

// origin is what begins a run: for people, and which run it follows.
type origin struct {
	cause, parent string
	depth         int
	bound         *run.Event // what it may use at most, where a run begins it
}

// noPlace is the fact of a fault that says of which automation no run begins because as many are open as may be: its own, or all.
const noPlace = "full"

// full reports whether a run was not begun because others are open: when one ends, there is a place.
func full(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Data[noPlace] != ""
}

func crowded(name string, open, most int) error {
	return fault.New(fault.Exhausted, string(wire.Begin), "%s has %d open runs, and may have %d", name, open, most).
		With(noPlace, name).WithNext("wait for one or cancel it: tandem automation runs list %s; or raise limits.runs", name)
}

// beginIn begins a run of the version that is switched on.
func (r *Room) beginIn(ctx context.Context, tx *db.Tx, in wire.BeginIn, from origin) (*wire.Run, error) {
	c := op.CallerFrom(ctx)
	s, err := find(tx, c.Tenant, in.Name)
	if err != nil || s == nil {
		return nil, orNone(err, in.Name)
	}
	if !s.On {
		return nil, fault.New(fault.Conflict, string(wire.Begin), "%s is switched off", s.Name).
			WithNext("look at what it may do and switch it on: tandem automation on %s", s.Name)
	}
	v, err := versionIn(tx, c.Tenant, s.Name, s.Live)
	if err != nil || v == nil {
		return nil, orNone(err, in.Name)
	}
	if !r.Vouch.Holds(ctx, v.Seal()) || !r.Vouch.Holds(ctx, s.Seal()) {
		return nil, fault.New(fault.Denied, string(wire.Begin), "%s was changed in the database, and not by a person here", s.Name).
			WithNext("look, and switch it on anew: tandem automation on %s", s.Name)
	}
	a, err := r.read(v)
	if err != nil {
		return nil, err
	}
	var open int
	if err := tx.QueryRow("SELECT count(*) FROM automation_run WHERE tenant = ? AND name = ? AND ended_at = 0", c.Tenant, s.Name).
		Scan(&open); err != nil {
		return nil, err
	}
	if open >= a.Limits.Runs {
		return nil, crowded(s.Name, open, a.Limits.Runs)
	}
	if from.depth > maxDepth {
		return nil, fault.New(fault.Exhausted, string(wire.Begin), "runs that begin runs are %d deep, and %d are allowed", from.depth,
			maxDepth).
			WithNext("look for a ring of automations: tandem automation runs list")
	}
	if err := roomFor(tx, c, s.Name); err != nil {
		return nil, err
	}
	given, err := json.Marshal(orEmpty(in.Input))
	if err != nil {
		return nil, err
	}
	row := &runRow{tenant: c.Tenant, id: id.New("run"), name: s.Name, digest: v.digest, status: string(run.Running), cause: from.cause,
		by: c.Name, parent: from.parent, depth: from.depth, began: tx.Now(), actsFor: s.actsFor, heard: c.Prompts(nil, nil)}
	heard, err := json.Marshal(row.heard)
	if err != nil {
		return nil, err
	}
	if err := spec.Decode(given, &row.given); err != nil {
		return nil, err
	}
	state, err := run.Begin(a, row.given, row.began)
	if err != nil {
		return nil, fault.New(fault.Invalid, string(wire.Begin), "%v", err).
			WithNext("see its inputs: tandem automation show %s --text", s.Name)
	}
	row.waits = (&held{runRow: row, run: state}).waiting()
	if from.bound != nil {
		row.events = 1
		from.bound.At = row.began.UTC()
		body, err := json.Marshal(from.bound)
		if err != nil {
			return nil, err
		}
		if _, err := tx.Exec("INSERT INTO automation_event (tenant, run, seq, body) VALUES (?, ?, 1, ?)", row.tenant, row.id,
			string(body)); err != nil {
			return nil, err
		}
	}
	if _, err := tx.Exec("INSERT INTO automation_run ("+runColumns+") VALUES (?, ?, ?, ?, ?, '', ?, ?, ?, ?, 0, ?, ?, ?, '', ?, ?, ?, ?, ?)",
		row.tenant,
		row.id, row.name, row.digest, row.status, row.cause, row.by, string(given), row.began, state.Next(tx.Now()).Wake,
		row.events, row.actsFor, string(heard), row.parent, row.depth, a.Limits.Priority, row.waits); err != nil {
		return nil, err
	}
	op.Note(ctx, "run", row.id)
	tx.AfterCommit(func() { r.stir(runKey{row.tenant, row.id}) })
	return row.seen(), nil
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// steer pauses, resumes or cancels.
func (r *Room) steer(kind run.Kind) func(context.Context, *db.Tx, wire.RunIn) (*wire.Run, error) {
	return func(ctx context.Context, tx *db.Tx, in wire.RunIn) (*wire.Run, error) {
		c := op.CallerFrom(ctx)
		out, err := r.tell(tx, c.Tenant, in.ID, func(h *held) error {
			if kind == run.Resumed {
				if _, err := goesOn(tx, h, string(wire.Resume)); err != nil {
					return err
				}
				h.heard = c.Prompts(h.heard, nil)
			}
			if kind == run.Stopped {
				tx.AfterCommit(func() { r.endRun(runKey{h.tenant, h.id}) })
			}
			return h.apply(run.Event{Kind: kind, By: c.Name, Text: orElse(in.Reason, "by "+c.Name)})
		})
		if kind != run.Stopped || !errors.Is(err, errUnread) {
			return out, err
		}
		row, err := scanRun(tx.QueryRow("SELECT "+runColumns+" FROM automation_run WHERE tenant = ? AND id = ?", c.Tenant, in.ID))
		if err != nil {
			return nil, err
		}
		err = r.giveUp(tx, row, c.Name)
		return row.seen(), err
	}
}

// mend is what a person does with a step.
func (r *Room) mend(kind run.Kind) func(context.Context, *db.Tx, wire.StepIn) (*wire.Run, error) {
	return func(ctx context.Context, tx *db.Tx, in wire.StepIn) (*wire.Run, error) {
		c := op.CallerFrom(ctx)
		if kind == run.Passed && in.Reason == "" {
			return nil, fault.New(fault.Invalid, string(wire.Skip), "skipping a step needs a word about why").WithNext(`add --reason "…"`)
		}
		return r.tell(tx, c.Tenant, in.ID, func(h *held) error {
			h.heard = c.Prompts(h.heard, nil)
			return h.apply(run.Event{Kind: kind, Node: in.Node, Item: in.Item - 1, By: c.Name, Text: in.Reason, Output: in.Output})
		})
	}
}

// tell changes a run for somebody who asks, and has it looked at.
func (r *Room) tell(tx *db.Tx, tenant, runID string, fn func(*held) error) (*wire.Run, error) {
	h, err := r.change(tx, tenant, runID, fn)
	if err != nil {
		return nil, err
	}
	tx.AfterCommit(func() { r.stir(runKey{tenant, runID}) })
	return h.seen(), nil
}
