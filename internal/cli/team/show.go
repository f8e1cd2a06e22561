package team

import (
	"fmt"
	"io"
	"strings"
	"time"

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
		for _, k := range t.Tasks {
			if has := k.Has(); len(has) > 0 {
				fmt.Fprintf(w, "%s has to itself: %s\n", k.Name, kit.VisibleLine(strings.Join(has, ", ")))
			}
			if behind := t.Behind(k); k.Stage == wire.Waits && len(behind) > 0 {
				fmt.Fprintf(w, "%s waits for the files of %s\n", k.Name, strings.Join(behind, ", "))
			}
			if k.Check != t.Check {
				fmt.Fprintf(w, "%s is checked by %s\n", k.Name, instead(t, k))
			}
		}
	}
	if s := t.Spent; s != nil {
		of := ""
		if b := t.Budget.String(); b != "" {
			of = " of " + b
		}
		fmt.Fprintf(w, "used: %d tokens, %d turns, %.2f USD where the price is known%s\n", s.Tokens, s.Turns, s.Cents/100, of)
	}
	if e := t.Expected; e != nil {
		fmt.Fprintf(w, "expected in the end: %d tokens, %d turns, %.2f USD, at about %s\n", e.Tokens, e.Turns, e.Cents/100,
			e.End.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if t.Report != "" {
		fmt.Fprintf(w, "report:\n%s", kit.Visible(t.Report))
	}
	next(w, t)
}

// instead is a task's check that is not the team's, beside that one.
func instead(t *wire.Team, k *wire.Task) string {
	own := "nothing"
	if k.Check != "" {
		own = "`" + kit.VisibleLine(k.Check) + "`"
	}
	if t.Check == "" {
		return own
	}
	return own + ", and not by the team's check `" + kit.VisibleLine(t.Check) + "`"
}

// leads prints what the lead waits for.
func leads(w io.Writer, t *wire.Team) {
	switch {
	case t.Waits && len(t.Needs) == 0:
		fmt.Fprintln(w, "the lead waits for an answer: tandem inbox")
	case !t.Later.IsZero():
		fmt.Fprintf(w, "the lead is asked again at %s\n", t.Later.UTC().Format("15:04:05 UTC"))
	}
	for _, n := range t.Needs {
		fmt.Fprintf(w, "the lead waits for your answer: %s\n", kit.VisibleLine(n.Next))
	}
}

// next prints what a person does.
func next(w io.Writer, t *wire.Team) {
	leads(w, t)
	switch t.State {
	case wire.Planning:
		fmt.Fprintf(w, "wait for its plan: tandem team wait %s\n", t.ID)
	case wire.Proposed:
		fmt.Fprintf(w, "look at the plan: tandem team plan %s\nthen: tandem team approve %s --plan %d\n", t.ID, t.ID, t.Version)
	case wire.Paused, wire.Blocked:
		if !t.Until.IsZero() && !t.Until.After(time.Now()) {
			fmt.Fprintf(w, "give it more time, and let it go on: tandem team resume %s --until 18:00\n", t.ID)
			return
		}
		fmt.Fprintf(w, "let it go on: tandem team resume %s\n", t.ID)
	case wire.Working:
		for _, k := range t.Tasks {
			for _, n := range k.Needs {
				if k.Stage == wire.Review {
					fmt.Fprintf(w, "%s: %s\n", k.Name, kit.VisibleLine(n.What))
					continue
				}
				fmt.Fprintf(w, "the agent of %s waits for your answer: %s\n", k.Name, kit.VisibleLine(n.Next))
			}
			switch {
			case k.Stage == wire.Review && len(k.Needs) == 0:
				fmt.Fprintf(w, "%s waits for you: tandem job diff %s\n", k.Name, k.Job)
			case k.Stage == wire.Halted:
				fmt.Fprintf(w, "%s is stopped: tandem job show %s\n", k.Name, k.Job)
			}
		}
	}
}
