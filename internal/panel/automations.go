package panel

import (
	"strings"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
	"tandem/internal/unified"
)

func automationsNav() page {
	return page{id: "automations", label: "Automations", href: "/panel/automations", icon: "automation", key: "g u",
		needs: string(wire.List), routes: automationRoutes}
}

func automationRoutes(p *Panel) {
	p.get("/panel/automations", func(v *visit) error { return v.automations("", "") })
	perform(p, "/panel/automations", wire.Add,
		func(v *visit) (wire.AddIn, error) { return wire.AddIn{Text: v.r.PostFormValue("text")}, nil },
		func(v *visit, _ wire.AddIn, a *wire.Automation) error {
			return v.go303(automationHref(a.Name), "automation-stored")
		},
		func(v *visit, err error) error { return v.automations(words(err), v.r.PostFormValue("text")) })
	p.get("/panel/automations/{name}", func(v *visit) error { return v.automation(v.r.PathValue("name"), "") })
	again := func(v *visit, err error) error { return v.automation(v.r.PathValue("name"), words(err)) }
	name := func(v *visit) (wire.NameIn, error) { return wire.NameIn{Name: v.r.PathValue("name")}, nil }
	perform(p, "/panel/automations/{name}/off", wire.Off, name,
		func(v *visit, _ wire.NameIn, a *wire.Automation) error {
			return v.go303(automationHref(a.Name), "automation-off")
		}, again)
	perform(p, "/panel/automations/{name}/remove", wire.Remove, name,
		func(v *visit, _ wire.NameIn, _ wire.OK) error {
			return v.go303("/panel/automations", "automation-gone")
		}, again)
	perform(p, "/panel/automations/{name}/run", wire.Begin, beginInput,
		func(v *visit, _ wire.BeginIn, r *wire.Run) error { return v.go303(runHref(r.ID), "run-begun") }, again)
	perform(p, "/panel/automations/{name}/replay", wire.Replay,
		func(v *visit) (wire.ReplayIn, error) {
			return wire.ReplayIn{Name: v.r.PathValue("name"), ID: v.r.PostFormValue("delivery")}, nil
		},
		func(v *visit, _ wire.ReplayIn, d wire.Delivery) error { return v.go303(runHref(d.Run), "run-begun") }, again)
	onRoutes(p)
	runRoutes(p)
	perform(p, "/panel/automations/draft", wire.Draft,
		func(v *visit) (wire.DraftIn, error) {
			return wire.DraftIn{Text: strings.TrimSpace(v.r.PostFormValue("text")), Name: v.r.PostFormValue("name")}, nil
		},
		func(v *visit, _ wire.DraftIn, d *wire.Drafted) error {
			return v.go303(versionHref(d.Name, d.Digest), "automation-drafted")
		},
		func(v *visit, err error) error { return v.undrafted(words(err)) })
	artifactRoutes(p)
	contextRoutes(p)
	packRoutes(p)
}

// onRoutes ask for a person about the version that the page showed.
func onRoutes(p *Panel) {
	asks := func(v *visit, problem string) error {
		name := v.r.PathValue("name")
		a, err := ask(v, wire.Show, wire.ShowIn{Name: name, Digest: strings.TrimSpace(v.r.FormValue("digest"))})
		if err != nil && problem == "" {
			return err
		} else if err != nil { // nobody is asked about what cannot be shown
			return v.automation(name, problem)
		}
		return v.confirms("automations", ConfirmView{Title: "Switch " + name + " on?", Does: "Switch it on", Variant: "primary",
			Text:    "From then on it acts by itself, for you, and may do what is listed here, in this version and no other.",
			Subject: name + " " + a.Digest, Action: automationHref(name) + "/on", Back: versionHref(name, a.Digest), Problem: problem,
			Fields: []Hidden{{"digest", a.Digest}}, Shown: automationMay(changesOf(a), a.May)})
	}
	p.get("/panel/automations/{name}/on", func(v *visit) error { return asks(v, "") })
	perform(p, "/panel/automations/{name}/on", wire.On,
		func(v *visit) (wire.OnIn, error) {
			return wire.OnIn{Name: v.r.PathValue("name"), Digest: strings.TrimSpace(v.r.PostFormValue("digest"))}, nil
		},
		func(v *visit, _ wire.OnIn, a *wire.Automation) error {
			return v.go303(automationHref(a.Name), "automation-on")
		},
		func(v *visit, err error) error { return asks(v, words(err)) })
}

