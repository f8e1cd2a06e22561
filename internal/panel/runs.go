package panel

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	artifacts "tandem/internal/artifact/wire"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
)

func runRoutes(p *Panel) {
	repairRoutes(p)
	perform(p, "/panel/runs/{id}/hand", wire.Hand, handInput,
		func(v *visit, _ wire.HandIn, d wire.Handed) error { return v.go303(runHref(d.Run), "run-handed") },
		func(v *visit, err error) error { return v.run(v.r.PathValue("id"), words(err)) })
	p.get("/panel/runs/{id}/rehearse", (*visit).rehearsal)
	p.get("/panel/runs/{id}", func(v *visit) error { return v.run(v.r.PathValue("id"), "") })
	for verb, d := range map[string]op.Def[wire.RunIn, *wire.Run]{"pause": wire.Pause, "resume": wire.Resume, "cancel": wire.Cancel} {
		perform(p, "/panel/runs/{id}/"+verb, d,
			func(v *visit) (wire.RunIn, error) {
				return wire.RunIn{ID: v.r.PathValue("id"), Reason: strings.TrimSpace(v.r.PostFormValue("reason"))}, nil
			},
			func(v *visit, _ wire.RunIn, r *wire.Run) error { return v.go303(runHref(r.ID), "run-"+verb) },
			func(v *visit, err error) error { return v.run(v.r.PathValue("id"), words(err)) })
	}
	for verb, d := range map[string]op.Def[wire.StepIn, *wire.Run]{"retry": wire.Retry, "skip": wire.Skip, "accept": wire.Accept} {
		p.get("/panel/runs/{id}/"+verb, func(v *visit) error { return v.mendStep(verb, "") })
		perform(p, "/panel/runs/{id}/"+verb, d, stepInput,
			func(v *visit, _ wire.StepIn, r *wire.Run) error {
				if r.Status == "paused" {
					return v.go303(runHref(r.ID), "run-still-paused")
				}
				return v.go303(runHref(r.ID), "run-mended")
			},
			func(v *visit, err error) error { return v.mendStep(verb, words(err)) })
	}
}

// handHref is where a handoff is given to a run of an automation.
func handHref(run, name, handoff string) string {
	return runHref(run) + "/hand?" + url.Values{"name": {name}, "handoff": {handoff}}.Encode()
}

// handInput is what somebody hands over to a run, as a JSON object.
func handInput(v *visit) (wire.HandIn, error) {
	q := v.r.URL.Query()
	in := wire.HandIn{Name: q.Get("name"), Handoff: q.Get("handoff"), Run: v.r.PathValue("id")}
	if s := strings.TrimSpace(v.r.PostFormValue("output")); s != "" {
		if err := json.Unmarshal([]byte(s), &in.Output); err != nil {
			return in, fault.New(fault.Invalid, string(wire.Hand), "what is handed over should be a JSON object: %v", err).
				WithNext(`write {"name": "value"}`)
		}
	}
	return in, nil
}

// handForm is an object with the names of what is wanted.
func handForm(wants []string) string {
	empty := map[string]any{}
	for _, name := range wants {
		empty[name] = ""
	}
	text, err := json.MarshalIndent(empty, "", "  ")
	if err != nil { // names can be written
		return "{}"
	}
	return string(text)
}

func runHref(id string) string { return "/panel/runs/" + pathEscape(id) }

func stepInput(v *visit) (wire.StepIn, error) {
	field := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	in := wire.StepIn{ID: v.r.PathValue("id"), Node: field("node"), Reason: field("reason")}
	if s := field("item"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			return in, fault.New(fault.Invalid, "automation", "the item should be a number")
		}
		in.Item = n
	}
	if s := field("output"); s != "" {
		if err := json.Unmarshal([]byte(s), &in.Output); err != nil {
			return in, fault.New(fault.Invalid, "automation", "what the step gave should be a JSON object: %v",
				err).WithNext(`write {"name": "value"}`)
		}
	}
	return in, nil
}

// RunRow is a run in a list.
type RunRow struct {
	ID, Name, Status, Reason, Cause, By, Needs, Waits string
	Began, Ended                                      time.Time
}

func runRow(r *wire.Run) RunRow {
	return RunRow{r.ID, r.Name, r.Status, r.Reason, r.Cause, told.By(r.By), r.Needs, strings.Join(r.Waits, "; "), r.BeganAt, r.EndedAt}
}

func (r RunRow) over() bool { return !r.Ended.IsZero() }

func (r RunRow) tone() ui.Tone {
	switch {
	case r.Status == "failed":
		return ui.Bad
	case r.Status == "completed":
		return ui.Good
	case r.Needs != "" || r.Status == "paused":
		return ui.Warn
	case r.Status == "running":
		return ui.Info
	}
	return ui.Quiet
}

