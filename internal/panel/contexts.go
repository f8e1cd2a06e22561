package panel

import (
	"fmt"
	"strings"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
)

// contextRoutes are the pages about work that is written down as it goes. They belong to the page of automations.
func contextRoutes(p *Panel) {
	p.get("/panel/contexts", (*visit).contexts)
	p.get("/panel/contexts/{id}", (*visit).context)
}

func contextHref(id string) string { return "/panel/contexts/" + pathEscape(id) }

// ContextsView are the newest context runs.
type ContextsView struct {
	Now  time.Time
	Rows []*wire.Run
	More bool
}

func (v *visit) contexts() error {
	list, err := ask(v, wire.List, wire.ListIn{Limit: 100})
	if err != nil {
		return err
	}
	s := v.shell("automations", "Context runs")
	s.Back = &ui.Crumb{Label: "Automations", Href: "/panel/automations"}
	return v.show(contextsPage(s, ContextsView{Now: v.now(), Rows: list.Runs, More: list.More}))
}

// ContextView is one of them, with what happened last.
type ContextView struct {
	Now      time.Time
	ID       string
	Status   wire.Status
	Text     string
	Waits    string
	Facts    []ui.Pair
	Steps    []wire.Step
	Tasks    []*wire.Task
	Board    []ui.Pair
	Happened []ui.Moment
}

// shownEvents is how many of the newest are on its page.
const shownEvents = 50

func (v *visit) context() error {
	id := v.r.PathValue("id")
	one, err := ask(v, wire.Show, wire.ShowIn{ID: id})
	if err != nil {
		return err
	}
	board, err := ask(v, wire.Blackboard, wire.IDIn{ID: id})
	if err != nil {
		return err
	}
	last, err := ask(v, wire.Events, wire.EventsIn{ID: id, Tail: shownEvents})
	if err != nil {
		return err
	}
	out := ContextView{Now: v.now(), ID: one.ID, Status: one.Status, Text: one.Objective, Steps: one.Steps, Tasks: one.List,
		Facts: contextFacts(one.Run), Board: boardPairs(board)}
	if len(one.List) > 0 {
		out.Waits = one.Waits
	}
	for i := len(last.Events) - 1; i >= 0; i-- {
		e := last.Events[i]
		out.Happened = append(out.Happened, ui.Moment{Tone: contextTone(e.Status), Icon: "automation", Title: e.Type,
			Detail: strings.TrimSpace(e.Step + " " + e.Task), Who: told.By(e.By), At: e.At})
	}
	s := v.shell("automations", one.ID)
	s.Back = &ui.Crumb{Label: "Context runs", Href: "/panel/contexts"}
	return v.show(contextPage(s, out))
}

func contextFacts(r *wire.Run) []ui.Pair {
	out := []ui.Pair{{Key: "Kind", Value: r.Kind}, {Key: "Begun by", Value: told.By(r.MadeBy)},
		{Key: "Revision", Value: fmt.Sprintf("%d, after %s", r.Revision, plural(int(r.Events), "event", "events"))}}
	for _, p := range []ui.Pair{{Key: "Folder", Value: r.Folder, Mono: true}, {Key: "Next", Value: r.Why},
		{Key: "Error", Value: r.LastError}} {
		if p.Value != "" {
			out = append(out, p)
		}
	}
	return out
}

// boardPairs is a blackboard, line by line.
func boardPairs(b *wire.Board) (out []ui.Pair) {
	for _, s := range []struct {
		name  string
		items []wire.Item
	}{{"Fact", b.Facts}, {"Decision", b.Decisions}, {"Open question", b.Questions}, {"Artifact", b.Artifacts}} {
		for _, i := range s.items {
			out = append(out, ui.Pair{Key: s.name, Value: strings.TrimSpace(i.Path + " " + i.Text)})
		}
	}
	if b.Rolling != "" {
		out = append(out, ui.Pair{Key: "Summary", Value: b.Rolling})
	}
	return out
}

func contextTone(s wire.Status) ui.Tone {
	switch s {
	case wire.Failed:
		return ui.Bad
	case wire.Completed:
		return ui.Good
	case wire.Paused, wire.Blocked, wire.Awaiting:
		return ui.Warn
	case wire.Running, wire.Planning:
		return ui.Info
	}
	return ui.Quiet
}

func partTone(s wire.Stage) ui.Tone {
	switch s {
	case wire.Broken:
		return ui.Bad
	case wire.Done:
		return ui.Good
	case wire.Stuck:
		return ui.Warn
	case wire.InProgress:
		return ui.Info
	}
	return ui.Quiet
}

// plainStatus is a status or a stage as people read it.
func plainStatus(s string) string { return strings.ReplaceAll(s, "_", " ") }

// holding says who has a task, and for how long.
func holding(t *wire.Task) string {
	switch {
	case t.Stage == wire.InProgress && t.LeaseEnds != nil:
		return fmt.Sprintf("%s, attempt %d of %d, until %s", t.Holder, t.Attempt, t.MaxAttempts, t.LeaseEnds.UTC().Format("15:04:05 MST"))
	case t.Waits > 0:
		return "after " + strings.Join(t.After, ", ")
	case t.LastError != "":
		return t.LastError
	}
	return ""
}