func automationHref(name string) string { return "/panel/automations/" + pathEscape(name) }

func versionHref(name, digest string) string {
	return automationHref(name) + "?digest=" + pathEscape(digest)
}

// beginInput reads a line for each input: NAME=VALUE.
func beginInput(v *visit) (wire.BeginIn, error) {
	in := wire.BeginIn{Name: v.r.PathValue("name")}
	for line := range strings.Lines(v.r.PostFormValue("input")) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := wire.ParseInput(line)
		if !ok {
			return in, fault.New(fault.Invalid, string(wire.Begin), "%.80q is no input", line).WithNext("write NAME=VALUE, one on each line")
		}
		if in.Input == nil {
			in.Input = map[string]any{}
		}
		in.Input[name] = value
	}
	return in, nil
}

// AutomationRow is an automation in a list.
type AutomationRow struct {
	Name, Title string
	On          bool
	Newer       bool // a version is stored that is not the one that is switched on
	Begins      string
	Open        int
	Changed     time.Time
}

func automationRow(a *wire.Automation) AutomationRow {
	row := AutomationRow{Name: a.Name, Title: a.Title, On: a.On, Newer: a.On && a.Live != a.Latest, Begins: strings.Join(a.Triggers, ", "),
		Open: a.Open, Changed: a.MadeAt}
	if a.SwitchedAt.After(row.Changed) {
		row.Changed = a.SwitchedAt
	}
	return row
}

func (r AutomationRow) tone() ui.Tone {
	if r.On {
		return ui.Good
	}
	return ui.Quiet
}

func (r AutomationRow) word() string {
	if r.On {
		return "on"
	}
	return "off"
}

// AutomationsView is the list of automations, and the newest runs of all.
type AutomationsView struct {
	Now     time.Time
	Rows    []AutomationRow
	Runs    []RunRow
	May     bool
	Text    string // a definition that was refused
	Draft   bool   // the viewer may have a model write one
	Wanted  string // what a model was asked for, and did not write
	Problem string
}

// undrafted is the list again, with what a model was asked for still in the form.
func (v *visit) undrafted(problem string) error { return v.automations(problem, "") }

func (v *visit) automations(problem, text string) error {
	list, err := ask(v, wire.List, struct{}{})
	if err != nil {
		return err
	}
	out := AutomationsView{Now: v.now(), May: v.has(string(wire.Add)), Draft: v.has(string(wire.Draft)), Problem: problem, Text: text,
		Wanted: v.refilled("/panel/automations/draft").Get("text")}
	for _, a := range list.Automations {
		out.Rows = append(out.Rows, automationRow(a))
	}
	if out.Runs, err = v.runs(""); err != nil {
		return err
	}
	s := v.shell("automations", "Automations")
	if problem != "" {
		s.Here = "/panel/automations"
	}
	return v.show(automationsPage(s, out))
}

// AutomationView is one automation in one version.
type AutomationView struct {
	AutomationRow
	Now       time.Time
	Digest    string
	Live      string
	Latest    string
	Text      string
	Changes   []unified.File
	MayDo     []wire.May
	Picture   Drawing // its nodes, and which come before each
	Unbuilt   []string
	Ungranted []string
	Facts     []ui.Pair
	Runs      []RunRow
	Ticks     []wire.TickRow
	Hooks     wire.HooksOut
	May       bool
	MayOn     bool
	Problem   string
	Input     string // of a run that was refused
}

