package terminal_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/approval"
	inbox "tandem/internal/inbox/wire"
	"tandem/internal/journal"
	"tandem/internal/policy/book"
	"tandem/internal/session/terminal"
)

// A real agent was open when a person denied a folder below its own: nothing hides it from a program without a box, and Claude Code runs
// cat without asking anybody. Now the command waits for a person; of a folder that is denied whole it runs none, and the journal has the
// refusal.
func TestALaterDenialBindsAnOpenAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=none")
	secret := filepath.Join(h.project, "later", "p.txt")
	if err := os.MkdirAll(filepath.Dir(secret), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("word of later\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	deny := func(folder string) {
		t.Helper()
		in := book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "folder:" + folder, Permissions: []string{"view"}}
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", in, nil); err != nil {
			t.Fatal(err)
		}
	}
	const look = `look [[tool Bash {"command":"cat later/p.txt","description":"look"}]] [[result]]`
	h.open("a")
	if got := h.send("a", look).Report; !strings.Contains(got, "word of later") {
		t.Fatalf("before it was denied: %s", got)
	}
	deny(filepath.Join(h.project, "later"))
	if got := h.send("a", look).Report; strings.Contains(got, "word of later") || !strings.Contains(got, "for you") {
		t.Errorf("by its name: %s", got)
	}
	began := h.begin("a", `search [[tool Bash {"command":"grep -r word .","description":"search"}]] [[result]]`)
	h.eventually("a person is asked", func() bool {
		var list approval.ListOut
		h.call("approval.list", approval.ListIn{}, &list)
		return len(list.Asks) == 1
	})
	h.decide(approval.Cancel, "")
	if got := h.ended("a", began.Cursor).Report; strings.Contains(got, "word of later") {
		t.Errorf("it was read all the same: %s", got)
	}
	deny(h.project)
	if got := h.send("a", look).Report; strings.Contains(got, "word of later") || !strings.Contains(got, "for you") {
		t.Errorf("of a folder that is denied: %s", got)
	}
	var log journal.LogOut
	h.call("audit.log", journal.LogIn{Type: "session.tool", Phase: journal.Denied}, &log)
	if len(log.Entries) == 0 {
		t.Error("the refusal is not in the journal")
	}
}

// The box of an agent that was open when something was denied showed it for as long as the program ran, and so did the commands that it
// had begun. Now its program ends with them, the turn says why, and its conversation goes on in a box without what was denied.
func TestALaterDenialEndsTheTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	h.write("home/code/later/p.txt", "word of later\n")
	if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add",
		book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}}, nil); err != nil {
		t.Fatal(err)
	}
	h.open("a")
	h.send("a", "remember the word heron")
	began := h.begin("a",
		`wait [[tool Bash {"command":"while sleep 0.2; do cat later/p.txt >> copied; done","description":"wait"}]] [[result]]`)
	there := func(name string) bool { _, err := os.Stat(filepath.Join(h.project, name)); return err == nil }
	h.eventually("its command runs", func() bool { return there("copied") })
	deny := func(path string) {
		t.Helper()
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny",
			Resource: "folder:" + filepath.Join(h.project, path), Permissions: []string{"view"}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	deny("later")
	out := h.ended("a", began.Cursor)
	if out.Status != "failed" || !strings.Contains(out.Reason, "later was denied while the program ran") {
		t.Fatalf("the turn did not end with that reason: %+v", out)
	}
	if err := os.Remove(filepath.Join(h.project, "copied")); err != nil {
		t.Fatal(err)
	}
	var rows inbox.Out
	h.call("inbox.list", inbox.In{}, &rows)
	if !slices.ContainsFunc(rows.Rows, func(r inbox.Row) bool { return r.Kind == inbox.Ended && r.Name == "a" }) {
		t.Errorf("the inbox does not say so: %+v", rows.Rows)
	}
	h.eventually("it is there again", func() bool { return h.seat("a").State == terminal.Ready })
	pid := h.tmux("list-panes", "-t", "=ccm-a", "-F", "#{pane_pid}")
	if !strings.Contains(h.seat("a").Boundary, "later") {
		t.Errorf("it does not say what is hidden: %s", h.seat("a").Boundary)
	}
	got := h.send("a", `look [[tool Bash {"command":"ls later; cat later/p.txt; ls copied; echo END",`+
		`"description":"look"}]] [[result]]`).Report
	if strings.Contains(got, "word of later") || strings.Contains(got, "p.txt\n") {
		t.Errorf("its new box shows it: %s", got)
	}
	if there("copied") {
		t.Error("its command ran on")
	}
	if all := h.model.Requests(); !strings.Contains(string(all[len(all)-1].Body), "heron") {
		t.Error("it is another conversation")
	}
	// After a start of the server its box is still held against the policy.
	h.stop(os.Interrupt)
	h.start()
	h.write("home/code/other/p.txt", "word of other\n")
	h.send("a", "are you there?")
	if now := h.tmux("list-panes", "-t", "=ccm-a", "-F", "#{pane_pid}"); now != pid {
		t.Errorf("the start of the server ended it: %s, %s", pid, now)
	}
	deny("other")
	h.eventually("it is in a new box", func() bool {
		s := h.seat("a")
		return s.State == terminal.Ready && strings.Contains(s.Boundary, "other")
	})
	pid = h.tmux("list-panes", "-t", "=ccm-a", "-F", "#{pane_pid}")
	// What it does not see is nothing to it: it runs on.
	deny("../elsewhere")
	h.send("a", "still there?")
	if now := h.tmux("list-panes", "-t", "=ccm-a", "-F", "#{pane_pid}"); now != pid {
		t.Errorf("a denial of something else ended it: %s, %s", pid, now)
	}
}

