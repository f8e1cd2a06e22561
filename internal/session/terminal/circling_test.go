package terminal_test

import (
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/session/terminal"
)

// A real Claude Code and a real Codex that make the same call again and again are stopped in their turn; the program stays, and goes on
// when it is told something else.
func TestRealAgentsInCirclesAreStopped(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	h.write("home/code/same.txt", "the same\n")
	for agent, call := range map[string]string{
		"claude": `[[tool Glob {"pattern":"same.*"}]]`,
		"codex":  execute("cat same.txt"),
	} {
		t.Run(agent, func(t *testing.T) {
			var s terminal.Seat
			h.call("session.open", terminal.OpenIn{Name: agent, Cwd: h.project, Agent: agent}, &s)
			h.begin(agent, "look "+strings.Repeat(call+" ", 10)+"[[slow 120]]")
			h.eventually("its turn is ended", func() bool {
				var list approval.ListOut
				if h.call("approval.list", approval.ListIn{}, &list); len(list.Asks) > 0 { // each call of Codex is asked about
					if err := h.yes(list.Asks[0].ID); err != nil && !fault.Is(err, fault.Conflict) { // it ends with its turn
						t.Error(err)
					}
				}
				return h.seat(agent).Outcome == terminal.CirclesOutcome
			})
			h.eventually("the program stays", func() bool { return h.seat(agent).State == terminal.Ready })
			want(t, "report", h.send(agent, "something else [[say here I am]]").Report, "here I am")
		})
	}
}
