package proof

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tandem/internal/provider/scripted"
	"tandem/internal/testenv"
)

const agentsInside = "TANDEM_TEST_AGENTS_INSIDE"

// Two real Claude Codes and a real Codex work in one space through .mcp.json,
// told what to do by a scripted model on loopback: create, join by code, plan
// with dependencies, a race for one task, a message that arrives in the other's
// transcript with its id, a variable, a shared file, a finding, leaving.
func TestRealAgentsShareASpace(t *testing.T) {
	if testing.Short() {
		t.Skip("real programs are not part of the short run")
	}
	if os.Getenv(agentsInside) == "" { // agent programs look names up; they get a network that has loopback alone
		line := append(unshare(t, "-n"), "sh", "-c", `ip link set lo up && exec "$0" "$@"`, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = append(os.Environ(), agentsInside+"=1", "TANDEM_TEST_BINARY="+testenv.Tandem(t))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	w := newWorkshop(t, model.URL())
	ann, bob := w.claude("ann"), w.claude("bob")

	created := ann.use("intandem_create", `{"name":"real-work"}`)
	code := codeIn(t, created)
	bob.use("intandem_join", fmt.Sprintf(`{"code":%q}`, code))
	ann.use("intandem_rename", `{"name":"ann"}`)
	bob.use("intandem_rename", `{"name":"bob"}`)
	plan := ann.use("intandem_plan", `{"tasks":[{"title":"fix the login","priority":"critical","ref":"login"},{"title":"ship it","depends_on":["login"]}]}`)
	ids := regexp.MustCompile(`T-[0-9a-f]{6}`).FindAllString(plan, -1)
	if len(ids) < 2 {
		t.Fatalf("plan: %s", plan)
	}
	login := ids[0]

	// both reach for the same task at once: one gets it, the other is told who
	got := make(chan string, 2)
	for _, a := range []*agent{ann, bob} {
		go func() { got <- a.use("intandem_claim_task", fmt.Sprintf(`{"task_id":%q}`, login)) }()
	}
	first, second := <-got, <-got
	won := strings.Count(first+second, "Claimed task")
	if lost := strings.Count(first+second, "is held by"); won != 1 || lost < 1 {
		t.Errorf("the race for %s: %s\n%s", login, first, second)
	}
	t.Logf("the race for %s:\n%.300s\n%.300s", login, first, second)

	sent := ann.use("intandem_send", `{"type":"question","message":"which port is it?","to":"bob"}`)
	msg := regexp.MustCompile(`m_[0-9a-z]{26}`).FindString(sent)
	if box := bob.use("intandem_inbox", `{}`); msg == "" || !strings.Contains(box, msg) || !strings.Contains(box, "which port is it?") {
		t.Errorf("bob's inbox lacks %q: %s", msg, box)
	}
	for end := time.Now().Add(10 * time.Second); !w.transcriptHas("bob", msg); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) { // the program writes its transcript a moment after it answered
			t.Fatalf("message %q is not in bob's transcript", msg)
		}
	}
	if r := ann.use("intandem_receipt", fmt.Sprintf(`{"id":%q}`, msg)); !strings.Contains(r, "bob: read") && !strings.Contains(r, `"bob":"read"`) {
		t.Errorf("receipt: %s", r)
	}
	bob.use("intandem_set_var", `{"key":"port","value":"8443"}`)
	if v := ann.use("intandem_get_var", `{"key":"port"}`); !strings.Contains(v, "8443") {
		t.Errorf("variable: %s", v)
	}
	if s := bob.use("intandem_share", `{"file":"server.go","message":"here"}`); !strings.Contains(s, "Shared server.go:1-") {
		t.Errorf("share: %s", s)
	}
	if box := ann.use("intandem_inbox", `{}`); !strings.Contains(box, "func listen") {
		t.Errorf("ann's inbox: %s", box)
	}

	// a third agent of another make joins, looks at the board and reports
	next := ann.use("intandem_invite", `{}`)
	code = codeIn(t, next)
	out := w.codex(fmt.Sprintf(`[[tool mcp__intandem/intandem_join {"code":%q}]] [[tool mcp__intandem/intandem_board {}]] [[tool mcp__intandem/intandem_finding {"service":"auth","severity":"high","summary":"token in the log"}]] [[say joined]]`, code))
	var results string
	for _, q := range model.Requests() {
		if q.Wire == scripted.Responses {
			results += strings.Join(q.Results, "\n")
		}
	}
	for _, want := range []string{`Connected to`, "fix the login", "finding for auth"} {
		if !strings.Contains(results, want) {
			t.Errorf("codex never saw %q:\n%s\n%s", want, results, out)
		}
	}
	if f := ann.use("intandem_findings", `{}`); !strings.Contains(f, "token in the log") {
		t.Errorf("findings: %s", f)
	}
	if bye := bob.use("intandem_leave", `{}`); !strings.Contains(bye, "Session Summary") {
		t.Errorf("leave: %s", bye)
	}
	for _, secret := range []string{"which port is it", "8443", "func listen", "fix the login", "token in the log"} {
		if found := w.onDisk(secret); found != "" {
			t.Errorf("%q is in the clear in %s", secret, found)
		}
	}
}

