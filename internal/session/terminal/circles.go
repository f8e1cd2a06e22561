package terminal

import (
	"slices"

	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// maxRound is how often a program goes round in the same calls with the same outcomes before its turn is ended. That is more than our own
// loop allows: a program may look a few times whether something is there by now.
const maxRound = 8

// maxBegun is how many calls of a program are remembered that have not ended.
const maxBegun = 64

// round looks for circles in a program's calls.
type round struct {
	begun []begun // calls that have not ended, oldest first
	calls session.Rounds
}

type begun struct{ ref, tool, args string }

// took takes a call, or what became of it, and is the circle in which the calls go by now.
func (r *round) took(a *agents.Act) *session.Circle {
	r.calls.Times = maxRound
	at := slices.IndexFunc(r.begun, func(b begun) bool { return b.ref == a.Ref })
	if a.Tool != "" {
		if at < 0 {
			if len(r.begun) == maxBegun {
				r.begun = slices.Delete(r.begun, 0, 1)
			}
			at = len(r.begun)
			r.begun = append(r.begun, begun{})
		}
		r.begun[at] = begun{a.Ref, a.Tool, string(a.Args)}
	}
	if !a.Ended || at < 0 {
		return nil
	}
	b := r.begun[at]
	r.begun = slices.Delete(r.begun, at, at+1)
	return r.calls.Took(session.MadeOf(b.tool, b.args, a.Text))
}

// circles ends the turn of a program that goes round in circles. What a person typed at its terminal is that person's to end.
func (s *seat) circles(a *agents.Act) {
	if c := s.round.took(a); c != nil && s.turn != nil && s.turn.Asker != byHand && s.spent == nil {
		s.spent, s.outcome = session.Circled{Circle: c}, CirclesOutcome
	}
}
