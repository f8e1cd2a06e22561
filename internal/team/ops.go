package team

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	job "tandem/internal/job/wire"
	"tandem/internal/models"
	"tandem/internal/op"
	"tandem/internal/team/wire"
)

// How many teams there are of a tenant on one machine. Of those that are over the newest stay.
const (
	maxOpen   = 50
	maxKept   = 500
	maxAgents = 20
	maxGoal   = 64 << 10
)

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	one := func(in wire.IDIn) op.Resource { return at(in.ID) }
	move := func(e Event, say string) func(context.Context, *db.Tx, wire.IDIn) (*wire.Team, error) {
		return func(ctx context.Context, tx *db.Tx, in wire.IDIn) (*wire.Team, error) {
			e := e
			if say != "" {
				e.Text = op.CallerFrom(ctx).Name + say
			}
			return r.move(ctx, tx, in.ID, e)
		}
	}
	return []op.Op{
		op.Binding(wire.Start.Effect(op.Spec{Right: "job.create", Method: "POST", Path: "/teams",
			Doc: "Start a team: a lead makes a plan for a goal, and once a person approved it, each task is done as a job."},
			func(wire.StartIn) op.Resource { return at("") }, r.start, nil), r.bindStart),
		wire.List.Read(op.Spec{Right: "job.list", Masked: true, Method: "GET", Path: "/teams", Doc: "List teams, newest first."},
			func(wire.ListIn) op.Resource { return at("") }, r.list),
		wire.Get.Read(op.Spec{Right: "job.read", Method: "GET", Path: "/teams/{id}",
			Doc: "Read a team: its plan, what became of each task, what waits, and what was used up."}, one, r.read),
		wire.Wait.Read(op.Spec{Right: "job.read", Method: "GET", Path: "/teams/{id}/wait", Waits: true,
			Doc: "Wait until a team needs somebody or is over."}, func(in wire.WaitIn) op.Resource { return at(in.ID) }, r.wait),
		wire.Edit.State(op.Spec{Right: "job.write", Present: true, People: true, Method: "PUT", Path: "/teams/{id}/plan", MCP: "-",
			Doc: "Give a team another plan: a person says so, present. While it works, tasks that have begun stay as they are."},
			func(in wire.EditIn) op.Resource { return at(in.ID) },
			func(ctx context.Context, tx *db.Tx, in wire.EditIn) (*wire.Team, error) {
				return r.move(ctx, tx, in.ID, Event{Kind: Edited, Plan: &in.Plan, Version: in.Version, By: op.CallerFrom(ctx).Name})
			}),
		wire.Approve.State(op.Spec{Right: "job.write", Present: true, People: true, Method: "POST", Path: "/teams/{id}/approve", MCP: "-",
			Doc: "Approve a team's plan, so that its tasks are begun. Needs a person present, and is bound to the plan that the person saw."},
			func(in wire.ApproveIn) op.Resource { return at(in.ID) },
			func(ctx context.Context, tx *db.Tx, in wire.ApproveIn) (*wire.Team, error) {
				return r.move(ctx, tx, in.ID, Event{Kind: Approved, Version: in.Version, By: op.CallerFrom(ctx).Name})
			}),
		wire.Pause.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/teams/{id}/pause",
			Doc: "Pause a team: its jobs are stopped, and nothing begins until it is resumed."}, one, move(Event{Kind: Paused}, " paused it")),
		wire.Resume.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/teams/{id}/resume",
			Doc: "Let a team go on that is paused or blocked; tasks that failed are tried again. One whose time is over needs another time."},
			func(in wire.ResumeIn) op.Resource { return at(in.ID) },
			func(ctx context.Context, tx *db.Tx, in wire.ResumeIn) (*wire.Team, error) {
				return r.move(ctx, tx, in.ID, Event{Kind: Resumed, Until: in.Until.UTC()})
			}),
		wire.Stop.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/teams/{id}/stop",
			Doc: "Stop a team for good. Its jobs are stopped and keep their workspaces; what was merged stays."}, one,
			func(ctx context.Context, tx *db.Tx, in wire.IDIn) (*wire.Team, error) {
				t, err := r.move(ctx, tx, in.ID, Event{Kind: Stopped, Text: op.CallerFrom(ctx).Name + " stopped it"})
				if fault.Is(err, fault.Denied) {
					return r.giveUp(ctx, tx, in.ID)
				}
				return t, err
			}),
	}
}

// bindStart is the models that would do the work. Which program an agent is stands in settings.
func (r *Room) bindStart(ctx context.Context, in wire.StartIn) (out []op.Bound, err error) {
	for _, a := range working(in) {
		if job.Program(a) {
			continue
		}
		model, err := r.Model(ctx, a)
		if err != nil {
			return nil, err
		}
		out = append(out, model...)
	}
	return out, nil
}

