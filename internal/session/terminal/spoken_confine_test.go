package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session/terminal"
)

// escalated is a scripted call of Codex's shell that asks to leave Codex's own sandbox.
func escalated(command string) string {
	return `[[tool exec_command {"cmd":` + quote(command) +
		`,"sandbox_permissions":"require_escalated","justification":"look around","yield_time_ms":30000}]]`
}

// Codex under bubblewrap: its server and its terminal share one small world, its own sandbox nests in it, and we speak to it
// from outside. A command that a person let out of Codex's own sandbox sees neither tandem's data nor the tmux server, and does
// not reach the server at which its next permission could be answered.
func TestCodexIsConfined(t *testing.T) {
	if !alone(t) {
		return
	}
	dir := apartDir(t)
	h := spokenIn(t, dir, "TANDEM_CONFINE=bwrap", outfitted(t, dir))
	h.give()
	s := h.openAs("a", "codex")
	want(t, "confined", s.Confined, "bwrap")
	h.wears(s)
	other := h.openAs("b", "codex")
	if out := h.send("a", "hi [[say plain words]]"); out.Report != "plain words" {
		t.Fatalf("%+v\n%s", out, h.shown("a"))
	}
	// Its own sandbox works inside of ours, where it is root without any capability.
	out := h.begin("a", `run [[tool exec_command {"cmd":"echo nested > nested.txt; cat nested.txt; `+
		`touch /usr/nested && echo WROTE-SYSTEM","yield_time_ms":30000}]] [[result]]`)
	h.decide(approval.Approve, "")
	if end := h.ended("a", out.Cursor); !strings.Contains(end.Report, "nested\n") || strings.Contains(end.Report, "WROTE-SYSTEM") ||
		strings.Contains(end.Report, "bwrap:") {
		t.Errorf("a command in Codex's own sandbox: %s", end.Report)
	}
	out = h.begin("a", "look "+escalated(h.attack(other)+"; sh bounds.sh")+" [[result]]")
	h.decide(approval.Approve, "")
	report := h.ended("a", out.Cursor).Report
	repelled(t, report)
	h.bounded(s, report)
	if _, err := os.Stat(filepath.Join(h.project, "made.txt")); err != nil {
		t.Error(err)
	}
	// What was put out of its reach is still within ours, also after a restart.
	h.stop(os.Kill)
	h.start()
	// On a busy machine its screen may still say that it works, and then nothing is typed.
	h.eventually("it takes a slash command", func() bool { return h.send("a", "/new").Status == "done" })
	if out := h.send("a", "on [[say still here]]"); out.Report != "still here" {
		t.Errorf("%+v\n%s", out, h.shown("a"))
	}
	h.call("session.close", terminal.NameIn{Name: "a"}, nil)
	if left, err := filepath.Glob(filepath.Join(h.dir, "home", ".tandem", "terminals", s.Session+"*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
