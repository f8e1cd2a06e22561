package inbox

import (
	"strings"
	"testing"

	"tandem/internal/inbox/wire"
)

// "nothing needs you" is said only when every session was looked at since the start.
func TestNoAllClearBeforeTheSessionsWereLookedAt(t *testing.T) {
	for looking, want := range map[int]string{0: "nothing needs you\n", 2: "still looking after the start, sessions: 2;"} {
		var b strings.Builder
		show(&b, placed{Out: wire.Out{Looking: looking}})
		if got := b.String(); !strings.HasPrefix(got, want) || looking > 0 && strings.Contains(got, "nothing needs you") {
			t.Errorf("looking at %d: %q", looking, got)
		}
	}
}
