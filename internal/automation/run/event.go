package run

import (
	"fmt"
	"math"
	"time"

	"tandem/internal/automation/spec"
)

// Kind is what happened.
type Kind string

// What can happen.
const (
	Started  Kind = "started"   // an attempt was begun by whoever holds the fence
	Finished Kind = "finished"  // it gave its outputs
	Failure  Kind = "failure"   // it failed, by a class
	Lost     Kind = "lost"      // nobody knows whether it acted
	Answered Kind = "answered"  // a person answered a gate: approve, rework, cancel
	Woke     Kind = "woke"      // what a wait waited for came
	Handed   Kind = "handed"    // somebody hands over what a wait waits for, or will wait for
	Ticked   Kind = "ticked"    // time passed: timers, expiries, the run's own time
	Pausing  Kind = "paused"    // by a person
	Resumed  Kind = "resumed"   //
	Stopped  Kind = "cancelled" //
	Retried  Kind = "retried"   // a person lets a failed or unknown step run again
	Accepted Kind = "accepted"  // a person says that an unknown step was done, with its outputs
	Passed   Kind = "skipped"   // a person skips a step, with a reason
	Bounded  Kind = "bounded"   // it may use no more than this: what the run that began it has left
	Repaired Kind = "repaired"  // a person has a node told something else, and go on from there
)

// Event is one thing that happened, as it is stored.
type Event struct {
	Kind    Kind           `json:"kind"`
	Node    string         `json:"node,omitempty"`
	Item    int            `json:"item"`
	Attempt int            `json:"attempt,omitempty"`
	Fence   int64          `json:"fence,omitempty"`
	At      time.Time      `json:"at"`
	Output  map[string]any `json:"output,omitempty"`
	Class   string         `json:"class,omitempty"`  // of a failure: one of spec.Classes, or anything else
	Answer  string         `json:"answer,omitempty"` // of a gate
	Text    string         `json:"text,omitempty"`   // a reason, feedback
	By      string         `json:"by,omitempty"`
	Tokens  int64          `json:"tokens,omitempty"`
	Cost    float64        `json:"cost,omitempty"`
	Repair  *spec.Words    `json:"repair,omitempty"` // what a node is told from now on
	Digest  string         `json:"digest,omitempty"` // of the definition as it is repaired
}

// UnmarshalJSON reads an event as it is stored, with the numbers of its outputs as they are written.
func (e *Event) UnmarshalJSON(data []byte) error {
	type plain Event
	return spec.Decode(data, (*plain)(e))
}

// Apply takes an event in. What does not fit is refused and changes nothing.
func (r *Run) Apply(e Event) error {
	if e.Tokens < 0 || e.Cost < 0 || math.IsNaN(e.Cost) {
		return fmt.Errorf("a step does not give tokens or money back")
	}
	switch e.Kind {
	case Bounded:
		a := *r.Spec
		a.Limits.Tokens, a.Limits.Cost = min(a.Limits.Tokens, e.Tokens), min(a.Limits.Cost, e.Cost)
		r.Spec = &a
		return nil
	case Ticked:
		return r.tick(e.At)
	case Pausing, Resumed, Stopped:
		return r.steer(e)
	case Repaired:
		return r.repair(e)
	}
	s := r.find(e.Node, e.Item)
	if s == nil {
		return fmt.Errorf("the run has no step %s, item %d", e.Node, e.Item)
	}
	if err := r.happen(s, e); err != nil {
		return err
	}
	r.settle(e.At)
	return nil
}

func (r *Run) happen(s *Step, e Event) error {
	switch e.Kind {
	case Started:
		return r.start(s, e)
	case Finished, Failure, Lost:
		return r.report(s, e)
	case Answered:
		return r.answer(s, e)
	case Woke:
		if r.nodes[s.Node].Wait == nil || s.Phase != Held {
			return fmt.Errorf("%s waits for nothing", s.Node)
		}
		if err := fits(r.nodes[s.Node], e.Output); err != nil {
			return err
		}
		s.Phase, s.Output, s.Handover = Done, e.Output, nil
		return nil
	case Handed:
		return r.hand(s, e)
	case Retried, Accepted, Passed:
		return r.mend(s, e)
	}
	return fmt.Errorf("%q is nothing that happens", e.Kind)
}

