package red

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/client"
	"tandem/internal/provider/scripted"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// agents are the columns of their table: real programs, as root and as another user, each with the call by which its model runs a command.
var agents = []agent{
	{"Claude Code, root", "claude", throughClaude, 0},
	{"Codex, root", "codex", throughCodex, 0},
	{"OpenCode, root", "opencode", throughOpenCode, 0},
	{"Claude Code, another user", "claude", throughClaude, another},
	{"Codex, another user", "codex", throughCodex, another},
	{"OpenCode, another user", "opencode", throughOpenCode, another},
}

type agent struct {
	title, name, call string
	uid               int
}

const (
	throughClaude   = `[[tool Bash {"command":%s,"description":"look around","timeout":110000}]]`
	throughOpenCode = `[[tool bash {"command":%s,"description":"look around","timeout":110000}]]`
	throughCodex    = `[[tool exec_command {"cmd":%s,"sandbox_permissions":"require_escalated",` +
		`"justification":"look around","yield_time_ms":30000}]]`
)

// What a child of TestAgents is told: which program, and where its answer goes.
const (
	agentName = "TANDEM_RED_AGENT"
	agentSays = "TANDEM_RED_SAYS"
)

// TestAgents lets a command of each real program try the ways: all in one call, in a session that is then closed. The programs look up
// names of their own, so each runs in a network that has nothing but loopback.
func TestAgents(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the red cell is root")
	}
	write := os.Getenv("TANDEM_UPDATE") != ""
	found, table := map[string][]string{}, agentTable.read(t)
	for i, a := range agents {
		if !testenv.Soak() && !write && i > 0 {
			break // the others take their time to start
		}
		cmd, says := a.child(t)
		cmd.Env = append(cmd.Env, agentName+"="+fmt.Sprint(i), agentSays+"="+says)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", a.title, err, out)
		}
		var words map[string]string
		if data, err := os.ReadFile(says); err != nil || json.Unmarshal(data, &words) != nil {
			t.Fatalf("%s: %v\n%s", a.title, err, out)
		}
		for _, row := range agentTable.rows {
			found[row] = append(found[row], words[row])
			if columns := strings.Split(table[row], " | "); !write && (len(columns) <= i || !borne(columns[i], words[row])) {
				t.Errorf("%s: %s: %s, but docs/THREATS.md says %q. If this is meant: TANDEM_UPDATE=1 make soak ROOM=./test/red",
					a.title, row, words[row], table[row])
			}
		}
	}
	if write {
		agentTable.save(t, found)
	}
}

// child is a run of TestOneAgent as the column's user, and where it says what it found. Another user sees the programs, which lie in a home
// that is not his, where they are shown to him.
func (a agent) child(t *testing.T) (cmd *exec.Cmd, says string) {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "red")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	tools, self := filepath.Join(dir, "tools"), filepath.Join(dir, "red.test")
	for _, line := range [][]string{{"mkdir", tools}, {"cp", os.Args[0], self}, {"cp", testenv.Tandem(t), filepath.Join(dir, "tandem")},
		{"chmod", "755", dir, self}, {"chown", fmt.Sprint(a.uid), dir}} {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v %s", line, err, out)
		}
	}
	const line = `ip link set lo up && mount --bind "$1" "$2" && u=$3 && shift 3 && exec setpriv --reuid $u --regid $u --clear-groups "$@"`
	cmd = exec.Command("unshare", "-n", "-m", "sh", "-c", line, "sh", testenv.Tools(), tools, fmt.Sprint(a.uid), self,
		"-test.run=^TestOneAgent$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "TANDEM_TEST_TOOLS="+tools, "TANDEM_TEST_BINARY="+filepath.Join(dir, "tandem"))
	return cmd, filepath.Join(dir, "said")
}

