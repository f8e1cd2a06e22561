package session

import (
	"strings"

	"tandem/internal/fault"
)

const (
	circlesFrom = "the agent called "
	circlesTo   = " times with the same arguments and the same result"
)

// Circles is why a turn is ended whose agent makes the same call again and again.
func Circles(tool string, times int) *fault.Error {
	return fault.New(fault.Exhausted, "session.loop", circlesFrom+"%s %d"+circlesTo, fault.Clip(tool, 60), times).
		WithNext("tell it what to do differently")
}

// InCircles says whether the turn was ended for that.
func (t *Turn) InCircles() bool {
	return t.State == Failed && strings.HasPrefix(t.Reason, circlesFrom) && strings.HasSuffix(t.Reason, circlesTo)
}