// codeIn finds the invite code in what an agent was told.
func codeIn(t *testing.T, text string) string {
	t.Helper()
	m := regexp.MustCompile(`"code": ?"([A-HJ-NP-Z2-9]{6})"|(?m)^ {2}([A-HJ-NP-Z2-9]{6})$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("there is no code in %q", text)
	}
	return m[1] + m[2]
}

// workshop is a home with tandem, and projects with agents in them.
type workshop struct {
	t    *testing.T
	dir  string
	env  []string
	url  string
	home string
}

func newWorkshop(t *testing.T, url string) *workshop {
	t.Helper()
	// Codex refuses to keep its helpers under /tmp.
	dir, err := os.MkdirTemp("/var/tmp", "tandem-space-")
	if err != nil {
		t.Fatal(err)
	}
	w := &workshop{t: t, dir: dir, url: url, home: filepath.Join(dir, "home")}
	bin := filepath.Join(dir, "bin")
	for _, d := range []string{w.home, bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(testenv.Tandem(t), filepath.Join(bin, "tandem")); err != nil {
		t.Fatal(err)
	}
	w.env = []string{"HOME=" + w.home, "PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8", "TMPDIR=" + dir,
		"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_AUTH_TOKEN=dummy", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1"}
	t.Cleanup(func() {
		w.run(w.home, "tandem", "down")
		os.RemoveAll(dir)
	})
	return w
}

func (w *workshop) run(dir string, line ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), line[0], line[1:]...)
	if line[0] == "tandem" {
		cmd = exec.Command(filepath.Join(w.dir, "bin", "tandem"), line[1:]...)
	}
	cmd.Dir, cmd.Env = dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Errorf("%s: %v\n%s", strings.Join(line, " "), err, out)
	}
	return string(out)
}

func (w *workshop) project(name string) string {
	w.t.Helper()
	dir := filepath.Join(w.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "server.go"), []byte("package main\n\nfunc listen() {}\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.run(dir, "tandem", "space", "init")
	return dir
}

// agent is a Claude Code that is kept running, one prompt after the other.
type agent struct {
	w     *workshop
	in    io.Writer
	lines *bufio.Scanner
	errs  *bytes.Buffer
}

func (w *workshop) claude(name string) *agent {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(testenv.NodeModules(w.t), "@anthropic-ai/claude-code/bin/claude.exe"), "-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
		"--mcp-config", ".mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__intandem")
	cmd.Dir, cmd.Env = w.project(name), w.env
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	a := &agent{w: w, in: in, lines: bufio.NewScanner(out), errs: new(bytes.Buffer)}
	a.lines.Buffer(make([]byte, 64<<10), 16<<20)
	cmd.Stderr = a.errs
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		in.Close()
		ended := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		ended.Stop()
	})
	// On a busy machine the program takes its first prompt before its MCP
	// servers are connected.
	for range 20 {
		if !strings.Contains(a.use("intandem_whoami", `{}`), "No such tool available") {
			return a
		}
		time.Sleep(500 * time.Millisecond)
	}
	w.t.Fatal("the agent never got the space's tools")
	return nil
}

// use has the agent call one tool of the space and returns what it was told.
func (a *agent) use(tool, args string) string {
	prompt := fmt.Sprintf("[[tool mcp__intandem__%s %s]] [[result]]", tool, args)
	line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": prompt}})
	if err != nil {
		a.w.t.Error(err)
		return ""
	}
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		a.w.t.Errorf("%s: %v\n%s", tool, err, a.errs)
		return ""
	}
	for a.lines.Scan() {
		var e struct {
			Type   string `json:"type"`
			Result string `json:"result"`
		}
		if json.Unmarshal(a.lines.Bytes(), &e) == nil && e.Type == "result" {
			return strings.ReplaceAll(e.Result, `\n`, "\n")
		}
	}
	a.w.t.Errorf("%s: the agent ended\n%s", tool, a.errs)
	return ""
}

// transcriptHas looks into what the agent program itself recorded.
func (w *workshop) transcriptHas(project, text string) bool {
	found := false
	_ = filepath.WalkDir(filepath.Join(w.home, ".claude", "projects"), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(path, "-"+project) {
			data, err := os.ReadFile(path)
			found = found || err == nil && bytes.Contains(data, []byte(text))
		}
		return nil
	})
	return found
}

// onDisk finds a text in tandem's own files.
func (w *workshop) onDisk(text string) (where string) {
	_ = filepath.WalkDir(filepath.Join(w.home, ".tandem"), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(text)) {
				where = path
			}
		}
		return nil
	})
	return where
}

func (w *workshop) codex(prompt string) string {
	w.t.Helper()
	dir := w.project("codex")
	config := fmt.Sprintf(`model = "scripted-1"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "Scripted"
base_url = "%s/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[projects.%q]
trust_level = "trusted"
[mcp_servers.intandem]
command = %q
args = ["mcp"]
env = { HOME = %q }
[features]
daemon_auto_start = false
plugins = false
apps = false
remote_plugin = false
plugin_discovery_prefetch = false
`, w.url, dir, filepath.Join(w.dir, "bin", "tandem"), w.home)
	if err := os.MkdirAll(filepath.Join(w.home, ".codex"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, ".codex", "config.toml"), []byte(config), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return w.run(dir, filepath.Join(testenv.NodeModules(w.t), "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"), "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt)
}
