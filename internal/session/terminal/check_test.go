package terminal

import (
	"strings"
	"testing"
)

// A version that does not tell what it should is warned of, and says what is left.
func TestAVersionIsJudgedByWhatItShowed(t *testing.T) {
	if c := judged("claude", "1", signalsOf("claude")); len(c.Missing) != 0 || c.Verdict != "all signals of claude 1 work" {
		t.Errorf("%+v", c)
	}
	c := judged("claude", "2", []string{"transcript", "hook Stop", "hook PreToolUse"})
	if !strings.HasPrefix(c.Verdict, "warning: claude 2 did not show hook SessionStart, hook UserPromptSubmit, registry, screen; it is judged by hook Stop, transcript") {
		t.Errorf("%+v", c)
	}
	if c := judged("codex", "3", nil); len(c.Works) != 0 || !strings.Contains(c.Verdict, "told nothing") {
		t.Errorf("%+v", c)
	}
}
