package terminal

import (
	"encoding/json"
	"testing"

	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// The same call with the same outcome counts; another call, or another outcome, begins anew, and calls that have not ended say nothing.
func TestCallsThatRepeatEachOther(t *testing.T) {
	var r round
	ref := 0
	call := func(args, text string) int {
		ref++
		id := string(rune('a' + ref))
		if n := r.took(&agents.Act{Ref: id, Tool: "Bash", Args: json.RawMessage(args)}); n != 0 {
			t.Errorf("a call that has not ended counts %d", n)
		}
		return r.took(&agents.Act{Ref: id, Ended: true, Text: text})
	}
	for i, c := range []struct {
		args, text string
		want       int
	}{{"1", "a", 1}, {"1", "a", 2}, {"1", "b", 1}, {"1", "b", 2}, {"2", "b", 1}, {"1", "b", 1}} {
		if got := call(c.args, c.text); got != c.want {
			t.Errorf("call %d counts %d, want %d", i, got, c.want)
		}
	}
	if n := r.took(&agents.Act{Ref: "x", Ended: true, Text: "a"}); n != 0 {
		t.Errorf("an outcome without its call counts %d", n)
	}
	if n := r.took(&agents.Act{Ref: "y", Tool: "Bash", Args: json.RawMessage("1"), Ended: true, Text: "b"}); n != 2 {
		t.Errorf("a call that is told with its outcome counts %d", n)
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
