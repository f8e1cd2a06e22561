package compat

import "tandem/internal/fault"

// gate is the gate with that ask at which a run waits, or the first one where none is named; nil when it waits at none.
func (r run) gate(ask string) *step {
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Kind == "gate" && s.Ask != "" && (ask == "" || s.Ask == ask) {
			return s
		}
	}
	return nil
}

// asked is the ask that an answer is meant for. The client names it, as it saw it in awaiting_gate. Where it names none, what it decides on
// is certain only as long as the run has asked once; but no is no to all of it.
func (r run) asked(named, node string, cancels bool) (string, error) {
	g := r.gate(named)
	switch {
	case r.gate("") == nil:
		return "", fault.New(fault.Conflict, "automation.trace", "%s waits at no gate", r.ID).
			WithNext("see why it waits: tandem automation runs show %s", r.ID)
	case g == nil || node != "" && node != g.Node:
		return "", fault.New(fault.Conflict, "automation.trace", "%s does not wait for this answer any more", r.ID).
			WithNext("read the run again, and answer the awaiting_gate that it has now")
	case named == "" && !cancels && r.asks() > 1:
		return "", fault.New(fault.Conflict, "automation.trace", "%s asked more than once, and the answer does not say what it is for", r.ID).
			WithNext("read the run again, and send the request_id of its awaiting_gate with the answer")
	}
	return g.Ask, nil
}

// asks is how often a run asked at gates, as far as its steps tell.
func (r run) asks() (n int) {
	for i := range r.Steps {
		s := &r.Steps[i]
		if n += len(s.Notes); s.Kind == "gate" && (s.Ask != "" || s.State == "done") {
			n++
		}
	}
	return n
}
