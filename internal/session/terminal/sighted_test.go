package terminal

import (
	"testing"
	"time"

	"tandem/internal/session/agents"
)

// Right after a start the inbox said that nothing needs anybody, while a dialog stood in a terminal of which the server had not heard yet.
// Until the session was looked at, and no longer than a program is waited for at all, it says so.
func TestASessionIsLookedAtBeforeItsInboxIsBelieved(t *testing.T) {
	prompt := agents.Registered{Status: "waiting", WaitingFor: "permission prompt"}
	for _, c := range []struct {
		name   string
		age    time.Duration
		reg    agents.Registered
		wait   bool
		state  State
		spoken bool // a program with a server of its own, not reached
		seen   bool
	}{
		{name: "a moment ago", age: time.Second / 2},
		{name: "nothing waits", age: 3 * time.Second, reg: agents.Registered{Status: "idle"}, seen: true},
		{name: "a dialog whose hook was not heard", age: 3 * time.Second, reg: prompt},
		{name: "a dialog that was heard of", age: 3 * time.Second, reg: prompt, wait: true, seen: true},
		{name: "not reached", age: 3 * time.Second, spoken: true},
		{name: "waited for long enough", age: grace + time.Second, spoken: true, seen: true},
		{name: "gone", state: Crashed, seen: true},
	} {
		s := &seat{born: time.Now().Add(-c.age), waits: map[string]*wait{}}
		s.row.State = c.state
		if c.wait {
			s.waits["x"] = &wait{}
		}
		s.prog = &claude{seat: s, hasReg: true, reg: c.reg}
		if c.spoken {
			s.prog = &spoken{seat: s}
		}
		if got := s.sighted(); got != c.seen {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
