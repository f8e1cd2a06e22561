package panel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	"tandem/internal/session/terminal"
	"tandem/internal/team/wire"
)

// Who of a team is at work, what each of their terminals shows, and what waits for the viewer.

// Worker is a task's agent that has a job now.
type Worker struct {
	Task    *wire.Task
	Job     string
	Session string
	Program *ProgramView // nothing: a model, which has no terminal
	Screen  string       // the end of what its terminal shows
	Hands   []ui.Option  // who could go on in its place
}

// Waiting is one thing that a team cannot go on without.
type Waiting struct {
	Name, What, Href, Type string
}

// peekLines is how much of a terminal is shown on the team's page.
const peekLines = 14

// workers are the agents of tasks that are at work, with what their terminals show.
func (v *visit) workers(t *wire.Team) (out []Worker, err error) {
	var programs map[string]*terminal.Seat
	for _, k := range t.Tasks {
		if k.Stage != wire.AtWork || k.Job == "" {
			continue
		}
		j, err := ask(v, job.Get, job.IDIn{ID: k.Job})
		if err != nil { // the viewer may see the team, and not all of its jobs
			continue
		}
		w := Worker{Task: k, Job: k.Job, Session: j.Session, Hands: handsTo(JobView{JobRow: JobRow{Agent: k.Agent}})}
		if programs == nil {
			if programs, err = v.programs(); err != nil {
				return nil, err
			}
		}
		if seat := programs[j.Session]; seat != nil && j.Session != "" && seat.ClosedAt.IsZero() {
			w.Program = programView(seat)
			if screen, err := ask(v, terminal.SessionScreen, terminal.WatchIn{ID: j.Session}); err == nil {
				w.Screen = lastLines(screen.Text, peekLines)
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// lastLines are the last lines of a screen that say anything, without those that are empty at its end.
func lastLines(screen string, n int) string {
	lines := strings.Split(strings.TrimRight(screen, " \n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// waiting is what the team cannot go on without, the plan and the lead first.
func waiting(t *wire.Team) (out []Waiting) {
	if t.State == wire.Proposed {
		out = append(out, Waiting{Name: "The plan", What: "waits for your approval", Href: teamHref(t.ID) + "/approve"})
	}
	if t.State == wire.Blocked {
		out = append(out, Waiting{Name: "The team", What: "is blocked: " + t.Reason})
	}
	for _, n := range t.Needs {
		out = append(out, Waiting{Name: "The lead", What: "waits for your answer: " + n.What, Href: "/panel/"})
	}
	if t.Waits && len(t.Needs) == 0 {
		out = append(out, Waiting{Name: "The lead", What: "waits for an answer", Href: "/panel/"})
	}
	for _, k := range t.Tasks {
		w := Waiting{Name: k.Name, Href: jobHref(k.Job)}
		switch {
		case len(k.Needs) > 0 && k.Stage == wire.Review: // it is merged, and its branch is checked out
			w.What, w.Type = k.Reason, k.Needs[0].Next
		case len(k.Needs) > 0:
			w.What = "its agent waits for your answer: " + k.Needs[0].What
		case k.Stage == wire.Review:
			w.What = "waits for your look"
		case k.Stage == wire.Halted:
			w.What = "is stopped, and left to you"
		default:
			continue
		}
		out = append(out, w)
	}
	return out
}

// leasedWords are the files that a task has to itself, or waits for.
func leasedWords(t *wire.Team, k *wire.Task) string {
	if has := k.Has(); len(has) > 0 {
		return "has to itself: " + strings.Join(has, ", ")
	}
	if behind := t.Behind(k); k.Stage == wire.Waits && len(behind) > 0 {
		return "waits for the files of " + strings.Join(behind, ", ")
	}
	return ""
}

// afterOptions are the tasks that a new one may come after.
func afterOptions(t *wire.Team) []ui.Option {
	out := []ui.Option{{Label: "none of them", Chosen: true}}
	for _, k := range t.Tasks {
		if k.Stage != wire.Dropped {
			out = append(out, ui.Option{Value: k.Name, Label: k.Name})
		}
	}
	return out
}

// workerOptions are who may do a new task.
func workerOptions(t *wire.Team) []ui.Option {
	out := []ui.Option{{Label: "in turn", Chosen: true}}
	for _, w := range t.Workers {
		if !slices.ContainsFunc(out, func(o ui.Option) bool { return o.Value == w }) {
			out = append(out, ui.Option{Value: w, Label: w})
		}
	}
	return out
}

// mayAdd says whether the team's plan can have a task more.
func mayAdd(t *wire.Team) bool {
	return len(t.Tasks) > 0 && t.State != wire.Planning && !t.State.Over()
}

func teamWorkRoutes(p *Panel) {
	back := func(v *visit, err error) error { return v.team(v.r.PathValue("id"), words(err)) }
	perform(p, "/panel/teams/{id}/add", wire.Edit, addTaskInput,
		func(v *visit, _ wire.EditIn, t *wire.Team) error { return v.go303(teamHref(t.ID), "team-added") }, back)
	replace := act{op: string(job.Resume), refused: back,
		input: func(v *visit) (any, error) {
			return job.ResumeIn{ID: v.field("job"), Agent: agentField(v)}, nil
		},
		run: func(v *visit, in any) (any, error) { // who goes on finds nobody else in the files
			if _, err := op.Do(v.ctx, v.p.Gate, job.Stop, job.StopIn{ID: in.(job.ResumeIn).ID}); err != nil {
				return nil, err
			}
			return op.Do(v.ctx, v.p.Gate, job.Resume, in.(job.ResumeIn))
		},
		done: func(v *visit, _, _ any) error { return v.go303(teamHref(v.r.PathValue("id")), "team-replaced") }}
	p.mux.HandleFunc("POST /panel/teams/{id}/replace", p.page(func(v *visit) error { return v.do(replace) }))
}

// addTaskInput is the team's plan with a task more at its end.
func addTaskInput(v *visit) (wire.EditIn, error) {
	t, err := ask(v, wire.Get, wire.IDIn{ID: v.r.PathValue("id")})
	if err != nil {
		return wire.EditIn{}, err
	}
	item := wire.Item{Name: cmp.Or(v.field("name"), "task-"+strconv.Itoa(len(t.Tasks)+1)), Text: v.field("text"), Check: v.field("check"),
		Agent: v.field("agent")}
	if after := v.field("after"); after != "" {
		item.After = []string{after}
	}
	for f := range strings.SplitSeq(v.field("files"), ",") {
		if f = strings.TrimSpace(f); f != "" {
			item.Files = append(item.Files, f)
		}
	}
	plan := t.Plan()
	plan.Tasks = append(plan.Tasks, item)
	return wire.EditIn{ID: t.ID, Plan: plan, Version: t.Version}, nil
}
