package run

import (
	"slices"

	"tandem/internal/automation/spec"
)

// Rehearsal is a run played again with another definition, on the answers that were recorded. Nothing is done for it.
type Rehearsal struct {
	*Run
	Missing []Step // what would be done now, and has no recorded answer: what comes behind it stands still
	Refused []Step // whose recorded answer is none any more: it does not fit what the node gives now
}

// recorded is the class of a failure that happened then.
const recorded = "recorded"

// Rehearse plays a run with another definition. Whatever a node would do is answered with what it gave then, a gate with what a person
// said, and time passes for waits that are over by themselves. Nothing is tried again: the last attempt is what was recorded.
func Rehearse(a *spec.Automation, then *Run) (*Rehearsal, error) {
	once := *a
	once.Nodes = slices.Clone(a.Nodes)
	for i := range once.Nodes {
		once.Nodes[i].Retry.Attempts = 1
	}
	x, err := Begin(&once, then.Given, then.Began)
	if err != nil {
		return nil, err
	}
	out := &Rehearsal{Run: x}
	type place struct {
		node string
		item int
	}
	met := map[place]bool{}
	for moved := true; moved && !x.Status.Over(); {
		moved = false
		for _, s := range x.Steps() {
			here := place{s.Node, s.Item}
			if s.Phase != Held && (s.Phase != Ready || !x.works(&s)) || met[here] || x.Status.Over() {
				continue
			}
			met[here], moved = true, true
			out.play(s, x.answers(s, then))
		}
	}
	return out, nil
}

// play has a step end as was recorded.
func (r *Rehearsal) play(s Step, events []Event) {
	if len(events) == 0 {
		r.Missing = append(r.Missing, s)
		return
	}
	for _, e := range events {
		e.Node, e.Item, e.Attempt, e.Fence, e.At = s.Node, s.Item, 1, 1, r.Began
		err := r.Apply(e)
		if is, _ := r.Step(s.Node, s.Item); err != nil || e.Kind == Finished && is.Phase == Broken {
			r.Refused = append(r.Refused, is)
		}
		if err != nil {
			return
		}
	}
}

// answers are what was recorded of a step that would be done now: nothing where there is none.
func (r *Run) answers(s Step, then *Run) []Event {
	was, _ := then.Step(s.Node, s.Item)
	by, approved := was.Output["by"].(string)
	n := r.nodes[s.Node]
	approved = approved && n.Asks() != nil // an output of that name is none
	switch {
	case s.Phase == Held && was.Phase != Done && !s.Due.IsZero(), s.Phase == Held && was.Phase == Done && n.Gate == nil && !approved:
		return []Event{{Kind: Woke, Output: was.Output}} // a time comes by itself
	case s.Phase == Held && was.Phase == Done && approved:
		return []Event{{Kind: Answered, Answer: "approve", By: by}}
	case s.Phase == Held:
		return nil
	}
	end := Event{Tokens: was.Tokens, Cost: was.Cost}
	switch was.Phase {
	case Done:
		end.Kind, end.Output = Finished, was.Output
	case Broken:
		end.Kind, end.Class, end.Text = Failure, recorded, was.Reason
	case Uncertain:
		end.Kind, end.Text = Lost, was.Reason
	default:
		return nil
	}
	return []Event{{Kind: Started}, end}
}
