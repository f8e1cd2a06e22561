package run

import (
	"fmt"
	"slices"
	"time"

	"tandem/internal/automation/spec"
)

// Repair is that a person had a node told something else in this run.
type Repair struct {
	Node, By, Why string
	At            time.Time
	Was, Is       spec.Words
}

// repair has a node told something else from now on. Where it failed it does its work anew, and what did not come because of that is open
// again: a run that failed goes on from there.
func (r *Run) repair(e Event) error {
	s := r.steps[e.Node]
	if s == nil || e.Repair == nil {
		return fmt.Errorf("the run has no step %s", e.Node)
	}
	if err := r.repairable(s, e.At); err != nil {
		return err
	}
	was, _ := r.Spec.Words(e.Node)
	r.Repairs = append(slices.Clip(r.Repairs), Repair{Node: e.Node, By: e.By, Why: e.Text, At: e.At, Was: was, Is: *e.Repair})
	r.Spec = r.Spec.Told(e.Node, *e.Repair)
	for i := range r.Spec.Nodes {
		r.nodes[r.Spec.Nodes[i].ID] = &r.Spec.Nodes[i]
	}
	if r.redo(s, e.At) {
		r.revive(e.At)
	}
	r.settle(e.At)
	return nil
}

// repairable says why other words would do nothing for a node, or come too late.
func (r *Run) repairable(s *Step, now time.Time) error {
	again := r.failed(s)
	switch {
	case r.Status.Over() && r.Status != Failed:
		return fmt.Errorf("the run is %s", r.Status)
	case r.Status == Failed && !again:
		return fmt.Errorf("%s did not fail: the run is failed because of something else", s.Node)
	case again:
		return r.spent(now)
	case s.Phase == Alive && r.works(s):
		return fmt.Errorf("%s is under way with the words that it has: pause the run, and wait for its end", s.Node)
	case s.Phase == Skipped:
		return fmt.Errorf("%s is skipped", s.Node)
	case s.Phase == Done && !r.comesBack(s.Node):
		return fmt.Errorf("%s is done, and no gate that is open sends it back", s.Node)
	}
	return nil
}

// failed reports whether a node, or an item of its map, failed or is unknown: it would do its work anew.
func (r *Run) failed(s *Step) bool {
	return s.Phase == Broken || s.Phase == Uncertain || s.Phase != Done &&
		slices.ContainsFunc(r.items[s.Node], func(i *Step) bool { return i.Phase == Broken })
}

// LetThrough is a gate before a node that somebody other than by answered, and who that is: they let through what they knew of.
func (r *Run) LetThrough(node, by string) (gate, who string) {
	for i := range r.Spec.Nodes {
		n := &r.Spec.Nodes[i]
		if s := r.steps[n.ID]; n.Asks() != nil && s.Phase == Done && r.after(node, n.ID) {
			if who, _ := s.Output["by"].(string); who != by {
				return n.ID, who
			}
		}
	}
	return "", ""
}

// comesBack reports whether a gate that nobody answered may send a node back.
func (r *Run) comesBack(node string) bool {
	for id, n := range r.nodes {
		if p := r.steps[id].Phase; n.Gate != nil && n.Gate.Rework == node && (p == Held || p == Waiting) {
			return true
		}
	}
	return false
}

// spent says which limit of the run would end it at once when it went on.
func (r *Run) spent(now time.Time) error {
	l := r.Spec.Limits
	switch {
	case !now.Before(r.Began.Add(time.Duration(l.Time))):
		return fmt.Errorf("it began more than %s ago, which is all the time that it has", time.Duration(l.Time))
	case r.Tokens > l.Tokens || r.Cost > l.Cost:
		return fmt.Errorf("it used %d tokens and %.2f dollars, which is more than its limits", r.Tokens, r.Cost)
	case r.Started >= l.Nodes:
		return fmt.Errorf("it started %d steps, which is its limit", r.Started)
	}
	return nil
}

// redo has a node, or the items of its map that failed, do their work anew. An item of which nobody knows waits for a person's word.
func (r *Run) redo(s *Step, now time.Time) bool {
	if !r.failed(s) {
		return false
	}
	items := r.items[s.Node]
	for _, item := range items {
		if item.Phase == Broken {
			item.Phase, item.Due = Ready, now
		}
	}
	switch {
	case len(items) > 0:
		s.Phase = Alive // it gathers its items again
	case r.nodes[s.Node].Map != nil:
		s.Phase = Waiting // its list is looked at anew
	default:
		s.Phase, s.Due = Ready, now
	}
	return true
}

// revive opens what was skipped because of a failure, and lets the run go on. Where something else failed, too, it waits for a person.
func (r *Run) revive(now time.Time) {
	r.each(func(s *Step) {
		if !s.Cut {
			return
		}
		s.Phase, s.Reason, s.Cut, s.Aside, s.Due, s.Ends = Waiting, "", false, false, time.Time{}, time.Time{}
		if s.Item >= 0 {
			s.Phase, s.Due = Ready, now
		}
	})
	if r.Status != Failed && !r.stuck {
		return
	}
	r.Status, r.Reason, r.stuck = Running, "", false
	if !r.rests.IsZero() { // a person paused it, and resumes it
		r.Status, r.Reason = Paused, "paused by "+r.PausedBy
	}
	for i := range r.Spec.Nodes {
		n := &r.Spec.Nodes[i]
		if r.steps[n.ID].Phase == Broken && n.OnFailure != spec.GoOn {
			r.Status, r.Reason, r.stuck = Paused, fmt.Sprintf("%s failed, too: %s", n.ID, r.reason(n.ID)), true
			return
		}
	}
}
