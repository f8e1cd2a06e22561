package panel

import (
	"cmp"
	"strconv"

	"tandem/internal/automation/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/unified"
)

// RehearsalView is what would become of a run with the newest version of its automation.
type RehearsalView struct {
	Run, Name, Was, Status, Reason string
	Same                           bool
	Missing, Gone                  []string
	Steps                          []RehearsedRow
}

// RehearsedRow is a step, then and now.
type RehearsedRow struct {
	Name, Then, Now, Answer, Reason string
	Differs                         bool
	Asked, Gives                    []unified.File
}

func (r RehearsedRow) tone() ui.Tone { return StepRow{State: r.Now}.tone() }

func (v *visit) rehearsal() error {
	id := v.r.PathValue("id")
	out, err := ask(v, wire.Rehearse, wire.RehearseIn{ID: id})
	if err != nil {
		return err
	}
	view := RehearsalView{Run: out.Run, Name: out.Name, Was: out.Was, Status: out.Status, Reason: out.Reason, Same: out.Same,
		Missing: out.Missing, Gone: out.Gone}
	for _, s := range out.Steps {
		row := RehearsedRow{Name: s.Node, Then: cmp.Or(s.Then, "not there"), Now: s.Now, Answer: s.Answer, Reason: s.Reason,
			Differs: s.Differs(), Asked: diffOf(s.Node, s.Asked), Gives: diffOf(s.Node, s.Gives)}
		if s.Item > 0 {
			row.Name += " " + strconv.Itoa(s.Item)
		}
		if len(view.Steps) < stepsShown || row.Differs {
			view.Steps = append(view.Steps, row)
		}
	}
	s := v.shell("automations", "Rehearsal of "+out.Name)
	s.Back = &ui.Crumb{Label: "The run", Href: runHref(id)}
	return v.show(rehearsalPage(s, view))
}

// diffOf is a difference that names no files.
func diffOf(name, text string) []unified.File {
	if text == "" {
		return nil
	}
	return unified.Parse("--- " + name + "\n+++ " + name + "\n" + text)
}
