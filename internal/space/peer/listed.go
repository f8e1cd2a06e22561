package peer

import (
	"strings"

	"tandem/internal/board/lists"
)

// Listed is a task as a list outside has it. Its words are those that were written: what an operation answers is escaped for models.
func (l Line) Listed() lists.Task {
	t := lists.Task{Ref: string(l.ID), Title: written.Replace(l.Title), Description: written.Replace(l.Description), Priority: string(l.Prio),
		Parent: string(l.Parent), State: string(l.Status), Made: l.Made, Changed: l.Changed}
	for _, n := range l.Needs {
		t.After = append(t.After, string(n))
	}
	for _, label := range l.Labels {
		t.Labels = append(t.Labels, written.Replace(label))
	}
	return t
}

var written = strings.NewReplacer("&lt;", "<", "&gt;", ">")

// Planning is a task of a list as a plan has it. What is too long for a title goes on in the description.
func Planning(t lists.Task) PlanTask {
	p := PlanTask{Ref: t.Ref, Title: t.Title, Description: t.Description, Priority: t.Priority, DependsOn: t.After, Parent: t.Parent}
	if all := []rune(t.Title); len(all) > MaxTitle {
		p.Description = strings.TrimSpace(t.Title + "\n\n" + t.Description)
		p.Title = string(all[:MaxTitle-1]) + "…"
	}
	if all := []rune(p.Description); len(all) > MaxDescription {
		p.Description = string(all[:MaxDescription-1]) + "…"
	}
	for _, l := range t.Labels {
		p.Labels = labelled(p.Labels, []string{asLabel(l)})
	}
	return p
}
