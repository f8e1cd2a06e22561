package panel

import (
	"net/http"
	"net/url"
	"strings"

	"tandem/internal/automation/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
	"tandem/internal/unified"
)

func repairRoutes(p *Panel) {
	p.get("/panel/runs/{id}/repair", func(v *visit) error { return v.repairForm("") })
	perform(p, "/panel/runs/{id}/review", wire.Review, repairInput,
		func(v *visit, _ wire.RepairIn, look wire.Reviewed) error { return v.repairAsked(look, "") },
		func(v *visit, err error) error { return v.repairForm(words(err)) })
	perform(p, "/panel/runs/{id}/repair", wire.Repair, repairInput,
		func(v *visit, _ wire.RepairIn, r *wire.Run) error {
			if r.Status == "paused" {
				return v.go303(runHref(r.ID), "run-still-paused")
			}
			return v.go303(runHref(r.ID), "run-mended")
		},
		func(v *visit, err error) error {
			in, _ := repairInput(v)
			in.Digest = ""
			look, lost := ask(v, wire.Review, in)
			if lost != nil {
				return v.repairForm(words(lost))
			}
			return v.repairAsked(look, words(err))
		})
}

// repairInput is what the form says.
func repairInput(v *visit) (wire.RepairIn, error) {
	text := v.r.PostFormValue
	prompt, system, model := text("prompt"), text("system"), strings.TrimSpace(text("model"))
	return wire.RepairIn{ID: v.r.PathValue("id"), Node: text("node"), Prompt: &prompt, System: &system, Model: &model,
		Reason: strings.TrimSpace(text("reason")), Digest: text("digest")}, nil
}

// RepairView is the page on which a node of a run is told something else.
type RepairView struct {
	Run, Node, Action, Back       string
	Prompt, System, Model, Reason string
	Words                         string // of a node that is no turn
	Problem                       string
}

// turn reports whether there is a form: a turn always has a prompt.
func (v RepairView) turn() bool { return v.Prompt != "" || v.Problem != "" }

func (v *visit) repairForm(problem string) error {
	id, node := v.r.PathValue("id"), v.r.FormValue("node")
	look, err := ask(v, wire.Review, wire.RepairIn{ID: id, Node: node})
	if err != nil {
		return err
	}
	view := RepairView{Run: id, Node: node, Action: runHref(id) + "/review", Back: runHref(id), Prompt: look.Prompt, System: look.System,
		Model: look.Model, Words: look.Words, Problem: problem}
	if v.r.Method == http.MethodPost { // what was written is still in the form
		in, _ := repairInput(v)
		view.Prompt, view.System, view.Model, view.Reason = *in.Prompt, *in.System, *in.Model, in.Reason
	}
	s := v.shell("automations", "Repair "+node)
	s.Back = &ui.Crumb{Label: "Back", Href: view.Back}
	return v.show(repairPage(s, view))
}

// repairAsked shows what the repair changes, and asks whether it is made.
func (v *visit) repairAsked(look wire.Reviewed, problem string) error {
	m, err := v.means()
	if err != nil {
		return err
	}
	view := ConfirmView{Title: "Have it told this from now on?", Does: "Repair the run", Variant: "primary", Subject: look.Node,
		Text:   "Only this run goes by it. What failed is done anew, and what comes behind it goes on.",
		Action: runHref(look.Run) + "/repair", Back: runHref(look.Run), Present: true, PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem,
		Shown: repairChanges(diffOf(look.Node, look.Changes))}
	in, _ := repairInput(v)
	view.Fields = []Hidden{{"node", look.Node}, {"prompt", *in.Prompt}, {"system", *in.System}, {"model", *in.Model}, {"reason", in.Reason},
		{"digest", look.Digest}}
	s := v.shell("automations", view.Title)
	s.Back = &ui.Crumb{Label: "Back", Href: view.Back}
	return v.show(confirmPage(s, view))
}

func repairHref(run, node string) string {
	return runHref(run) + "/repair?" + url.Values{"node": {node}}.Encode()
}

// RepairRow is a repair that was made.
type RepairRow struct {
	Node, About, Reason string
	Changes             []unified.File
}

func repairRow(r wire.Repaired) RepairRow {
	return RepairRow{Node: r.Node, About: told.By(r.By) + ", " + ui.Stamp(r.At), Reason: r.Reason,
		Changes: diffOf(r.Node, r.Changes)}
}