func (v *visit) runs(name string) (out []RunRow, err error) {
	if !v.has(string(wire.Runs)) {
		return nil, nil
	}
	list, err := ask(v, wire.Runs, wire.RunsIn{Name: name, Limit: 30})
	for _, r := range list.Runs {
		out = append(out, runRow(r))
	}
	return out, err
}

// RunView is a run with its steps.
type RunView struct {
	RunRow
	Now     time.Time
	Steps   []StepRow
	Left    int         // steps that are not shown
	Levels  [][]StepRow // the nodes, those first on which the others wait
	Facts   []ui.Pair
	Made    []*artifacts.Artifact
	Repairs []RepairRow
	May     bool
	Mend    bool // the viewer may say what is to be done with a step that failed
	Repair  bool // they may have a node told something else
	Problem string
}

// StepRow is a node, or one item of a map.
type StepRow struct {
	Node, Kind, State, Reason, Waits string
	Item, Attempt                    int
	After                            []string
	Input, Output                    string // as JSON
	Notes                            []string
	AskHref                          string
	SessionHref, Used                string // of a turn
	RunHref                          string // of a node that is another automation
	Due                              time.Time
	Handoff                          string // what somebody hands over to it, while nobody did
	Given                            string // a form for that
}

func (s StepRow) name() string {
	if s.Item > 0 {
		return s.Node + " " + strconv.Itoa(s.Item)
	}
	return s.Node
}

func (s StepRow) anchor() string { return "step-" + pathEscape(s.Node) + "-" + strconv.Itoa(s.Item) }

// told reports whether other words would be of use: it failed, or was not begun yet, and it is told any.
func (s StepRow) told(over bool) bool {
	return s.Item == 0 && s.Kind != "branch" && s.Kind != "wait" && s.Kind != "make" && s.Kind != "automation" &&
		(s.mendable() || !over && (s.State == "waiting" || s.State == "ready" || s.State == "held"))
}

func (s StepRow) mendable() bool { return s.State == "failed" || s.State == "unknown" }

func (s StepRow) tone() ui.Tone {
	switch s.State {
	case "done":
		return ui.Good
	case "failed":
		return ui.Bad
	case "unknown":
		return ui.Warn
	case "ready", "running", "held":
		if s.AskHref != "" {
			return ui.Warn
		}
		return ui.Info
	}
	return ui.Quiet
}

func stepRow(run string, s wire.Step) StepRow {
	row := StepRow{Node: s.Node, Kind: s.Kind, State: s.State, Reason: s.Reason, Waits: s.Waits, Item: s.Item, Attempt: s.Attempt,
		After: s.Needs, Input: indented(s.Input), Output: indented(s.Output), Notes: s.Notes, Due: s.Due}
	if s.Ask != "" {
		row.AskHref, row.Waits = "/panel/approvals/"+pathEscape(s.Ask)+"?"+url.Values{"back": {runHref(run)}}.Encode(), "somebody answers"
	}
	if s.Session != "" {
		row.SessionHref = sessionHref(s.Session)
	}
	if s.Run != "" {
		row.RunHref = runHref(s.Run)
	}
	if s.Handoff != "" {
		row.Handoff, row.Given = s.Handoff, handForm(s.Wants)
	}
	if s.Tokens > 0 {
		row.Used = fmt.Sprintf("%d tokens, $%.4f", s.Tokens, s.Cost)
	}
	return row
}

// givenShown is how much of what a step was given or gave is shown.
const givenShown = 16 << 10

func indented(m map[string]any) string {
	if len(m) == 0 {
		return ""
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Sprint(m)
	}
	if len(data) > givenShown {
		cut := strings.ToValidUTF8(string(data[:givenShown]), "")
		return cut + fmt.Sprintf("\n(%d bytes more)", len(data)-len(cut))
	}
	return string(data)
}

// levels puts each node behind all that come before it. Items of a map stand in the list alone.
func levels(steps []StepRow) (out [][]StepRow) {
	level := map[string]int{}
	for range steps { // as many rounds as a chain can be long
		for _, s := range steps {
			for _, before := range s.After {
				level[s.Node] = max(level[s.Node], min(level[before]+1, len(steps)))
			}
		}
	}
	for _, s := range steps {
		if s.Item > 0 {
			continue
		}
		for len(out) <= level[s.Node] {
			out = append(out, nil)
		}
		out[level[s.Node]] = append(out[level[s.Node]], s)
	}
	return out
}

// stepsShown is how many steps a run's page has.
const stepsShown = 200

