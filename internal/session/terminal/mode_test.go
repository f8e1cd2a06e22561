package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
)

// Shift-Tab at Claude Code's terminal lets it change files without asking, and so does what the person's own settings allow. Policy asked,
// and nobody was asked: the calls ran. (Real program.)
func TestAModeAtTheTerminalWidensNothing(t *testing.T) {
	if !alone(t) {
		return
	}
	h := newHouse(t)
	h.write("home/.claude/settings.json", `{"permissions":{"defaultMode":"acceptEdits","allow":["Bash(touch:*)"]}}`)
	made := filepath.Join(h.project, "made.txt")
	refused := func(name, when, call string) {
		t.Helper()
		out := h.begin(name, "make it "+call+" [[result]]")
		h.decide(approval.Cancel, "not this one")
		if got := h.ended(name, out.Cursor).Report; !strings.Contains(got, "not this one") {
			t.Errorf("%s: %s\n%s", when, got, h.shown(name))
		}
		if _, err := os.Stat(made); err == nil {
			t.Errorf("%s: it ran", when)
			os.Remove(made)
		}
	}
	h.open("a")
	write := func(text string) string { // who said no to a call has said it to the same call
		return `[[tool Write {"file_path":` + quote(made) + `,"content":` + quote(text) + `}]]`
	}
	refused("a", "a mode of the settings", write("one"))
	refused("a", "allowed by the settings", ownShell("claude", "touch made.txt"))
	h.tmux("send-keys", "-t", "=ccm-a:", "BTab")
	h.eventually("its mode changed", func() bool { return strings.Contains(h.shown("a"), "accept edits on") })
	refused("a", "a mode chosen at the terminal", write("two"))
	out := h.begin("a", "make it "+write("three")+" [[say done then]]")
	h.decide(approval.Approve, "")
	h.ended("a", out.Cursor)
	if _, err := os.Stat(made); err != nil {
		t.Errorf("what was approved did not run: %v\n%s", err, h.shown("a"))
	}
}
