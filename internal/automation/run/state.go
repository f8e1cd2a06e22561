package run

import (
	"fmt"
	"time"

	"tandem/internal/automation/spec"
)

// Status is where a run stands.
type Status string

// The statuses.
const (
	Running   Status = "running"
	Paused    Status = "paused" // nothing new is started
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Over reports whether nothing comes after it.
func (s Status) Over() bool { return s == Completed || s == Failed || s == Cancelled }

// Phase is where a step stands.
type Phase string

// The phases.
const (
	Waiting   Phase = "waiting" // for nodes that come before it, or for its next attempt
	Ready     Phase = "ready"   // to be started
	Alive     Phase = "running"
	Held      Phase = "held" // a wait that has not ended, a gate that nobody answered
	Done      Phase = "done"
	Broken    Phase = "failed"
	Uncertain Phase = "unknown" // it may have acted; a person says what is to be done
	Skipped   Phase = "skipped"
)

func (p Phase) settled() bool { return p == Done || p == Broken || p == Skipped }

// Step is one node, or one item of a map.
type Step struct {
	Node     string
	Item     int // of a map, -1 otherwise
	Phase    Phase
	Attempt  int // the one that is alive or was last
	Due      time.Time
	Ends     time.Time // when what is held runs out
	Reason   string    // why it is skipped, failed, unknown or held
	Aside    bool      // skipped because a branch led elsewhere: whoever only comes after it goes on
	Cut      bool      // skipped because something failed: a repair opens it again
	Output   map[string]any
	Notes    []string // feedback from a gate, oldest first
	Refused  string   // what a check said of its attempt before
	Fence    int64
	Tokens   int64     // that its attempts used
	Cost     float64   // in dollars
	Handover *Handover // what was handed over to a wait that did not take it yet
	Left     Rest      // when the attempt was begun: whoever takes it over gives it the same
}

// Rest is what a run may still use.
type Rest struct {
	Tokens int64
	Cost   float64 // in dollars
}

// Run is the state of one run.
type Run struct {
	Spec    *spec.Automation
	Status  Status
	Reason  string
	Given   map[string]any
	Began   time.Time
	Started int // attempts so far, of all steps
	Tokens  int64
	Cost    float64

	Repairs  []Repair // oldest first
	PausedBy string   // who paused it last
	rested   time.Duration
	rests    time.Time // since when it is paused

	stuck bool               // a failure paused it, and nobody came since
	steps map[string]*Step   // by node
	items map[string][]*Step // of maps that were opened
	needs map[string][]string
	nodes map[string]*spec.Node
}

// Begin is a run before anything happened.
func Begin(a *spec.Automation, given map[string]any, now time.Time) (*Run, error) {
	for name, schema := range a.Inputs {
		if err := schema.Accepts(given[name]); err != nil {
			return nil, fmt.Errorf("input %s: %w", name, err)
		}
	}
	for name := range given {
		if a.Inputs[name] == nil {
			return nil, fmt.Errorf("the automation has no input %s", name)
		}
	}
	r := &Run{Spec: a, Status: Running, Given: given, Began: now, steps: map[string]*Step{}, items: map[string][]*Step{},
		needs: a.Needs(), nodes: map[string]*spec.Node{}}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		r.nodes[n.ID], r.steps[n.ID] = n, &Step{Node: n.ID, Item: -1, Phase: Waiting}
	}
	r.settle(now)
	return r, nil
}

// Rested is for how long it was paused, by people or by the run that began it.
func (r *Run) Rested(now time.Time) time.Duration {
	if r.rests.IsZero() {
		return r.rested
	}
	return r.rested + now.Sub(r.rests)
}

// Node is a node of the definition, nil when there is none of that name.
func (r *Run) Node(id string) *spec.Node { return r.nodes[id] }

// Step gives a copy of where a node stands; item is -1 for the node itself.
func (r *Run) Step(node string, item int) (Step, bool) {
	if s := r.find(node, item); s != nil {
		return *s, true
	}
	return Step{}, false
}

// Steps gives copies of all, in the order of the definition, items behind their map.
func (r *Run) Steps() (out []Step) {
	for i := range r.Spec.Nodes {
		id := r.Spec.Nodes[i].ID
		out = append(out, *r.steps[id])
		for _, s := range r.items[id] {
			out = append(out, *s)
		}
	}
	return out
}

func (r *Run) find(node string, item int) *Step {
	if item < 0 {
		return r.steps[node]
	}
	if list := r.items[node]; item < len(list) {
		return list[item]
	}
	return nil
}

