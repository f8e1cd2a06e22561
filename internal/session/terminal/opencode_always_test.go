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

// "Allow always" at OpenCode's own dialog held in that program until it was closed: the same command ran again without an ask, also when
// it had been denied since. Now it holds until the turn ends, and the next one asks policy again; and as soon as policy denies any call of
// that tool, the program ends with what it runs, and the turn with that reason.
func TestOpenCodesAlwaysEndsWithTheTurn(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "TANDEM_CONFINE=bwrap", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	h.call("session.open", terminal.OpenIn{Name: "a", Cwd: h.project, Agent: "opencode"}, nil)
	h.eventually("it is ready", func() bool { return h.seat("a").State == terminal.Ready })
	before := h.tmux("list-panes", "-t", "=ccm-a", "-F", "#{pane_pid}")
	out := h.begin("a", "remember heron "+shell("date >> days.txt")+" [[say done]]")
	always := func() {
		t.Helper()
		h.eventually("its dialog is there", func() bool { return strings.Contains(h.shown("a"), "Allow always") })
		h.tmux("send-keys", "-t", "=ccm-a:", "Right")
		h.tmux("send-keys", "-t", "=ccm-a:", "Enter")
		h.eventually("it asks whether that is meant", func() bool { return strings.Contains(h.shown("a"), "Confirm") })
		h.tmux("send-keys", "-t", "=ccm-a:", "Enter")
	}
	always()
	h.ended("a", out.Cursor)
	h.eventually("it is started again", func() bool {
		return h.tmux("list-panes", "-t", "=ccm-a", "-F", "#{pane_pid}") != before && h.seat("a").State == terminal.Ready
	})
	out = h.begin("a", "again "+shell("date >> days.txt")+" [[say done]]")
	h.decide(approval.Cancel, "not any more")
	h.ended("a", out.Cursor)
	if all := h.model.Requests(); !strings.Contains(string(all[len(all)-1].Body), "heron") {
		t.Error("it is another conversation")
	}
	// Of a denial that comes while such a turn goes on it does not wait for the end.
	out = h.begin("a", "once more "+shell("touch begun && sleep 600")+" [[say done]]")
	always()
	h.eventually("it runs", func() bool { _, err := os.Stat(filepath.Join(h.project, "begun")); return err == nil })
	if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "tool:/",
		Permissions: []string{"execute"}, Tools: []string{"bash(command: rm)"}}, nil); err != nil {
		t.Fatal(err)
	}
	if end := h.ended("a", out.Cursor); end.Status != "failed" || !strings.Contains(end.Reason, "would also let through") {
		t.Errorf("the turn did not end with that reason: %+v", end)
	}
}
