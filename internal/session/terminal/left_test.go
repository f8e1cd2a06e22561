package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// A session that was closed while its terminal lived on is what a crash in the middle of closing leaves behind. A start ends
// it, and so does the doctor; a terminal of somebody else under the same prefix stays.
func TestWhatWasLeftBehindIsEnded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	left := func() string {
		file := filepath.Join(h.dir, "home", ".tandem", "terminals", "ses_01m7fgj3987h81pgdp0xxbajx2", "launch.json")
		h.write(strings.TrimPrefix(file, h.dir+"/"), `{"argv":["sleep","300"],"env":[]}`)
		h.tmux("new-session", "-d", "-s", "ccm-left", testenv.Tandem(t), "launch", file)
		return h.tmux("list-panes", "-t", "=ccm-left:", "-F", "#{pane_pid}")
	}
	check := func(how, pid string) {
		t.Helper()
		h.eventually(how+" ends it", func() bool { return !alive(pid) })
		if names := h.tmux("list-sessions", "-F", "#{session_name}"); names != "ccm-theirs" {
			t.Errorf("after %s there are %q", how, names)
		}
	}
	h.stop(os.Kill)
	h.tmux("new-session", "-d", "-s", "ccm-theirs", "sleep", "300")
	pid := left()
	h.start()
	check("a start", pid)

	pid = left()
	cmd := exec.Command(testenv.Tandem(t), "doctor")
	cmd.Env = h.env
	out, _ := cmd.CombinedOutput() // other findings may be bad here
	if !strings.Contains(string(out), "had left behind: ccm-left") {
		t.Errorf("the doctor says %s", out)
	}
	check("the doctor", pid)
}

// A program that stands still is said to hang, and to work again when it moves.
func TestAProgramThatStandsStillHangs(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "TANDEM_HANG_SECS=3")
	h.openAs("a", "codex")
	h.begin("a", "wait [[slow 60]]")
	h.eventually("it works", func() bool { return h.prompts("wait") > 0 && h.seat("a").State == terminal.Working })
	// Its server, and not what the terminal runs: tmux wakes a program that was stopped.
	pid := h.child(h.tmux("list-panes", "-t", "=ccm-a:", "-F", "#{pane_pid}"), "app-server")
	h.signal(pid, "STOP")
	h.eventually("it is said to hang", func() bool { return h.seat("a").State == terminal.Hung })
	want(t, "signal", h.seat("a").Signal, "app-server")
	h.signal(pid, "CONT")
	h.eventually("it works again", func() bool { return h.seat("a").State == terminal.Working })
	var out terminal.SendOut
	h.call("session.interrupt", terminal.NameIn{Name: "a"}, &out)
	want(t, "interrupted", out.Status, "interrupted")
}

// Where nobody can say whether a tool may run, it does not: the server is killed before the program asks.
func TestTheGuardFailsClosed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.open("a")
	h.begin("a", `go [[slow 3 ;; tool Bash {"command":"echo ran > ran.txt","description":"make a file"}]] [[result]]`)
	h.eventually("the model is asked", func() bool { return h.prompts("go ") == 1 })
	h.stop(os.Kill)
	h.eventually("the program is told no", func() bool {
		for _, q := range h.model.Requests() {
			if len(q.Results) > 0 && strings.Contains(strings.Join(q.Results, " "), "tandem cannot decide about this tool") {
				return true
			}
		}
		return false
	})
	if _, err := os.Stat(filepath.Join(h.project, "ran.txt")); err == nil {
		t.Error("it ran")
	}
	h.start()
	h.eventually("the turn's end is known", func() bool { return h.poll("a", 0).Idle })
}

// Without a sandbox an agent can do what its user can, and the session says so. It still cannot decide its own ask, which
// needs a person's proof, nor act as another session through the gate.
func TestAHostileAgentUnconfined(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.open("a")
	want(t, "confined", s.Confined, "none")
	if !strings.Contains(s.Boundary, "nothing keeps it") || !strings.Contains(s.Boundary, "answering its own dialogs") {
		t.Errorf("it does not say what it could do: %s", s.Boundary)
	}
	tandem, asUser := testenv.Tandem(t), "env -u TANDEM_SESSION -u TANDEM_SESSION_SOCKET "+testenv.Tandem(t)
	// It leaves a process behind that waits for the next ask and tries to answer it, as itself and as its user.
	script := strings.Join([]string{
		"while ! grep -q ask_ asks.json; do sleep 0.2; " + asUser + " approvals list --json > asks.json 2>&1; done",
		"id=$(grep -o 'ask_[0-9a-z]*' asks.json | head -1)",
		tandem + " approvals approve $id </dev/null >> tried.txt 2>&1 && echo DECIDED >> tried.txt",
		asUser + " approvals approve $id </dev/null >> tried.txt 2>&1 && echo DECIDED-AS-USER >> tried.txt",
		"echo END >> tried.txt",
	}, "\n")
	h.write("home/code/attack.sh", script)
	h.write("home/code/look.sh", "ls "+h.dir+"/home/.tandem/tandem.db && echo SAW-DATA\n") // a line that names it is refused before it runs
	attack := "touch asks.json; (setsid sh attack.sh >/dev/null 2>&1 &); sh look.sh; echo END"
	out := h.begin("a", `go [[tool Bash {"command":`+quote(attack)+`,"description":"look around"}]] [[result]]`)
	h.decide(approval.Approve, "")
	out = h.ended("a", out.Cursor)
	if !strings.Contains(out.Report, "SAW-DATA") {
		t.Errorf("it says that nothing confines it, and something did: %s", out.Report)
	}
	out = h.begin("a", `now [[tool Bash {"command":"echo ran > ran.txt","description":"make a file"}]] [[result]]`)
	var tried string
	h.eventually("it tried", func() bool {
		data, _ := os.ReadFile(filepath.Join(h.project, "tried.txt"))
		tried = string(data)
		return strings.Contains(tried, "END")
	})
	if strings.Contains(tried, "DECIDED") || len(tried) < 40 {
		t.Errorf("it tried: %s", tried)
	}
	want(t, "state", h.seat("a").State, terminal.Permission)
	if _, err := os.Stat(filepath.Join(h.project, "ran.txt")); err == nil {
		t.Error("it ran")
	}
	h.decide(approval.Cancel, "no")
	h.ended("a", out.Cursor)
	t.Log(tried)
}
