package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/policy/book"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// What holds for Claude Code (TestADeniedTreeIsHiddenFromARealAgent, TestALaterDenialEndsTheTurn) holds for those that are spoken to.
func TestDenialsBindCodex(t *testing.T) { denialsBind(t, "codex") }

func TestDenialsBindOpenCode(t *testing.T) {
	if !testenv.Soak() {
		t.Skip("it starts twice, which takes it minutes on a busy machine: make soak ROOM=./internal/session/terminal")
	}
	denialsBind(t, "opencode")
}

// denialsBind denies one tree before a program is opened and one while its command reads it: neither is there for the program, and its turn
// ends with that reason and goes on in a box without what was denied.
func denialsBind(t *testing.T, agent string) {
	if !alone(t) {
		return
	}
	h := spokenIn(t, apartDir(t), "TANDEM_CONFINE=bwrap", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	for _, name := range []string{"priv/p.txt", "later/p.txt", "open.txt"} {
		h.write(filepath.Join("home/code", name), "word of "+name+"\n")
	}
	grant := func(in book.GrantIn) {
		t.Helper()
		in.Principal = "session:*"
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", in, nil); err != nil {
			t.Fatal(err)
		}
	}
	deny := func(tree string) {
		t.Helper()
		grant(book.GrantIn{Effect: "deny", Resource: "folder:" + filepath.Join(h.project, tree), Permissions: []string{"view"}})
	}
	grant(book.GrantIn{Resource: "tool:/", Permissions: []string{"execute"}})
	deny("priv")
	var s terminal.Seat
	h.call("session.open", terminal.OpenIn{Name: "a", Cwd: h.project, Agent: agent}, &s)
	h.eventually("it is ready", func() bool { s = h.seat("a"); return s.State == terminal.Ready })
	if !strings.Contains(s.Boundary, "hidden from it: ") || !strings.Contains(s.Boundary, "priv") {
		t.Errorf("it does not say what is hidden: %s", s.Boundary)
	}
	const look = "cat open.txt priv/p.txt later/p.txt; grep -r 'word of pri[v]' . && echo FOUND; echo END"
	got := h.ended("a", h.begin("a", "remember heron "+ownShell(agent, look)+" [[result]]").Cursor).Report
	if !strings.Contains(got, "word of open.txt") || !strings.Contains(got, "word of later") || !strings.Contains(got, "END") ||
		strings.Contains(got, "word of priv/p") || strings.Contains(got, "FOUND") {
		t.Fatalf("%s", got)
	}

	began := h.begin("a", "wait "+ownShell(agent, "while sleep 0.2; do cat later/p.txt >> copied; done")+" [[result]]")
	copied := filepath.Join(h.project, "copied")
	there := func() bool { _, err := os.Stat(copied); return err == nil }
	h.eventually("its command runs", there)
	deny("later")
	out := h.ended("a", began.Cursor)
	if out.Status != "failed" || !strings.Contains(out.Reason, "later was denied while the program ran") {
		t.Fatalf("the turn did not end with that reason: %+v", out)
	}
	if err := os.Remove(copied); err != nil {
		t.Fatal(err)
	}
	h.eventually("it is there again", func() bool {
		s = h.seat("a")
		return s.State == terminal.Ready && strings.Contains(s.Boundary, "later")
	})
	got = h.ended("a", h.begin("a", "look "+ownShell(agent, look)+" [[result]]").Cursor).Report
	if !strings.Contains(got, "word of open.txt") || strings.Contains(got, "word of later") || strings.Contains(got, "word of priv/p") {
		t.Errorf("in its new box: %s", got)
	}
	if there() {
		t.Error("its command ran on")
	}
	if all := h.model.Requests(); !strings.Contains(string(all[len(all)-1].Body), "heron") {
		t.Error("it is another conversation")
	}
}
