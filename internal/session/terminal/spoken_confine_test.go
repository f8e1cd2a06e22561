package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
)

// Codex under bubblewrap: its server and its terminal share one small world, its own sandbox nests in it, and we speak to it
// from outside. An approved command sees neither tandem's data nor the tmux server.
func TestCodexIsConfined(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "TANDEM_CONFINE=bwrap")
	s := h.openAs("a", "codex")
	want(t, "confined", s.Confined, "bwrap")
	if out := h.send("a", "hi [[say plain words]]"); out.Report != "plain words" {
		t.Fatalf("%+v\n%s", out, h.shown("a"))
	}
	attack := "ls " + h.dir + "/home/.tandem/tandem.db " + h.dir + "/home/.tandem/tandem.sock && echo SAW-DATA; tmux -S " + filepath.Join(h.dir, "tmux.sock") +
		" send-keys -t =ccm-a: Enter && echo TYPED; echo made > made.txt; echo END"
	out := h.begin("a", "look "+execute(attack)+" [[result]]")
	h.decide(approval.Approve, "")
	out = h.ended("a", out.Cursor)
	if strings.Contains(out.Report, "SAW-DATA") || strings.Contains(out.Report, "TYPED") || !strings.Contains(out.Report, "END") {
		t.Errorf("%s", out.Report)
	}
	if _, err := os.Stat(filepath.Join(h.project, "made.txt")); err != nil {
		t.Error(err)
	}
}
