package run

import (
	"fmt"
	"time"

	"tandem/internal/automation/spec"
)

// steer pauses, resumes or cancels a run.
func (r *Run) steer(e Event) error {
	if r.Status.Over() {
		return fmt.Errorf("the run is %s", r.Status)
	}
	r.stuck = false
	switch {
	case e.Kind == Pausing:
		if r.rests.IsZero() {
			r.rests = e.At
		}
		r.Status, r.Reason, r.PausedBy = Paused, e.Text, e.By
	case e.Kind == Stopped:
		r.finish(Cancelled, e.Text)
	default:
		r.rested, r.rests = r.Rested(e.At), time.Time{}
		r.Status, r.Reason, r.PausedBy = Running, "", ""
	}
	r.settle(e.At)
	return nil
}

// answer takes in what a person said at a gate.
func (r *Run) answer(s *Step, e Event) error {
	g := r.nodes[s.Node].Asks()
	if g == nil || s.Phase != Held {
		return fmt.Errorf("%s asks nothing", s.Node)
	}
	switch e.Answer {
	case "approve":
		s.Phase, s.Output = Done, map[string]any{"by": e.By}
	case "cancel":
		r.finish(Cancelled, e.Text)
	case "rework":
		if g.Rework == "" {
			return fmt.Errorf("%s sends nothing back: it is approved or cancelled", s.Node)
		}
		return r.rework(g.Rework, s, e)
	default:
		return fmt.Errorf("%q is no answer: approve, rework or cancel", e.Answer)
	}
	return nil
}

// rework lets a node do its work anew with what was said; everything that came after it is undone.
func (r *Run) rework(node string, gate *Step, e Event) error {
	to := r.steps[node]
	if to.Phase != Done || r.nodes[node].Map != nil {
		return fmt.Errorf("%s is %s and cannot be done again", node, to.Phase)
	}
	for id := range r.nodes {
		if id == node || id == gate.Node || !r.after(id, node) || r.steps[id].Phase == Waiting || r.steps[id].Phase == Skipped {
			continue
		}
		if r.nodes[id].Make == nil || r.steps[id].Phase != Done {
			return fmt.Errorf("%s was begun already with what %s gave", id, node)
		}
	}
	for id := range r.nodes { // a maker has no effect: it makes it anew from what comes
		if made := r.steps[id]; r.nodes[id].Make != nil && r.after(id, node) && made.Phase == Done {
			made.Phase, made.Output = Waiting, nil
		}
	}
	to.Phase, to.Due, to.Output, to.Notes = Ready, e.At, nil, append(to.Notes, e.Text)
	*gate = Step{Node: gate.Node, Item: -1, Phase: Waiting}
	return nil
}

// after reports whether a node comes after another.
func (r *Run) after(id, first string) bool {
	for _, need := range r.needs[id] {
		if need == first || r.after(need, first) {
			return true
		}
	}
	return false
}

// mend is what a person does with a step that failed or is unknown, or will not be done.
func (r *Run) mend(s *Step, e Event) error {
	n := r.nodes[s.Node]
	if !r.works(s) {
		return fmt.Errorf("%s is a map: name one of its items", s.Node)
	}
	stuck := s.Phase == Broken || s.Phase == Uncertain
	switch {
	case r.Status.Over():
		return fmt.Errorf("the run is %s", r.Status)
	case e.Kind == Passed && (stuck || s.Phase == Waiting || s.Phase == Ready || s.Phase == Held):
		s.skip("%s", e.Text)
	case !stuck || len(n.Body.Kinds()) == 0 && n.Map == nil:
		return fmt.Errorf("%s is %s: there is nothing to mend", s.Node, s.Phase)
	case e.Kind == Retried:
		s.Phase, s.Due = Ready, e.At
	default:
		if err := fits(n, e.Output); err != nil {
			return err
		}
		s.Phase, s.Output = Done, e.Output
	}
	if m := r.steps[s.Node]; s.Item >= 0 && m.Phase == Broken {
		m.Phase = Alive // it gathers its items again
	}
	return nil
}

// tick lets time pass: timers end, waits and gates run out, and the run has an end itself.
func (r *Run) tick(now time.Time) error {
	if r.Status.Over() {
		return nil
	}
	if end := r.Began.Add(time.Duration(r.Spec.Limits.Time)); !now.Before(end) {
		r.finish(Failed, fmt.Sprintf("it lasted longer than %s", time.Duration(r.Spec.Limits.Time)))
		return nil
	}
	r.each(func(s *Step) {
		if s.Phase != Held || r.Status.Over() {
			return
		}
		n := r.nodes[s.Node]
		switch {
		case !s.Due.IsZero() && !now.Before(s.Due):
			s.Phase = Done
		case s.Ends.IsZero() || now.Before(s.Ends) || s.Handover != nil:
		case n.Gate != nil:
			r.expire(n, s, n.Gate.OnExpiry, time.Duration(n.Gate.Expires), now)
		default:
			r.expire(n, s, n.Wait.OnTimeout, time.Duration(n.Wait.Timeout), now)
		}
	})
	r.settle(now)
	return nil
}

func (r *Run) expire(n *spec.Node, s *Step, how spec.OnExpiry, again time.Duration, now time.Time) {
	switch how {
	case spec.Resume:
		s.Phase = Done
	case spec.Remind, spec.Escalate:
		s.Reason, s.Ends = string(how), now.Add(again) // whoever is told sees it in the reason
	default:
		r.finish(Cancelled, fmt.Sprintf("nobody answered %s", n.ID))
	}
}
