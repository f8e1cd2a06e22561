package inbox

import (
	"testing"

	"tandem/internal/session/terminal"
)

// A rate-limited session's row said to attach to it, where nothing helps: its turn is over, and the words have to be sent again.
func TestARowSaysHowItsProgramGoesOn(t *testing.T) {
	for _, c := range []struct {
		state   terminal.State
		outcome string
		want    string
	}{
		{terminal.Crashed, "ok", "tandem session open a --resume"},
		{terminal.RateLimited, terminal.LimitedOutcome, "tandem session send a 'go on'"},
		{terminal.RateLimited, "ok", "tandem session attach a"}, // it tries again by itself
		{terminal.Dialog, "ok", "tandem session attach a"},
	} {
		if got := GoOnWith(terminal.Seat{Name: "a", State: c.state, Outcome: c.outcome}); got != c.want {
			t.Errorf("%s after %s: %s, want %s", c.state, c.outcome, got, c.want)
		}
	}
}