// stepsToShow are the nodes, and of a map's items those first that somebody has to look at; the rest is counted.
func stepsToShow(all []wire.Step) (out []wire.Step, left int) {
	if len(all) <= stepsShown {
		return all, 0
	}
	keep, room := make([]bool, len(all)), stepsShown
	for _, first := range []func(wire.Step) bool{
		func(s wire.Step) bool { return s.Item == 0 },
		func(s wire.Step) bool { return s.State == "failed" || s.State == "unknown" || s.Ask != "" },
		func(wire.Step) bool { return true },
	} {
		for i, s := range all {
			if room > 0 && !keep[i] && first(s) {
				keep[i], room = true, room-1
			}
		}
	}
	for i, s := range all {
		if keep[i] {
			out = append(out, s)
		}
	}
	return out, len(all) - len(out)
}

func (v *visit) run(id, problem string) error {
	r, err := ask(v, wire.Trace, wire.RunIn{ID: id})
	if err != nil {
		return err
	}
	out := RunView{RunRow: runRow(r), Now: v.now(), May: v.has(string(wire.Pause)), Mend: v.has(string(wire.Retry)),
		Repair: v.has(string(wire.Repair)), Problem: problem}
	for _, one := range r.Repairs {
		out.Repairs = append(out.Repairs, repairRow(one))
	}
	shown, left := stepsToShow(r.Steps)
	kept := v.refilled(runHref(id) + "/hand")
	for _, s := range shown {
		row := stepRow(id, s)
		if kept != nil && s.Handoff == v.query("handoff") && s.Handoff != "" { // it was refused: nobody writes it a second time
			row.Given = kept.Get("output")
		}
		out.Steps = append(out.Steps, row)
	}
	out.Left, out.Levels = left, levels(out.Steps)
	out.Facts = []ui.Pair{{Key: "Begun by", Value: r.Cause + ", for " + told.By(r.By)}, {Key: "Began", Value: ui.Stamp(r.BeganAt)}}
	if out.over() {
		out.Facts = append(out.Facts, ui.Pair{Key: "Ended", Value: ui.Stamp(r.EndedAt)})
	}
	if given := indented(r.Input); given != "" {
		out.Facts = append(out.Facts, ui.Pair{Key: "Given", Value: given, Mono: true})
	}
	if r.Tokens > 0 {
		out.Facts = append(out.Facts, ui.Pair{Key: "Tokens", Value: ui.Count(r.Tokens)}, ui.Pair{Key: "Cost",
			Value: fmt.Sprintf("%.2f usd", r.Cost)})
	}
	out.Facts = append(out.Facts, ui.Pair{Key: "Version", Value: r.Digest, Mono: true, Copy: true},
		ui.Pair{Key: "Run", Value: r.ID, Mono: true, Copy: true})
	if made, err := ask(v, artifacts.List, artifacts.ListIn{Run: id, Limit: 50}); err == nil { // who may not see them sees the run
		out.Made = made.Artifacts
	}
	s := v.shell("automations", r.Name+", "+r.Status)
	s.Here = runHref(id)
	s.Back = &ui.Crumb{Label: r.Name, Href: automationHref(r.Name)}
	return v.show(runPage(s, out))
}

// stepActs are what a person does with a step that failed, or of which nobody knows whether it acted.
var stepActs = map[string]ConfirmView{
	"retry": {Title: "Let this step run again?", Does: "Run it again",
		Text: "If it acted already, it acts twice. Look at what it was to do first."},
	"skip":   {Title: "Go on without this step?", Does: "Skip it", Text: "What comes behind it goes on without what it would have given."},
	"accept": {Title: "Was this step done?", Does: "Say that it was", Text: "The run goes on as if the step had said so itself."},
}

// StepActView is the page that asks about a step.
type StepActView struct {
	ConfirmView
	Reason, Output string
	Gives          bool // the person says what the step gave
	Why            bool // a reason is needed
}

func (v *visit) mendStep(verb, problem string) error {
	m, err := v.means()
	if err != nil {
		return err
	}
	id, node, item := v.r.PathValue("id"), v.r.FormValue("node"), v.r.FormValue("item")
	view := StepActView{ConfirmView: stepActs[verb], Reason: v.r.FormValue("reason"), Output: v.r.FormValue("output"),
		Gives: verb == "accept", Why: verb == "skip"}
	view.Subject, view.Action, view.Back, view.Problem = strings.TrimSpace(node+" "+item), runHref(id)+"/"+verb, runHref(id), problem
	view.Present, view.PIN, view.Passkeys = true, m.PIN, m.Passkeys
	view.Fields = []Hidden{{"node", node}, {"item", item}}
	s := v.shell("automations", view.Title)
	s.Back = &ui.Crumb{Label: "Back", Href: view.Back}
	return v.show(stepActPage(s, view))
}

func stepActHref(run, verb string, s StepRow) string {
	q := url.Values{"node": {s.Node}}
	if s.Item > 0 {
		q.Set("item", strconv.Itoa(s.Item))
	}
	return runHref(run) + "/" + verb + "?" + q.Encode()
}