func (v *visit) automation(name, problem string) error {
	a, err := ask(v, wire.Show, wire.ShowIn{Name: name, Digest: v.query("digest")})
	if err != nil {
		return err
	}
	out := AutomationView{AutomationRow: automationRow(&a.Automation), Now: v.now(), Digest: a.Digest, Live: a.Live, Latest: a.Latest,
		Text: a.Text, Changes: changesOf(a), MayDo: a.May, Picture: pictured(a.Shape),
		Unbuilt: a.Unbuilt, Ungranted: a.Ungranted, May: v.has(string(wire.Off)),
		MayOn: v.has(string(wire.On)), Problem: problem, Input: v.refilled(automationHref(name) + "/run").Get("input")}
	out.Facts = []ui.Pair{{Key: "Version", Value: a.Digest, Mono: true, Copy: true}, {Key: "Stored by", Value: told.By(a.AddedBy)},
		{Key: "Stored", Value: ui.Stamp(a.AddedAt)}}
	for _, p := range []ui.Pair{{Key: "Begins", Value: out.Begins}, {Key: "Acts as", Value: a.Actor, Mono: true},
		{Key: "Switched by", Value: told.By(a.SwitchedBy)}, {Key: "First switched on by", Value: told.By(a.ApprovedBy)}} {
		if p.Value != "" {
			out.Facts = append(out.Facts, p)
		}
	}
	if out.Runs, err = v.runs(name); err != nil {
		return err
	}
	if ticks, err := ask(v, wire.Ticks, wire.NameIn{Name: name}); err == nil { // a list beside the point
		out.Ticks = ticks.Ticks[:min(len(ticks.Ticks), 20)]
	}
	if hooks, err := ask(v, wire.Hooks, wire.NameIn{Name: name}); err == nil {
		out.Hooks = hooks
		out.Hooks.Deliveries = hooks.Deliveries[:min(len(hooks.Deliveries), 20)]
	}
	s := v.shell("automations", name)
	s.Here = versionHref(name, a.Digest) // the version that is read stays the one that is shown
	s.Back = &ui.Crumb{Label: "Automations", Href: "/panel/automations"}
	return v.show(automationPage(s, out))
}

// pictured lays out the nodes of a definition by what each comes after.
func pictured(shape []wire.Shape) Drawing {
	var boxes []DrawnBox
	after := map[string][]string{}
	for _, n := range shape {
		boxes = append(boxes, DrawnBox{Name: n.Node, Title: n.Node, State: n.Kind, Tone: ui.Quiet})
		after[n.Node] = n.After
	}
	return drawn(boxes, func(name string) []string { return after[name] })
}

// changesOf is what a version changes against the one that is switched on. Its diff has no names of files.
func changesOf(a *wire.Version) []unified.File {
	if a.Changes == "" {
		return nil
	}
	text := a.Changes
	if !strings.HasPrefix(text, "--- ") {
		text = "--- " + a.Name + "\n+++ " + a.Name + "\n" + text
	}
	return unified.Parse(text)
}

// tabs lead from the newest version to the one that is switched on, and back.
func (v AutomationView) tabs() []ui.Tab {
	if v.Live == "" || v.Live == v.Latest {
		return nil
	}
	return []ui.Tab{{Label: "Newest version", Href: automationHref(v.Name), Active: v.Digest == v.Latest},
		{Label: "Switched on", Href: versionHref(v.Name, v.Live), Active: v.Digest == v.Live}}
}

func (v *visit) foundAutomations(string) (out []Found) {
	if !v.has(string(wire.List)) {
		return nil
	}
	list, _ := ask(v, wire.List, struct{}{})
	for _, a := range list.Automations {
		out = append(out, Found{"automation", "automation", a.Name, a.Title, automationHref(a.Name)})
	}
	return out
}
