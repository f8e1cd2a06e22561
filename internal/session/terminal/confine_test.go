package terminal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// signal sends a process a signal by its name.
func (h *house) signal(pid, name string) {
	h.t.Helper()
	if out, err := exec.Command("kill", "-"+name, pid).CombinedOutput(); err != nil {
		h.t.Fatalf("kill -%s %s: %v %s", name, pid, err, out)
	}
}

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

// attack is what an agent does that was talked into attacking the house: it looks for the data folder, also through the
// processes it sees, for other sessions' sockets, the tmux server and every socket there is, and tries to answer an ask.
// What succeeds prints a word in capitals.
func (h *house) attack(other terminal.Seat) string {
	h.t.Helper()
	data, tmux, socket, tandem := filepath.Join(h.dir, "home", ".tandem"), "tmux -S "+filepath.Join(h.dir, "tmux.sock"),
		h.socketOf(other.Name), testenv.Tandem(h.t)
	// In a file: a line that names such places is refused before it runs, and this is about what keeps one that is not.
	h.write("home/code/attack.sh", strings.Join([]string{
		"ls " + data + "/tandem.db " + data + "/tandem.sock && echo SAW-DATA",
		"ls " + data + "/sessions | wc -l | sed s/^/sessions-/",
		"for p in /proc/[0-9]*; do ls $p/root" + data + "/tandem.db && echo SAW-DATA-THROUGH-PROC; done",
		fmt.Sprintf("kill -0 %d && echo REACHED-THE-SERVER", h.cmd.Process.Pid),
		tmux + " send-keys -t =ccm-" + other.Name + ": x && echo TYPED-ELSEWHERE",
		tandem + " approvals approve ask_01m7fgj3987h81pgdp0xxbajx2 </dev/null && echo DECIDED",
		tandem + " session send " + other.Name + " hello && echo DROVE-ANOTHER",
		tandem + " session close " + other.Name + " && echo CLOSED-ANOTHER",
		tandem + " session update $TANDEM_SESSION --title mine && echo CHANGED-ITSELF",
		tandem + " down </dev/null && echo STOPPED",
		"ls " + socket + " && echo SAW-SOCKET; TANDEM_SESSION=" + other.Session + " TANDEM_SESSION_SOCKET=" + socket + " " + tandem +
			" session list && echo AS-ANOTHER",
		`find / -type s 2>/dev/null | while read s; do [ "$s" != "$TANDEM_SESSION_SOCKET" ] && perl -MIO::Socket::UNIX -e 'exit ` +
			`!IO::Socket::UNIX->new(Peer => $ARGV[0])' "$s" && echo "CONNECTED-$s"; done`,
		"echo made > made.txt; echo END",
	}, "\n"))
	return "sh attack.sh"
}

var successes = []string{"SAW-", "REACHED-", "TYPED-", "DECIDED", "DROVE-", "CLOSED-", "CHANGED-", "STOPPED", "AS-ANOTHER", "CONNECTED-"}

// repelled says that an attack got nowhere.
func repelled(t *testing.T, report string) {
	t.Helper()
	for _, bad := range successes {
		if strings.Contains(report, bad) {
			t.Errorf("%s: %s", bad, report)
		}
	}
	for _, good := range []string{"END", "sessions-1"} {
		if !strings.Contains(report, good) {
			t.Errorf("no %s: %s", good, report)
		}
	}
	t.Log(report)
}

// An agent that attacks the house finds nothing of it, confined; and two confined programs do not mistake each other.
func TestAHostileAgentIsConfined(t *testing.T) {
	t.Parallel()
	dir := testenv.Dir(t)
	h := houseIn(t, dir, "TANDEM_CONFINE=bwrap", "TANDEM_HANG_SECS=3", outfitted(t, dir))
	h.give()
	s := h.open("a")
	want(t, "confined", s.Confined, "bwrap")
	h.wears(s)
	other := h.open("b")
	out := h.begin("a", `go [[tool Bash {"command":`+quote(h.attack(other))+`,"description":"look around"}]] [[result]]`)
	h.decide(approval.Approve, "")
	repelled(t, h.ended("a", out.Cursor).Report)
	var list approval.ListOut
	h.call("approval.list", approval.ListIn{}, &list)
	want(t, "asks that wait", len(list.Asks), 0)
	want(t, "state of the other", h.seat("b").State, terminal.Ready)

	// A program that stands still in its turn is said to hang, and to work again when it moves. tmux wakes what it started itself
	// when that is stopped, so only a confined one, which is a child of its sandbox, can be.
	h.begin("b", "wait [[slow 60]]")
	h.eventually("it works", func() bool { return h.prompts("wait") > 0 && h.seat("b").State == terminal.Working })
	pane := h.tmux("list-panes", "-t", "=ccm-b:", "-F", "#{pane_pid}")
	pid := h.child(h.child(pane, "bwrap"), "--settings")
	h.signal(pid, "STOP")
	h.eventually("it is said to hang", func() bool { return h.seat("b").State == terminal.Hung })
	want(t, "signal", h.seat("b").Signal, "title")
	h.signal(pid, "CONT")
	h.eventually("it works again", func() bool { return h.seat("b").State == terminal.Working })
	var end terminal.SendOut
	h.call("session.interrupt", terminal.NameIn{Name: "b"}, &end)
	want(t, "interrupted", end.Status, "interrupted")
}
