package terminal

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A version that does not tell what it should is warned of, and says what is left. What only a tool's use shows is missed only
// where a probe looked for it.
func TestAVersionIsJudgedByWhatItShowed(t *testing.T) {
	always, guards := signalsOf("claude")
	if c := judged("claude", "1", always, time.Time{}); len(c.Missing) != 0 || c.Verdict != "all signals of claude 1 work" {
		t.Errorf("%+v", c)
	}
	if c := judged("claude", "1", always, time.Now()); !slices.Equal(c.Missing, guards) {
		t.Errorf("%+v", c)
	}
	c := judged("claude", "2", []string{"transcript", "hook Stop", "hook Notification"}, time.Time{})
	if !strings.HasPrefix(c.Verdict,
		"warning: claude 2 did not show hook SessionStart, hook UserPromptSubmit, registry, screen; it is judged by hook Stop, transcript") {
		t.Errorf("%+v", c)
	}
	if c := judged("codex", "3", nil, time.Now()); len(c.Works) != 0 || !strings.Contains(c.Verdict, "told nothing") {
		t.Errorf("%+v", c)
	}
}