// each visits all steps, in order.
func (r *Run) each(visit func(*Step)) {
	for i := range r.Spec.Nodes {
		id := r.Spec.Nodes[i].ID
		visit(r.steps[id])
		for _, s := range r.items[id] {
			visit(s)
		}
	}
}

// Stuck says what a person has to look at before the run goes on, a gate aside: steps of which nobody knows whether they acted, and a
// failure that paused it.
func (r *Run) Stuck() (out []string) {
	if r.Status.Over() {
		return nil
	}
	r.each(func(s *Step) {
		if s.Phase == Uncertain {
			out = append(out, s.Node+": nobody knows whether it was done")
		}
	})
	if r.stuck {
		out = append(out, r.Reason)
	}
	return out
}

// Next is what is to be done now.
type Next struct {
	Start []Step    // these attempts, in this order, no more than may run at once
	Ask   []Step    // a person: gates, and steps whose outcome nobody knows
	Wake  time.Time // when to look again, zero: when something happens
}

// Next says what is to be done at a moment.
func (r *Run) Next(now time.Time) (next Next) {
	if r.Status.Over() {
		return next
	}
	alive := 0
	r.each(func(s *Step) {
		if s.Phase == Alive && r.works(s) {
			alive++
		}
	})
	later := func(t time.Time) {
		if !t.IsZero() && (next.Wake.IsZero() || t.Before(next.Wake)) {
			next.Wake = t
		}
	}
	later(r.Began.Add(time.Duration(r.Spec.Limits.Time)))
	r.each(func(s *Step) {
		switch {
		case s.Phase == Uncertain, s.Phase == Held && r.nodes[s.Node].Asks() != nil:
			next.Ask = append(next.Ask, *s)
			later(s.Ends)
		case s.Phase == Held:
			if s.Handover == nil {
				later(s.Ends)
			}
			later(s.Due)
		case s.Phase == Ready && r.Status == Running && s.Due.After(now):
			later(s.Due)
		case s.Phase == Ready && r.Status == Running && alive < r.Spec.Limits.Parallel && r.room(s):
			alive++
			next.Start = append(next.Start, *s)
		}
	})
	return next
}

// works reports whether a step does work of its own; a map's node only gathers its items.
func (r *Run) works(s *Step) bool { return s.Item >= 0 || r.nodes[s.Node].Map == nil }

// room reports whether one more item of a map may run beside the others.
func (r *Run) room(s *Step) bool {
	if s.Item < 0 {
		return true
	}
	beside := 0
	for _, other := range r.items[s.Node] {
		if other.Phase == Alive {
			beside++
		}
	}
	// Those before it that are ready are started in the same breath.
	for _, other := range r.items[s.Node][:s.Item] {
		if other.Phase == Ready {
			beside++
		}
	}
	return beside < r.nodes[s.Node].Map.Parallel
}

// Value is what a name leads to, false when it is not there.
func (r *Run) Value(ref spec.Ref) (any, bool) { return r.value(ref) }

// value is what a name leads to, false when it is not there.
func (r *Run) value(ref spec.Ref) (any, bool) {
	node, way := ref.Split()
	var here any
	switch s := r.steps[node]; {
	case s != nil && s.Output != nil:
		here = s.Output
	case s == nil:
		here = r.Given
	default:
		return nil, false
	}
	for _, name := range way {
		table, ok := here.(map[string]any)
		if !ok {
			return nil, false
		}
		if here, ok = table[name]; !ok {
			return nil, false
		}
	}
	return here, true
}

// Inputs are what a step is given: what its node names, and nothing else.
func (r *Run) Inputs(node string, item int) map[string]any {
	out := map[string]any{}
	n := r.nodes[node]
	for name, ref := range n.Inputs {
		if v, ok := r.value(ref); ok {
			out[name] = v
		}
	}
	if n.Map != nil && item >= 0 {
		if list, ok := r.value(n.Map.Over); ok {
			if all, ok := list.([]any); ok && item < len(all) {
				out["item"] = all[item]
			}
		}
	}
	return out
}

// Shown is what a gate is about: the outputs that it names, by their names.
func (r *Run) Shown(n *spec.Node) map[string]any {
	out := map[string]any{}
	for _, ref := range n.Asks().Shows {
		if v, ok := r.value(ref); ok {
			out[string(ref)] = v
		}
	}
	return out
}
