package terminal

import (
	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// maxRound is how often a program makes the same call with the same outcome before its turn is ended. That is more than our own loop
// allows: a program may look a few times whether something is there by now.
const maxRound = 8

// round counts a program's calls that are the same as the one before.
type round struct {
	begun map[string]string // calls that have not ended
	tool  string
	last  string
	times int
}

// took takes a call, or what became of it, and says how often in a row it was made.
func (r *round) took(a *agents.Act) int {
	if r.begun == nil {
		r.begun = map[string]string{}
	}
	if a.Tool != "" {
		r.begun[a.Ref] = a.Tool + "\x00" + string(a.Args)
	}
	if !a.Ended || r.begun[a.Ref] == "" {
		return 0
	}
	made := r.begun[a.Ref] + "\x00" + a.Text
	if delete(r.begun, a.Ref); made != r.last {
		r.last, r.times = made, 0
	}
	r.times++
	return r.times
}

// circles ends the turn of a program that goes round in circles. What a person typed at its terminal is that person's to end.
func (s *seat) circles(a *agents.Act) {
	if a.Tool != "" {
		s.round.tool = a.Tool
	}
	if s.round.took(a) >= maxRound && s.turn != nil && s.turn.Asker != byHand && s.spent == nil {
		s.spent, s.outcome = session.Circles(s.round.tool, maxRound), CirclesOutcome
	}
}
