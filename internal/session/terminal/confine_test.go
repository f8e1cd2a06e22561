package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/testenv"
)

// socketOf is a session's own socket, from the environment of its program.
func (h *house) socketOf(name string) string {
	h.t.Helper()
	pid := h.tmux("list-panes", "-t", "=ccm-"+name+":", "-F", "#{pane_pid}")
	env, err := os.ReadFile("/proc/" + pid + "/environ")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, kv := range strings.Split(string(env), "\x00") {
		if v, ok := strings.CutPrefix(kv, "TANDEM_SESSION_SOCKET="); ok {
			return v
		}
	}
	h.t.Fatalf("%s has no socket", name)
	return ""
}

// An agent that was talked into attacking the house: it looks for the data folder, other sessions' sockets and the tmux
// server, and tries to answer its own ask. Confined, none of it is there.
func TestAHostileAgentIsConfined(t *testing.T) {
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	s := h.open("a")
	want(t, "confined", s.Confined, "bwrap")
	other := h.open("b")
	socket := h.socketOf("b")
	sock := filepath.Join(h.dir, "tmux.sock")
	tandem := testenv.Tandem(t)
	attack := strings.Join([]string{
		"ls " + h.dir + "/home/.tandem/tandem.db " + h.dir + "/home/.tandem/tandem.sock && echo SAW-DATA",
		"ls " + h.dir + "/home/.tandem/sessions | wc -l | sed s/^/SESSIONS-/",
		"tmux -S " + sock + " send-keys -t =ccm-a: Enter && echo TYPED",
		tandem + " approvals approve ask_01m7fgj3987h81pgdp0xxbajx2 </dev/null && echo DECIDED",
		tandem + " session send a hello && echo TO-ITSELF",
		tandem + " down </dev/null && echo STOPPED",
		"tmux -S " + sock + " send-keys -t =ccm-b: x && echo TYPED-ELSEWHERE",
		"ls " + socket + " && echo SAW-SOCKET; TANDEM_SESSION=" + other.Session + " TANDEM_SESSION_SOCKET=" + socket + " " + tandem + " session list && echo AS-ANOTHER",
		"echo made > made.txt; echo END",
	}, "; ")
	out := h.begin("a", `go [[tool Bash {"command":`+quote(attack)+`,"description":"look around"}]] [[result]]`)
	h.decide(approval.Approve, "")
	out = h.ended("a", out.Cursor)
	for _, bad := range []string{"SAW-DATA", "TYPED", "DECIDED", "STOPPED", "TO-ITSELF", "SAW-SOCKET", "AS-ANOTHER"} {
		if strings.Contains(out.Report, bad) {
			t.Errorf("%s: %s", bad, out.Report)
		}
	}
	for _, good := range []string{"END", "SESSIONS-1"} {
		if !strings.Contains(out.Report, good) {
			t.Errorf("no %s: %s\n%s", good, out.Report, h.shown("a"))
		}
	}
	t.Log(out.Report)
	var list approval.ListOut
	h.call("approval.list", approval.ListIn{}, &list)
	want(t, "asks that wait", len(list.Asks), 0)
}
