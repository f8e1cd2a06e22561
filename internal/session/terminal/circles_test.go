package terminal

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// The same calls with the same outcomes are a circle when they came back often enough; another call, or another outcome, begins anew, and
// calls that have not ended say nothing.
func TestCallsThatRepeatEachOther(t *testing.T) {
	for made, want := range map[string]bool{"a": true, "ab": true, "abc": true, "abcd": false, "aB": true} {
		var r round
		for i := range maxRound * len(made) {
			c := made[i%len(made) : i%len(made)+1]
			if r.took(&agents.Act{Ref: fmt.Sprint(i), Tool: "Bash", Args: json.RawMessage(strings.ToLower(c))}) != nil {
				t.Fatalf("%s: a call that has not ended is in a circle", made)
			}
			last := i == maxRound*len(made)-1
			if got := r.took(&agents.Act{Ref: fmt.Sprint(i), Ended: true, Text: c}) != nil; got != (want && last) {
				t.Errorf("%s: call %d closes a circle: %v", made, i, got)
			}
		}
		if r.took(&agents.Act{Ref: "x", Ended: true, Text: made[:1]}) != nil {
			t.Errorf("%s: an outcome without its call is in a circle", made)
		}
		next := &agents.Act{Ref: "y", Tool: "Bash", Args: json.RawMessage(strings.ToLower(made[:1])), Ended: true, Text: made[:1]}
		if got := r.took(next) != nil; got != want {
			t.Errorf("%s: a call that is told with its outcome goes on in the circle: %v", made, got)
		}
		next.Text = "else"
		if r.took(next) != nil {
			t.Errorf("%s: another outcome is in a circle", made)
		}
	}
}

// Calls of which nobody hears the end are forgotten, the oldest first.
func TestCallsThatNeverEndAreForgotten(t *testing.T) {
	var r round
	for i := range 10 * maxBegun {
		r.took(&agents.Act{Ref: fmt.Sprint(i), Tool: "Bash"})
	}
	if len(r.begun) != maxBegun || r.begun[0].ref != fmt.Sprint(9*maxBegun) {
		t.Errorf("%d calls are remembered from %s on", len(r.begun), r.begun[0].ref)
	}
}

// What a person typed at the terminal goes on for as long as that person lets it.
func TestAPersonsOwnTurnMayRepeatItself(t *testing.T) {
	for asker, want := range map[string]bool{"local": true, byHand: false} {
		s := &seat{turn: &session.Turn{Asker: asker}}
		for range maxRound {
			s.circles(&agents.Act{Ref: "a", Tool: "Bash", Args: json.RawMessage("1"), Ended: true, Text: "x"})
		}
		if got := s.spent != nil; got != want {
			t.Errorf("a turn that %s asked for is ended: %v", asker, got)
		}
	}
}
