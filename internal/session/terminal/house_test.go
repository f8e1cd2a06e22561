package terminal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/client"
	"tandem/internal/models"
	"tandem/internal/provider/scripted"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// house is a real daemon with a home of its own, a private tmux server, the pinned Claude Code and a scripted model on
// loopback.
type house struct {
	t       *testing.T
	dir     string
	project string
	env     []string
	model   *scripted.Server
	cmd     *exec.Cmd
	c       *client.Client
	log     bytes.Buffer
}

const pin = "482915"

func newHouse(t *testing.T, extra ...string) *house {
	t.Helper()
	return houseIn(t, testenv.Dir(t), extra...)
}

func houseIn(t *testing.T, dir string, extra ...string) *house {
	t.Helper()
	h := &house{t: t, dir: dir, project: filepath.Join(dir, "home", "code"), model: &scripted.Server{}}
	if err := h.model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.model.Close() })
	h.write("home/code/a.txt", "hello from a file\n")
	h.write("home/code/CLAUDE.md", "The secret word of this project is plover.\n")
	h.write("home/.claude.json", `{"hasCompletedOnboarding":true}`)
	sock := filepath.Join(dir, "tmux.sock")
	h.env = append([]string{"HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color",
		"TMPDIR=" + os.TempDir(),
		"ANTHROPIC_BASE_URL=" + h.model.URL(), "ANTHROPIC_AUTH_TOKEN=dummy", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1", "IS_SANDBOX=1",
		"TANDEM_CLAUDE=" + testenv.Tool(t, "claude"), "TANDEM_CODEX=" + testenv.Tool(t, "codex"),
		"TANDEM_OPENCODE=" + testenv.Tool(t, "opencode"), "TANDEM_TMUX_SOCKET=" + sock, "TANDEM_WAIT_MS=90000", "TANDEM_CONFINE=none",
		"TANDEM_PROBE=0"}, extra...)
	h.start()
	t.Cleanup(func() {
		h.endTerminals()
		h.stop(os.Interrupt)
		if t.Failed() {
			t.Logf("daemon:\n%s", h.log.String())
		}
	})
	h.call("pin.set", map[string]string{"pin": pin}, nil)
	return h
}

// endTerminals ends the tmux server and the programs in it.
func (h *house) endTerminals() { testenv.EndTerminals(filepath.Join(h.dir, "tmux.sock")) }

