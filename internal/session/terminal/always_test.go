package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/policy/book"
	"tandem/internal/session/terminal"
)

// "Don't ask again" at the dialogs of Claude Code and Codex made later calls like that one run without an ask, though policy asks. It is
// worth one call: the next one comes up again, after a start of the server too, and a denial holds whatever was said before. (Real
// programs; OpenCode's is TestOpenCodesAlwaysEndsWithTheTurn.)
func TestAlwaysAtTheDialogIsWorthOneCall(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "TANDEM_CONFINE=bwrap")
	h.write("home/code/made", "")
	for agent, key := range map[string]string{"claude": "2", "codex": "p"} {
		tool := "mk" + agent
		h.write("home/code/"+tool, "#!/bin/sh\necho $1 >> made\n")
		if err := os.Chmod(filepath.Join(h.project, tool), 0o755); err != nil {
			t.Fatal(err)
		}
		line := func(what string) string {
			if agent == "codex" { // out of its own sandbox, for which it asks
				return escalated("./" + tool + " " + what)
			}
			return ownShell(agent, "./"+tool+" "+what)
		}
		h.openAs(agent, agent)
		out := h.begin(agent, "make "+line("first")+" [[say ran]]")
		h.eventually("its dialog is there", func() bool {
			return h.seat(agent).State == terminal.Permission && strings.Contains(h.shown(agent), "ask again for")
		})
		h.press(agent, key, "ask again for")
		h.ended(agent, out.Cursor)
		again := func(when, more string) {
			t.Helper()
			out := h.begin(agent, "again "+line("first "+more)+" [[result]]")
			h.decide(approval.Cancel, "not any more")
			h.ended(agent, out.Cursor)
			if made := h.text("home/code/made"); made != "first\n" {
				t.Errorf("%s, %s: %q", agent, when, made)
			}
		}
		again("in the next turn", "second")
		h.stop(os.Interrupt)
		h.start()
		again("after a start of the server", "third")
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "tool:/",
			Permissions: []string{"execute"}, Tools: []string{"bash(command: ./" + tool + ")"}}, nil); err != nil {
			t.Fatal(err)
		}
		if got := h.send(agent, "again "+line("first")+" [[result]]").Report; !strings.Contains(got, "denies it") {
			t.Errorf("%s, denied: %s", agent, got)
		}
		h.call("session.close", terminal.NameIn{Name: agent}, nil)
		h.write("home/code/made", "")
	}
}

// A rule that asks was told to Codex as "ask", which it does not know: its hook failed, and what its own sandbox lets it do ran. People are
// asked while the hook waits, once, also for what Codex asks about by itself.
func TestARuleThatAsksHoldsCodex(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "TANDEM_CONFINE=bwrap")
	rules := map[string]any{"rules": `@id("asked") @ask forbid (principal, action == Action::"execute", resource in Tool::"/bash");`}
	if err := h.c.WithPIN(pin).Call(t.Context(), "policy.edit", rules, nil); err != nil {
		t.Fatal(err)
	}
	h.openAs("a", "codex")
	out := h.begin("a", "look "+execute("cat a.txt")+" [[result]]")
	h.decide(approval.Cancel, "not now")
	if got := h.ended("a", out.Cursor).Report; !strings.Contains(got, "not now") || strings.Contains(got, "hello from a file") {
		t.Errorf("refused: %s", got)
	}
	out = h.begin("a", "look "+escalated("head a.txt")+" [[result]]")
	h.decide(approval.Approve, "")
	if got := h.ended("a", out.Cursor).Report; !strings.Contains(got, "hello from a file") {
		t.Errorf("approved: %s", got)
	}
	if shown := h.shown("a"); strings.Contains(shown, "Hook failed") {
		t.Errorf("its hook failed:\n%s", shown)
	}
}
