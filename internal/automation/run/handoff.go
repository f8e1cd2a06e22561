package run

import (
	"fmt"

	"tandem/internal/automation/spec"
)

// Handover is what somebody handed over, by the names of the node's outputs; what becomes an artifact is its text.
type Handover struct {
	Output map[string]any
	By     string
}

// hand takes in what somebody hands over. It waits with its step until the run comes there, and is given once.
func (r *Run) hand(s *Step, e Event) error {
	n := r.nodes[s.Node]
	switch {
	case n.Wait == nil || n.Wait.Handoff == "":
		return fmt.Errorf("%s waits for no handoff", s.Node)
	case r.Status.Over():
		return fmt.Errorf("the run is %s", r.Status)
	case s.Phase != Waiting && s.Phase != Held:
		return fmt.Errorf("%s is %s, and waits for nothing any more", s.Node, s.Phase)
	case s.Handover != nil:
		return fmt.Errorf("%s was handed over already, by %s", n.Wait.Handoff, s.Handover.By)
	}
	if err := fits(n, e.Output); err != nil {
		return err
	}
	s.Handover = &Handover{Output: e.Output, By: e.By}
	r.receive(n, s)
	return nil
}

// receive ends a wait for what was handed over. What becomes an artifact is kept first, by whoever does the steps.
func (r *Run) receive(n *spec.Node, s *Step) {
	if s.Phase != Held || s.Handover == nil || n.Makes() {
		return
	}
	s.Phase, s.Output, s.Handover = Done, s.Handover.Output, nil
}
