package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/session"
	"tandem/internal/session/relay"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// shell is a scripted call of OpenCode's shell.
func shell(command string) string {
	return `[[tool bash {"command":` + quote(command) + `,"description":"a command"}]]`
}

// One smoke test of a real OpenCode, which takes its time to start: confined, with a budget, woken by mail, and at last killed.
func TestOpenCode(t *testing.T) {
	if !alone(t) {
		return
	}
	dir := apartDir(t)
	h := spokenIn(t, dir, "TANDEM_CONFINE=bwrap", outfitted(t, dir), "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	h.give()
	var s terminal.Seat
	began := time.Now()
	h.call("session.open", terminal.OpenIn{Name: "a", Cwd: h.project, Agent: "opencode", Budget: session.Budget{Turns: 14}}, &s)
	// on a busy machine after open stopped waiting
	h.eventually("it is ready", func() bool { s = h.seat("a"); return s.State != terminal.Starting })
	t.Logf("%s after %s", s.State, time.Since(began))
	want(t, "state", s.State, terminal.Ready)
	want(t, "version", s.Version, "1.18.33")
	want(t, "confined", s.Confined, "bwrap")
	out := h.begin("a", "hi [[say plain words]]")
	out = h.ended("a", out.Cursor)
	t.Logf("the first turn ended after %s", time.Since(began))
	if now := h.seat("a"); now.Outcome != "ok" || out.Report != "plain words" || now.EndedBy != "event stream turn end" {
		t.Errorf("%+v, %+v\n%s", out, now, h.shown("a"))
	}
	h.eventually("the terminal shows it", func() bool { return strings.Contains(h.shown("a"), "plain words") })

	h.wears(s)
	// Everything ends, the terminals first, as when a machine goes down in order: the server sees them go. It comes back by itself with
	// its conversation, and asks as before.
	h.endTerminals()
	h.eventually("the server sees it go", func() bool { return h.seat("a").State == terminal.Crashed })
	h.stop(os.Interrupt)
	h.start()
	h.eventually("it is ready again", func() bool { return h.seat("a").State == terminal.Ready })
	if out = h.send("a", "up [[say after the reboot]]"); out.Report != "after the reboot" || !h.remembered("up [[say", "hi [[say") {
		t.Errorf("the conversation was not resumed after the reboot: %+v\n%s", out, h.shown("a"))
	}

	out = h.begin("a", "make it "+shell("echo made > made.txt")+" [[say done then]]")
	a := h.decide(approval.Approve, "")
	if !strings.Contains(string(a.Input), `echo made \u003e made.txt`) {
		t.Errorf("the ask shows %s", a.Input)
	}
	if out = h.ended("a", out.Cursor); !strings.Contains(out.Report, "done then") || h.seat("a").Outcome != "ok" {
		t.Errorf("%+v\n%s", out, h.shown("a"))
	}
	if _, err := os.Stat(filepath.Join(h.project, "made.txt")); err != nil {
		t.Error(err)
	}

	out = h.begin("a", "make it "+shell("echo no > refused.txt")+" [[result]]")
	h.decide(approval.Cancel, "not this one")
	h.ended("a", out.Cursor)
	if _, err := os.Stat(filepath.Join(h.project, "refused.txt")); err == nil {
		t.Error("it ran")
	}

	subagentsAsk(t, h, "a")
	loosenedIsStopped(t, h, "a")
	wakesOpenCode(t, h, "a")

	other := h.openAs("b", "codex")
	// What it does find is its own server, where it could answer its own dialogs. The session says so.
	own := `; perl -MIO::Socket::INET -e '` + "`cat /proc/[0-9]*/cmdline`" +
		` =~ /--port\0(\d+)/ and IO::Socket::INET->new("127.0.0.1:$1") and print "OWN-SERVER\n"'; ` +
		`env | grep -c OPENCODE_SERVER_PASSWORD | sed s/^/password-/`
	out = h.begin("a", "look "+shell(h.attack(other)+own)+" [[result]]")
	h.decide(approval.Approve, "")
	out = h.ended("a", out.Cursor)
	repelled(t, out.Report)
	if !strings.Contains(out.Report, "OWN-SERVER") || !strings.Contains(out.Report, "password-1") {
		t.Error("it does not reach its own server any more: say so in its boundary")
	}
	if !strings.Contains(s.Boundary, "can reach its own server and answer its own dialogs") {
		t.Errorf("it does not say what it could do: %s", s.Boundary)
	}

	if out = h.send("a", "/help"); out.Status != "done" || !strings.Contains(out.Report, "Help") {
		t.Errorf("%+v\n%s", out, h.shown("a"))
	}
	h.begin("a", "wait [[hang 60]]")
	h.eventually("the model is asked", func() bool { return h.prompts("wait") == 1 })
	h.call("session.interrupt", terminal.NameIn{Name: "a"}, &out)
	want(t, "interrupted", out.Status, "interrupted")
	if out = h.send("a", "more [[say too much]]"); out.Status != "failed" || !strings.Contains(out.Reason, "budget of turns") ||
		h.prompts("more") != 0 {
		t.Errorf("%+v", out)
	}
	kill(t, h.tmux("list-panes", "-t", "=ccm-a:", "-F", "#{pane_pid}"))
	h.eventually("it is reported", func() bool { return h.seat("a").State == terminal.Crashed })
	h.call("session.close", terminal.NameIn{Name: "a"}, nil)

	if !testenv.Soak() { // what follows starts it twice more
		return
	}
	var c terminal.Checked
	h.call("session.probe", terminal.ProbeIn{Agent: "opencode"}, &c)
	if c.Version != "1.18.33" || len(c.Missing) != 0 || len(c.Works) != 5 {
		t.Errorf("%+v", c)
	}

	// It works in a relay like any other.
	h.model.Script = led("Turn 2 of 24")
	var r relay.ReadOut
	h.call("relay.do", relay.ToolIn{Action: "start", Task: "climb",
		StartOptions: relay.StartOptions{Cwd: h.project, Lead: relay.Side{Agent: "codex"}, Worker: relay.Side{Agent: "opencode"}}}, &r)
	h.eventually("it parks", func() bool { h.call("relay.read", relay.ReadIn{ID: r.ID}, &r); return r.Status != relay.Running })
	if r.Status != relay.Parked || r.Step != 3 {
		t.Errorf("%+v", r)
	}
	h.call("relay.do", relay.ToolIn{Action: "stop", ID: r.ID}, nil)
}
