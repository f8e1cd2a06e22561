package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
)

// A key pressed at the program's own dialog answered what a rule wants of somebody named. Of Claude Code no dialog comes up
// before they have
// answered; Codex and OpenCode, whose dialogs cannot be kept back, are told no. (Real programs.)
func TestAKeyAtTheDialogIsNobodysName(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	rules := map[string]any{"rules": `@id("named") @ask @approvers("person:owner")
forbid (principal, action == Action::"execute", resource in Tool::"/bash");`}
	if err := h.c.WithPIN(pin).Call(t.Context(), "policy.edit", rules, nil); err != nil {
		t.Fatal(err)
	}
	made := func(name string) bool { _, err := os.Stat(filepath.Join(h.project, name)); return err == nil }
	asks := func() int {
		var list approval.ListOut
		h.call("approval.list", approval.ListIn{}, &list)
		return len(list.Asks)
	}

	h.openAs("claude", "claude")
	out := h.begin("claude", `make it [[tool Bash {"command":"echo y > claude.txt","description":"make a file"}]] [[say ran]]`)
	h.eventually("people are asked", func() bool { return asks() == 1 })
	if shown := h.shown("claude"); strings.Contains(shown, "Do you want to proceed") {
		t.Errorf("a dialog is up:\n%s", shown)
	}
	h.tmux("send-keys", "-t", "=ccm-claude:", "Enter")
	if made("claude.txt") || asks() != 1 {
		t.Error("a key answered")
	}
	h.decide(approval.Approve, "")
	if h.ended("claude", out.Cursor); !made("claude.txt") {
		t.Errorf("what the owner approved did not run:\n%s", h.shown("claude"))
	}

	for agent, command := range map[string]string{"codex": execute("echo y > codex.txt"), "opencode": shell("echo y > opencode.txt")} {
		h.openAs(agent, agent)
		out := h.begin(agent, "make it "+command+" [[result]]")
		out = h.ended(agent, out.Cursor)
		if made(agent+".txt") || asks() != 0 || !strings.Contains(out.Report, "shows its dialog to whoever is at the terminal") {
			t.Errorf("%s ran it, or was not told why not: %+v\n%s", agent, out, h.shown(agent))
		}
	}
}
