package terminal_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session/terminal"
)

// "Don't ask again for these files" at Codex's dialog let it change them until it was started again, though policy asks: Codex writes that
// down nowhere. It is worth one change. (Real Codex.)
func TestAlwaysForFilesIsWorthOneChange(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "TANDEM_CONFINE=bwrap")
	h.openAs("a", "codex")
	file := filepath.Join(h.dir, "home", "notes.txt") // outside of what its own sandbox lets it write
	patch := func(text string) string {
		return execute("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + file + "\n+" + text + "\n*** End Patch\nEOF\n")
	}
	out := h.begin("a", "make "+patch("one")+" [[say ran]]")
	h.eventually("its dialog is there", func() bool {
		return h.seat("a").State == terminal.Permission && strings.Contains(h.shown("a"), "ask again for these files")
	})
	h.press("a", "a", "ask again for these files")
	h.ended("a", out.Cursor)
	out = h.begin("a", "again "+patch("two")+" [[result]]")
	h.decide(approval.Cancel, "not any more")
	if got := h.ended("a", out.Cursor).Report; !strings.Contains(got, "not any more") {
		t.Errorf("the next change ran: %s\n%s", got, h.shown("a"))
	}
}