// A denied host or network did not hold for an agent at work: its box has to have the network, for its model, and what it had begun went
// on. Now the program ends with what it runs, and its turn says why; in the new box the denial holds at every call: one that names the
// host is refused, and where the network is denied each command asks.
func TestANetworkDenialEndsTheTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add",
		book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}}, nil); err != nil {
		t.Fatal(err)
	}
	deny := func(at string, patterns ...string) {
		t.Helper()
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: at,
			Permissions: []string{"execute"}, Tools: patterns}, nil); err != nil {
			t.Fatal(err)
		}
	}
	h.open("a")
	began := h.begin("a", `remember heron [[tool Bash {"command":"while sleep 0.1; do date >> days; done","description":"wait"}]] [[result]]`)
	there := func(name string) bool { _, err := os.Stat(filepath.Join(h.project, name)); return err == nil }
	h.eventually("its command runs", func() bool { return there("days") })
	deny("tool:/", "bash(host: b.example)")
	out := h.ended("a", began.Cursor)
	if out.Status != "failed" || !strings.Contains(out.Reason, "host b.example was denied while the program ran") {
		t.Fatalf("the turn did not end with that reason: %+v", out)
	}
	if err := os.Remove(filepath.Join(h.project, "days")); err != nil {
		t.Fatal(err)
	}
	h.eventually("it is there again", func() bool { return h.seat("a").State == terminal.Ready })
	if b := h.seat("a").Boundary; !strings.Contains(b, "within reach of what it runs: host b.example") {
		t.Errorf("it does not say so: %s", b)
	}
	got := h.send("a", `look [[tool Bash {"command":"curl http://b.example/","description":"look"}]] [[result]]`).Report
	if !strings.Contains(got, "denies it") {
		t.Errorf("a line that names it: %s", got)
	}
	if all := h.model.Requests(); !strings.Contains(string(all[len(all)-1].Body), "heron") {
		t.Error("it is another conversation")
	}
	if there("days") {
		t.Error("its command ran on")
	}
	// After a start of the server its box is still held against the policy.
	h.stop(os.Interrupt)
	h.start()
	deny("tool:/network")
	h.eventually("it is in a new box", func() bool {
		s := h.seat("a")
		return s.State == terminal.Ready && strings.Contains(s.Boundary, "the network")
	})
	began = h.begin("a", `look [[tool Bash {"command":"echo over","description":"look"}]] [[result]]`)
	if ask := h.decide(approval.Cancel, ""); !strings.Contains(ask.Reason, "has the network") {
		t.Errorf("the ask does not say why: %s", ask.Reason)
	}
	h.ended("a", began.Cursor)
}
