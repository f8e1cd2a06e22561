package run

import (
	"fmt"
	"slices"
	"time"

	"tandem/internal/automation/spec"
)

// settle moves on whatever can move without anybody: nodes become ready, maps open and close, branches choose, skipped nodes skip what
// needs them, and the run ends when nothing is left.
func (r *Run) settle(now time.Time) {
	for moved := true; moved && !r.Status.Over(); {
		moved = false
		for i := range r.Spec.Nodes {
			n := &r.Spec.Nodes[i]
			s := r.steps[n.ID]
			switch {
			case s.Phase == Waiting:
				moved = r.arrive(n, s, now) || moved
			case s.Phase == Alive && n.Map != nil:
				moved = r.gather(n, s) || moved
			}
		}
		moved = r.end() || moved
	}
}

// arrive looks whether all that comes before a node is there. Where branches meet again, it is enough that one of them was gone.
func (r *Run) arrive(n *spec.Node, s *Step, now time.Time) bool {
	needs := r.needs[n.ID]
	if slices.ContainsFunc(needs, func(id string) bool { return !r.steps[id].Phase.settled() }) {
		return false
	}
	came, aside := 0, ""
	for _, need := range needs {
		before := r.steps[need]
		switch b := r.nodes[need].Branch; {
		case before.Aside && n.OnlyAfter(need):
			aside = need
		case before.Phase != Done:
			s.Aside, s.Cut = before.Aside, before.Phase == Broken || before.Cut
			return s.skip("%s is %s", need, before.Phase)
		case b != nil && b.Names(n.ID) && !slices.Contains(before.chosen(), n.ID):
			s.Aside = true
			return s.skip("%s chose otherwise", need)
		default:
			came++
		}
	}
	if aside != "" && came == 0 {
		s.Aside = true
		return s.skip("%s is skipped", aside)
	}
	switch {
	case n.Branch != nil:
		return r.choose(n, s)
	case n.Map != nil:
		return r.open(n, s)
	case n.Gate != nil:
		s.Phase, s.Ends = Held, now.Add(time.Duration(n.Gate.Expires))
	case n.Wait != nil:
		r.hold(n.Wait, s, now)
		r.receive(n, s)
	default:
		s.Phase, s.Due = Ready, now
	}
	return true
}

func (s *Step) skip(format string, args ...any) bool {
	s.Phase, s.Reason = Skipped, fmt.Sprintf(format, args...)
	return true
}

func (s *Step) chosen() []string {
	list, _ := s.Output["chosen"].([]string)
	return list
}

// hold begins a wait. A timer is due by itself; the others wait for somebody until they run out.
func (r *Run) hold(w *spec.Wait, s *Step, now time.Time) {
	s.Phase, s.Ends = Held, now.Add(time.Duration(w.Timeout))
	switch {
	case w.For != 0:
		s.Due, s.Ends = now.Add(time.Duration(w.For)), time.Time{}
	case !w.Until.IsZero():
		s.Due, s.Ends = w.Until, time.Time{}
	}
}

func (r *Run) choose(n *spec.Node, s *Step) bool {
	v, ok := r.value(n.Branch.On)
	if !ok {
		s.Phase, s.Reason = Broken, fmt.Sprintf("%s has no value", n.Branch.On)
		return r.broke(n)
	}
	to, there := n.Branch.Cases[fmt.Sprint(v)]
	if !there {
		to = n.Branch.Else
	}
	s.Phase, s.Output = Done, map[string]any{"value": v, "chosen": to}
	return true
}

func (r *Run) open(n *spec.Node, s *Step) bool {
	v, _ := r.value(n.Map.Over)
	list, ok := v.([]any)
	switch {
	case !ok:
		s.Phase, s.Reason = Broken, fmt.Sprintf("%s is no list", n.Map.Over)
		return r.broke(n)
	case len(list) > n.Map.Max:
		s.Phase, s.Reason = Broken, fmt.Sprintf("%s has %d items; %d are allowed", n.Map.Over, len(list), n.Map.Max)
		return r.broke(n)
	}
	s.Phase = Alive
	r.items[n.ID] = make([]*Step, len(list))
	for i := range list {
		r.items[n.ID][i] = &Step{Node: n.ID, Item: i, Phase: Ready}
	}
	return true
}

// gather closes a map when all its items are settled.
func (r *Run) gather(n *spec.Node, s *Step) bool {
	out := map[string]any{}
	for name := range n.Output {
		out[name] = []any{}
	}
	for _, item := range r.items[n.ID] {
		if !item.Phase.settled() {
			return false
		}
		if item.Phase == Broken && n.OnFailure != spec.GoOn {
			s.Phase, s.Reason = Broken, fmt.Sprintf("item %d: %s", item.Item+1, item.Reason)
			return r.broke(n)
		}
		for name := range n.Output {
			if v, ok := item.Output[name]; ok {
				out[name] = append(out[name].([]any), v)
			}
		}
	}
	s.Phase, s.Output = Done, out
	return true
}

// broke is what a node that failed for good does to its run.
func (r *Run) broke(n *spec.Node) bool {
	switch n.OnFailure {
	case spec.FailRun:
		r.finish(Failed, fmt.Sprintf("%s: %s", n.ID, r.reason(n.ID)))
	case spec.Pause:
		r.Status, r.Reason, r.stuck = Paused, fmt.Sprintf("%s failed: %s", n.ID, r.reason(n.ID)), true
	}
	return true
}

func (r *Run) reason(node string) string {
	for _, s := range append([]*Step{r.steps[node]}, r.items[node]...) {
		if s.Phase == Broken && s.Reason != "" {
			return s.Reason
		}
	}
	return "no reason was given"
}

// end completes a run of which nothing is left.
func (r *Run) end() bool {
	if r.Status.Over() {
		return false
	}
	left := false
	r.each(func(s *Step) { left = left || !s.Phase.settled() })
	if left || r.Status == Paused {
		return false
	}
	r.finish(Completed, "")
	return true
}

// finish ends a run. What is alive may still report; what was not begun is skipped.
func (r *Run) finish(status Status, why string) {
	r.Status, r.Reason = status, why
	r.each(func(s *Step) {
		if s.Phase == Waiting || s.Phase == Ready || s.Phase == Held {
			s.Cut = s.skip("the run is %s", status)
		}
	})
}