// checkStart refuses a team that could not work.
func checkStart(in wire.StartIn, now time.Time) error {
	bad := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Invalid, "team.start", format, args...)
	}
	agents := working(in)
	switch {
	case strings.TrimSpace(in.Goal) == "" || len(in.Goal) > maxGoal:
		return bad("a goal has between 1 and %d bytes", maxGoal)
	case !filepath.IsAbs(in.Folder):
		return bad("folder should be an absolute path, not %.200q", in.Folder)
	case in.Onto != "" && !job.Branch(in.Onto): // its jobs would not be started
		return bad("%.60q is no name of a branch", in.Onto).WithNext("see them: git branch")
	case in.Agents < 1 || in.Agents > maxAgents:
		return bad("between 1 and %d agents work at once", maxAgents)
	case len(in.Workers) > maxAgents:
		return bad("a team has at most %d kinds of workers", maxAgents)
	case len(in.Check) > 4096 || strings.ContainsRune(in.Check, 0):
		return bad("a check is a command of at most 4096 bytes")
	case min(in.Budget.Cents, in.Budget.Tokens, in.Budget.Turns) < 0:
		return bad("a budget is not negative")
	case !in.Until.IsZero() && !in.Until.After(now):
		return bad("its time is over already").WithNext("name a time that is to come: --until 18:00")
	}
	for _, a := range agents {
		if a != "" && !job.Program(a) && !strings.Contains(a, "/") {
			return bad("%.60q is neither a program that works here nor a model", a).
				WithNext("name one of claude, codex and opencode, or provider/model: tandem provider list")
		}
		if job.Program(a) && in.Budget.Cents > 0 {
			return bad("what a turn of %s costs is not known here", a).WithNext("limit tokens or turns instead: --budget 200000tokens")
		}
	}
	return nil
}

func (r *Room) start(ctx context.Context, in wire.StartIn) (out *wire.Team, err error) {
	if in.Agents == 0 {
		in.Agents = 2
	}
	if err := checkStart(in, r.DB.Now()); err != nil {
		return nil, err
	}
	repo, err := r.Tools.Top(ctx, in.Folder)
	if err != nil {
		return nil, err
	}
	onto := cmp.Or(in.Onto, r.Tools.Branch(ctx, repo))
	if onto == "" || r.Tools.Tip(ctx, repo, "refs/heads/"+onto) == "" {
		return nil, fault.New(fault.Invalid, "team.start", "its jobs are for a branch, and %s has none that is meant", repo).
			WithNext("name it: --onto main")
	}
	c := op.CallerFrom(ctx).Later(op.DoorInside)
	t := &Team{Tenant: c.Tenant, Caller: c, Team: wire.Team{ID: id.New("team"), State: wire.Planning, Goal: in.Goal, Folder: in.Folder,
		Onto: onto, Agents: in.Agents, Lead: in.Lead, Workers: in.Workers, Check: in.Check, Review: in.Review, Budget: in.Budget,
		Until: in.Until.UTC(), Knowledge: in.Knowledge, By: c.Name}}
	t.Prompt = first(t)
	if out, err := r.Tools.Out(ctx, repo, onto); err != nil {
		return nil, err
	} else if out {
		t.Reason = fmt.Sprintf("%s is checked out in %s, and tandem does not move it under your files: type the line that each merged job has, "+
			"or leave the branch there: git -C %s switch --detach", onto, repo, repo)
	}
	if echoes, err := r.echoes(ctx, in.Lead); err != nil {
		return nil, err
	} else if echoes {
		t.block(fmt.Sprintf("its lead is the model that repeats what it hears, and makes no plan; write one: tandem team plan %s --file "+
			"plan.json, or start a team with a lead: --lead claude, or a model of tandem provider list", t.ID))
	}
	err = r.DB.Write(ctx, func(tx *db.Tx) error {
		t.MadeAt, t.MovedAt = tx.Now(), tx.Now()
		if err := r.roomFor(tx, c.Tenant); err != nil {
			return err
		}
		tx.AfterCommit(r.Rouse)
		if err := r.insert(tx, t); err != nil {
			return err
		}
		return r.vouchFor(tx, t, map[string]any{"event": "start", "state": t.State})
	})
	op.Note(ctx, "team", t.ID)
	return &t.Team, err
}

// echoes says whether a lead is the model that comes with tandem, which repeats what it hears.
func (r *Room) echoes(ctx context.Context, lead string) (bool, error) {
	if lead != "" {
		return lead == models.Default, nil
	}
	bound, err := r.Model(ctx, lead)
	return slices.ContainsFunc(bound, func(b op.Bound) bool { return b.Value == models.Default }), err
}