// TestOneAgent is what a child of TestAgents runs.
func TestOneAgent(t *testing.T) {
	var which int
	if _, err := fmt.Sscan(os.Getenv(agentName), &which); err != nil {
		t.Skip("it runs in a process of TestAgents")
	}
	a := agents[which]
	c, local := enlist(t)
	tries := make([]try, len(ways))
	folder := c.inside(".red")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, w := range ways {
		tries[i] = w.run(c)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d-%s.sh", i, w.chapter)), []byte(tries[i].line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// What changes the repository's own settings is done one after the other. What takes much of a machine is given the time of a busy
	// one: a way that was cut off while it worked would count as held.
	one := "t=12; case $1 in *-exhaust.sh) t=40;; esac\ntimeout $t sh $1 > $1.out 2>&1\n"
	all := "for f in .red/*-git.sh; do sh .red/one $f; done\n" +
		"ls .red/*.sh | grep -v -e -git.sh -e all.sh | xargs -P 6 -n 1 sh .red/one\necho all of them > .red/done\n"
	for name, text := range map[string]string{"one": one, "all.sh": all} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var seat terminal.Seat
	call(t, local, "session.open", terminal.OpenIn{Name: "red", Cwd: c.inside(""), Agent: a.name}, &seat)
	eventually(t, "it is ready", func() bool { seat = live(t, local); return seat.State == terminal.Ready })
	if seat.Confined != "bwrap" {
		t.Fatalf("%s is confined by %q", a.title, seat.Confined)
	}
	c.call(t, "server.status", fields{}, nil)
	none := 0
	var out terminal.SendOut
	line, err := json.Marshal("sh .red/all.sh")
	if err != nil {
		t.Fatal(err)
	}
	call(t, local, "session.send", terminal.SendIn{Name: "red", Text: fmt.Sprintf("go "+a.call, line) + " [[say done]]", Wait: &none}, &out)
	eventually(t, "it asks, or runs", func() bool {
		var list approval.ListOut
		call(t, local, "approval.list", approval.ListIn{}, &list)
		for _, ask := range list.Asks {
			yes := approval.DecideIn{ID: ask.ID, Verdict: approval.Approve, Digest: ask.Digest, Pages: ask.PageDigests()}
			call(t, local.WithPIN(pin), "approval.decide", yes, nil)
		}
		_, err := os.Stat(filepath.Join(folder, "done"))
		return err == nil
	})
	eventually(t, "the turn ends", func() bool { return live(t, local).State == terminal.Ready })
	call(t, local, "session.close", terminal.NameIn{Name: "red"}, nil)
	words := map[string]string{}
	for i, w := range ways {
		said, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%03d-%s.sh.out", i, w.chapter)))
		if err != nil {
			t.Errorf("%s, %s was not tried: %v", w.chapter, w.name, err)
		}
		words[key(w.chapter, w.name)] = word(tries[i].worked(string(said)))
	}
	data, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv(agentSays), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// enlist starts the program for real agents: their settings point at the scripted model, and they are confined.
func enlist(t *testing.T) (*cell, *client.Client) {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "red") // Codex keeps nothing below /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	mark := filepath.Base(dir)
	c := &cell{name: "an agent", uid: os.Getuid(), home: filepath.Join(dir, "home"), bin: filepath.Join(dir, "tandem"),
		canary: "CANARY-" + mark, mark: mark, tmp: filepath.Join("/tmp", mark)}
	c.furnish(t, c.uid)
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	for path, text := range settings(model.URL()) {
		path = filepath.Join(c.home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sock := filepath.Join(dir, "tmux.sock")
	t.Cleanup(func() { testenv.EndTerminals(sock) })
	cmd := exec.Command(c.bin, "serve", "--port", "0")
	cmd.Dir = c.home
	cmd.Env = []string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color", "TANDEM_API_TOKEN=" + token,
		"TANDEM_SECRET_KEEPER=file", "ANTHROPIC_BASE_URL=" + model.URL(), "ANTHROPIC_AUTH_TOKEN=dummy", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1",
		"IS_SANDBOX=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
		"TANDEM_CLAUDE=" + testenv.Tool(t, "claude"), "TANDEM_CODEX=" + testenv.Tool(t, "codex"),
		"TANDEM_OPENCODE=" + testenv.Tool(t, "opencode"),
		"TANDEM_TMUX_SOCKET=" + sock, "TANDEM_WAIT_MS=90000", "TANDEM_CONFINE=bwrap", "TANDEM_PROBE=0"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.pid = cmd.Process.Pid
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
		cmd.Wait()                       //nolint:errcheck // that it ended is enough
	})
	local := client.Socket(filepath.Join(c.home, ".tandem", "tandem.sock"))
	if err := local.Healthy(t.Context()); err != nil {
		t.Fatal(err)
	}
	var status struct{ Listen string }
	call(t, local, "server.status", nil, &status)
	c.url = "http://" + status.Listen
	call(t, local, "pin.set", fields{"pin": pin}, nil)
	return c, local
}

func call(t *testing.T, c *client.Client, name string, in, out any) {
	t.Helper()
	if err := c.Call(t.Context(), name, in, out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// live is the one session that there is.
func live(t *testing.T, c *client.Client) terminal.Seat {
	t.Helper()
	var out terminal.SeatsOut
	call(t, c, "session.live", terminal.LiveIn{}, &out)
	if len(out.Sessions) != 1 {
		t.Fatalf("there are %d sessions", len(out.Sessions))
	}
	return out.Sessions[0]
}

// eventually waits for what happens in the background.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testenv.Eventually(t, what, 3*time.Minute, ok)
}

// settings are what the programs find in the home: all of them use the scripted model, and look for nothing else.
func settings(model string) map[string]string {
	codex := fmt.Sprintf(`model = "scripted-1"
model_provider = "scripted"
[model_providers.scripted]
name = "Scripted"
base_url = "%s/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[features]
daemon_auto_start = false
plugins = false
apps = false
remote_plugin = false
plugin_discovery_prefetch = false
`, model)
	opencode := fmt.Sprintf(`{"model":"scripted/scripted-1","small_model":"scripted/scripted-1","autoupdate":false,"share":"disabled",
"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":"%s/v1","apiKey":"dummy"},
"models":{"scripted-1":{"name":"Scripted","tool_call":true,"limit":{"context":100000,"output":8000}}}}}}`, model)
	return map[string]string{".claude.json": `{"hasCompletedOnboarding":true}`, ".codex/config.toml": codex,
		".config/opencode/opencode.json": opencode}
}
