package team

import (
	"fmt"
	"io"
	"strings"

	"tandem/internal/cli/kit"
	"tandem/internal/team/wire"
)

func title(t *wire.Team) string {
	first, _, _ := strings.Cut(strings.TrimSpace(t.Goal), "\n")
	return first
}

func merged(t *wire.Team) (n int) {
	for _, k := range t.Tasks {
		if k.Stage == wire.Merged {
			n++
		}
	}
	return n
}

// show prints a team for people: where it stands, who does what, and what to do next.
func show(w io.Writer, t *wire.Team) {
	fmt.Fprintf(w, "%s is %s: %s\n", t.ID, t.State, kit.VisibleLine(title(t)))
	if t.Reason != "" {
		fmt.Fprintln(w, kit.Visible(t.Reason))
	}
	for _, c := range t.Criteria {
		fmt.Fprintf(w, "reached when: %s\n", kit.VisibleLine(c))
	}
	if len(t.Tasks) > 0 {
		tab := kit.Table(w)
		fmt.Fprintln(tab, "TASK\tSTAGE\tAGENT\tJOB\tAFTER\tWHAT")
		for _, k := range t.Tasks {
			what, _, _ := strings.Cut(k.Text, "\n")
			fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Name, k.Stage, k.Agent, k.Job, strings.Join(k.After, " "), kit.VisibleLine(what))
		}
		tab.Flush()
	}
	if s := t.Spent; s != nil {
		of := ""
		if b := t.Budget.String(); b != "" {
			of = " of " + b
		}
		fmt.Fprintf(w, "used: %d tokens, %d turns, %.2f USD where the price is known%s\n", s.Tokens, s.Turns, s.Cents/100, of)
	}
	if t.Report != "" {
		fmt.Fprintf(w, "report:\n%s", kit.Visible(t.Report))
	}
	next(w, t)
}

// next prints what a person does.
func next(w io.Writer, t *wire.Team) {
	switch t.State {
	case wire.Proposed:
		fmt.Fprintf(w, "look at the plan: tandem team plan %s\nthen: tandem team approve %s --plan %d\n", t.ID, t.ID, t.Version)
	case wire.Paused, wire.Blocked:
		fmt.Fprintf(w, "let it go on: tandem team resume %s\n", t.ID)
	case wire.Working:
		for _, k := range t.Tasks {
			for _, n := range k.Needs {
				fmt.Fprintf(w, "the agent of %s waits for your answer: %s\n", k.Name, kit.VisibleLine(n.Next))
			}
			switch k.Stage {
			case wire.Review:
				fmt.Fprintf(w, "%s waits for you: tandem job diff %s\n", k.Name, k.Job)
			case wire.Halted:
				fmt.Fprintf(w, "%s is stopped: tandem job show %s\n", k.Name, k.Job)
			}
		}
	}
}