// roomFor refuses a team more than there may be, and lets old ones go.
func (r *Room) roomFor(tx *db.Tx, tenant string) error {
	var open int
	if err := tx.QueryRow("SELECT count(*) FROM team WHERE tenant = ? AND home = ? AND state NOT IN (?, ?)", tenant, r.Owner.Home,
		string(wire.Done), string(wire.Stopped)).Scan(&open); err != nil {
		return err
	}
	if open >= maxOpen {
		return fault.New(fault.Exhausted, "team.start", "%d teams are open, and there may be no more", open).
			WithNext("stop one that nobody needs: tandem team list")
	}
	_, err := tx.Exec(`DELETE FROM team WHERE tenant = ? AND home = ? AND state IN (?, ?) AND id NOT IN
		(SELECT id FROM team WHERE tenant = ? AND home = ? ORDER BY id DESC LIMIT ?)`, tenant, r.Owner.Home, string(wire.Done),
		string(wire.Stopped), tenant, r.Owner.Home, maxKept)
	return err
}

// move applies what somebody wants done to a team.
func (r *Room) move(ctx context.Context, tx *db.Tx, id string, e Event) (*wire.Team, error) {
	c := op.CallerFrom(ctx)
	t, err := r.change(tx, c.Tenant, id, func(t *Team) error {
		if e.Kind == Edited { // its agents act on this one's words, too
			t.Caller.Prompted = c.Prompts(t.Caller.Prompted, t.Caller.Chain())
		}
		op.Note(ctx, "from", t.State)
		return t.Apply(e, tx.Now())
	})
	if err != nil {
		return nil, err
	}
	op.Row(ctx, t.seal())
	op.Note(ctx, "state", t.State)
	tx.AfterCommit(r.Rouse)
	return &t.Team, nil
}

func (r *Room) list(ctx context.Context, _ wire.ListIn) (wire.ListOut, error) {
	out := wire.ListOut{Teams: []*wire.Team{}}
	all, err := r.rows(ctx, "tenant = ? ORDER BY id DESC LIMIT ?", op.CallerFrom(ctx).Tenant, maxKept+maxOpen)
	for _, t := range all {
		if op.May(ctx, "job.list", at(t.ID)) {
			t.Events, t.Report = nil, ""
			out.Teams = append(out.Teams, &t.Team)
		}
	}
	return out, err
}

func (r *Room) read(ctx context.Context, in wire.IDIn) (*wire.Team, error) {
	t, err := r.shown(ctx, op.CallerFrom(ctx).Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	lead, tasks := r.used(ctx, t)
	t.Spent, t.Expected, t.Needs = wire.Total(lead, tasks), t.Expect(lead, tasks, r.DB.Now()), r.needs(ctx, t)
	return &t.Team, nil
}

// needs is what the lead waits for, as far as the caller may see it.
func (r *Room) needs(ctx context.Context, t *Team) []job.Need {
	if !t.Waits {
		return nil
	}
	return r.Needs(ctx, t.Session)
}

// spent is what the sessions of a team used together.
func (r *Room) spent(ctx context.Context, t *Team) *wire.Spent {
	return wire.Total(r.used(ctx, t))
}

// used is what a team's lead and each of its tasks used, as far as its starter may see their sessions.
func (r *Room) used(ctx context.Context, t *Team) (lead wire.Spent, tasks []wire.Spent) {
	as := op.WithCaller(ctx, t.Caller)
	of := func(sessions ...string) (out wire.Spent) {
		for _, s := range sessions {
			if s == "" {
				continue
			}
			u, err := r.Used(as, s)
			if err != nil {
				continue // one that is gone says nothing
			}
			out.Cents += u.Cost.Dollars() * 100
			out.Tokens += u.Tokens
			out.Turns += u.Turns
		}
		return out
	}
	for _, k := range t.Tasks {
		var sessions []string
		if k.Job != "" {
			if j, err := op.Do(as, r.Rooms, job.Get, job.IDIn{ID: k.Job}); err == nil {
				sessions = append([]string{j.Session}, j.Former...)
				for _, l := range j.Reviews {
					sessions = append(sessions, l.Session)
				}
			}
		}
		tasks = append(tasks, of(sessions...))
	}
	return of(t.Session), tasks
}

func (r *Room) wait(ctx context.Context, in wire.WaitIn) (*wire.Team, error) {
	if in.Seconds <= 0 {
		in.Seconds = 60
	}
	end := time.Now().Add(time.Duration(min(in.Seconds, 600)) * time.Second)
	for {
		t, err := r.shown(ctx, op.CallerFrom(ctx).Tenant, in.ID)
		if err != nil {
			return nil, err
		}
		if t.NeedsPerson() || !time.Now().Before(end) {
			t.Needs = r.needs(ctx, t)
			return &t.Team, nil
		}
		pause(ctx, nil, 100*time.Millisecond)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}