func (h *house) write(path, text string) {
	h.t.Helper()
	path = filepath.Join(h.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) start() {
	h.t.Helper()
	h.cmd = exec.Command(testenv.Tandem(h.t), "serve", "--on-demand")
	h.cmd.Env, h.cmd.Stderr, h.cmd.Dir = h.env, &h.log, h.dir
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.c = client.Socket(filepath.Join(h.dir, "home", ".tandem", "tandem.sock"))
	if err := h.c.Healthy(h.t.Context()); err != nil {
		h.t.Fatalf("the daemon did not start: %v\n%s", err, h.log.String())
	}
}

func (h *house) stop(sig os.Signal) {
	if h.cmd != nil {
		h.cmd.Process.Signal(sig)
		h.cmd.Wait()
		h.cmd = nil
	}
}

func (h *house) call(name string, in, out any) {
	h.t.Helper()
	if err := h.c.Call(h.t.Context(), name, in, out); err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
}

func (h *house) open(name string) terminal.Seat {
	h.t.Helper()
	return h.openAs(name, "")
}

func (h *house) openAs(name, agent string) terminal.Seat {
	h.t.Helper()
	var s terminal.Seat
	h.call("session.open", terminal.OpenIn{Name: name, Cwd: h.project, Agent: agent}, &s)
	if s.State != terminal.Ready {
		h.t.Fatalf("%s is %s (%s): %s\n%s", name, s.State, s.Signal, s.Detail, h.shown(name))
	}
	return s
}

func (h *house) send(name, text string) terminal.SendOut {
	h.t.Helper()
	var out terminal.SendOut
	h.call("session.send", terminal.SendIn{Name: name, Text: text}, &out)
	return out
}

// begin sends a prompt and does not wait for its end.
func (h *house) begin(name, text string) terminal.SendOut {
	h.t.Helper()
	none := 0
	var out terminal.SendOut
	h.call("session.send", terminal.SendIn{Name: name, Text: text, Wait: &none}, &out)
	return out
}

func (h *house) poll(name string, cursor int64) terminal.SendOut {
	h.t.Helper()
	var out terminal.SendOut
	h.call("session.send", terminal.SendIn{Name: name, Cursor: &cursor}, &out)
	return out
}

// ended polls until the turn is over.
func (h *house) ended(name string, cursor int64) terminal.SendOut {
	h.t.Helper()
	var out terminal.SendOut
	h.eventually("the turn ends", func() bool { out = h.poll(name, cursor); return out.Idle })
	return out
}

func (h *house) seat(name string) terminal.Seat {
	h.t.Helper()
	var out terminal.SeatsOut
	h.call("session.live", terminal.LiveIn{}, &out)
	for _, s := range out.Sessions {
		if s.Name == name {
			return s
		}
	}
	h.t.Fatalf("there is no %s in %+v", name, out)
	return terminal.Seat{}
}

func (h *house) tmux(args ...string) string {
	h.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", filepath.Join(h.dir, "tmux.sock")}, args...)...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (h *house) shown(name string) string {
	out, _ := exec.Command("tmux", "-S", filepath.Join(h.dir, "tmux.sock"), "capture-pane", "-p", "-t", "=ccm-"+name+":").CombinedOutput()
	return strings.TrimSpace(string(out))
}

func (h *house) eventually(what string, ok func() bool) {
	h.t.Helper()
	if testenv.Within(2*time.Minute, ok) {
		return
	}
	var seats terminal.SeatsOut
	_ = h.c.Call(h.t.Context(), "session.live", terminal.LiveIn{}, &seats)
	for _, s := range seats.Sessions {
		h.t.Logf("%s is %s (%s) %s, last turn %s by %s\n%s", s.Name, s.State, s.Signal, s.Detail, s.Outcome, s.EndedBy, h.shown(s.Name))
	}
	h.t.Fatalf("never: %s", what)
}

// decide answers the one ask that waits, as a person with the PIN.
func (h *house) decide(verdict approval.Verdict, feedback string) *approval.Ask {
	h.t.Helper()
	var list approval.ListOut
	h.eventually("an ask waits", func() bool {
		h.call("approval.list", approval.ListIn{}, &list)
		return len(list.Asks) == 1
	})
	person, a := h.c.WithPIN(pin), &approval.Ask{}
	if err := person.Call(h.t.Context(), "approval.get", approval.IDIn{ID: list.Asks[0].ID}, a); err != nil { // a list shows less
		h.t.Fatalf("look: %v", err)
	}
	if err := person.Call(h.t.Context(), "approval.decide",
		approval.DecideIn{ID: a.ID, Verdict: verdict, Feedback: feedback, Digest: a.Digest, Pages: a.PageDigests()}, nil); err != nil {
		h.t.Fatalf("decide: %v", err)
	}
	return a
}

// addModel makes the scripted model a provider, as a person with the PIN: what models are told goes to its address.
func (h *house) addModel() {
	h.t.Helper()
	in := models.ProviderAddIn{ID: "mine", Base: h.model.URL(), Wire: "anthropic", Keyless: true}
	if err := h.c.WithPIN(pin).Call(h.t.Context(), "provider.add", in, nil); err != nil {
		h.t.Fatalf("provider.add: %v", err)
	}
}

// prompts are the prompts that the model got, one for each turn.
func (h *house) prompts(text string) int {
	n := 0
	for _, q := range h.model.Requests() {
		if q.Call == 0 && strings.Contains(q.Prompt, text) && len(q.Tools) > 0 {
			n++
		}
	}
	return n
}

// replied reports whether the model has answered a prompt.
func (h *house) replied(text string) bool {
	return slices.ContainsFunc(h.model.Requests(), func(q scripted.Request) bool {
		return q.Call == 0 && q.Outcome == "done" && strings.Contains(q.Prompt, text) && len(q.Tools) > 0
	})
}

// answered waits until the model has answered a prompt, which needs no server.
func (h *house) answered(text string) {
	h.t.Helper()
	testenv.Eventually(h.t, "the answer to "+text, 2*time.Minute, func() bool { return h.replied(text) })
}

// byHand types a prompt as a person does, and waits until the server sees that the program works on it, or until it has: a turn may be over
// between two looks.
func (h *house) byHand(name, text string) {
	h.t.Helper()
	h.enters(name, text, func() bool { return h.seat(name).State == terminal.Working || h.replied(text) })
}

// enters types a line until something comes of it. Enter right behind typed words is taken for a part of something pasted, so it is pressed
// again when nothing does.
func (h *house) enters(name, text string, done func() bool) {
	h.t.Helper()
	h.tmux("send-keys", "-l", "-t", "=ccm-"+name+":", text+" ")
	h.eventually("the words stand there", func() bool { return strings.Contains(h.shown(name), text) })
	var pressed time.Time
	h.eventually("something comes of what was typed", func() bool {
		if done() {
			return true
		}
		if time.Since(pressed) > time.Second {
			h.tmux("send-keys", "-t", "=ccm-"+name+":", "Enter")
			pressed = time.Now()
		}
		return false
	})
}

// press answers a dialog with a key until it is gone: programs pass over keys that come while they still draw it.
func (h *house) press(name, key, dialog string) {
	h.t.Helper()
	var pressed time.Time
	h.eventually("the dialog goes", func() bool {
		if !strings.Contains(h.shown(name), dialog) {
			return true
		}
		if time.Since(pressed) > 2*time.Second {
			h.tmux("send-keys", "-t", "=ccm-"+name+":", key)
			pressed = time.Now()
		}
		return false
	})
}

// want compares as text.
func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// quote writes a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// tandem runs a command in a folder of this house.
func (h *house) tandem(dir string, args ...string) string {
	h.t.Helper()
	out, err := h.command(dir, args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("tandem %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (h *house) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(testenv.Tandem(h.t), args...)
	cmd.Dir, cmd.Env = dir, h.env
	return cmd
}