func (r *Run) start(s *Step, e Event) error {
	switch {
	case s.Phase == Alive && e.Attempt == s.Attempt && e.Fence > s.Fence && r.works(s):
		s.Fence = e.Fence // taken over by another owner
		return nil
	case r.Status != Running:
		return fmt.Errorf("the run is %s", r.Status)
	case s.Phase != Ready || s.Due.After(e.At):
		return fmt.Errorf("%s is %s and cannot be started", s.Node, s.Phase)
	case e.Attempt != s.Attempt+1:
		return fmt.Errorf("%s is at attempt %d, not %d", s.Node, s.Attempt, e.Attempt)
	case r.Started >= r.Spec.Limits.Nodes:
		r.finish(Failed, fmt.Sprintf("it started %d steps, which is its limit", r.Started))
		return nil
	}
	r.Started++
	s.Phase, s.Attempt, s.Fence, s.Reason = Alive, e.Attempt, e.Fence, ""
	s.Left = Rest{r.Spec.Limits.Tokens - r.Tokens, r.Spec.Limits.Cost - r.Cost}
	return nil
}

// report takes in how an attempt ended. Only whoever holds its fence may say so.
func (r *Run) report(s *Step, e Event) error {
	if s.Phase != Alive || e.Attempt != s.Attempt || !r.works(s) {
		return fmt.Errorf("attempt %d of %s is not running", e.Attempt, s.Node)
	}
	if e.Fence != s.Fence {
		return fmt.Errorf("attempt %d of %s belongs to another owner by now", e.Attempt, s.Node)
	}
	n := r.nodes[s.Node]
	if e.Kind == Finished {
		if err := fits(n, e.Output); err != nil { // what a step gives is a stranger's text until it fits
			e.Kind, e.Class, e.Text = Failure, "check", err.Error()
		}
	}
	r.Tokens, r.Cost = r.Tokens+e.Tokens, r.Cost+e.Cost
	s.Tokens, s.Cost = s.Tokens+e.Tokens, s.Cost+e.Cost
	switch e.Kind {
	case Finished:
		s.Phase, s.Output = Done, e.Output
	case Lost:
		s.Phase, s.Reason = Uncertain, e.Text
	default:
		r.fail(n, s, e)
	}
	if r.Tokens > r.Spec.Limits.Tokens || r.Cost > r.Spec.Limits.Cost {
		r.finish(Failed, fmt.Sprintf("it used %d tokens and %.2f dollars, which is more than its limits", r.Tokens, r.Cost))
	}
	return nil
}

// fits holds outputs to what the node declares.
func fits(n *spec.Node, out map[string]any) error {
	for name, want := range n.Output {
		v, ok := out[name]
		if !ok {
			return fmt.Errorf("the output %s is missing", name)
		}
		if want.Schema == nil || want.Artifact != "" { // what is in an artifact was looked at before it was kept
			continue
		}
		if err := want.Schema.Accepts(v); err != nil {
			return fmt.Errorf("the output %s: %w", name, err)
		}
	}
	for name := range out {
		if _, ok := n.Output[name]; !ok {
			return fmt.Errorf("it gave an output %q that it does not declare", name)
		}
	}
	return nil
}

// fail tries again where the class of the failure and the number of attempts allow it.
func (r *Run) fail(n *spec.Node, s *Step, e Event) {
	if s.Reason = e.Text; e.Class == "check" {
		s.Refused = e.Text
	}
	if s.Attempt < n.Retry.Attempts && n.Retry.Allows(e.Class) && r.Status == Running {
		s.Phase, s.Due = Ready, e.At.Add(n.Retry.Pause(s.Attempt))
		return
	}
	s.Phase = Broken
	if s.Item < 0 {
		r.broke(n)
	}
}
