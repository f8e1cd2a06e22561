package proof

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// Two real Claude Codes and a real Codex, each on a machine with a daemon of its
// own, work in one space through .mcp.json, told what to do by a scripted model
// on loopback: create, join by code, plan with dependencies, a race for one task,
// a message that arrives in the other's transcript with its id, a variable, a
// shared file, a lease, findings, leaving. The space is hosted by a tandem server
// that is no member. Every byte that reaches or leaves it behind its TLS, its
// disk with journal and logs, and its memory hold none of what was said.
func TestRealAgentsShareASpace(t *testing.T) {
	if testing.Short() {
		t.Skip("real programs are not part of the short run")
	}
	if os.Getenv(agentsInside) == "" { // agent programs look names up; they get a network that has this machine alone
		line := append(unshare(t, "-n"), "sh", "-ec", `ip link set lo up
ip addr add 10.99.2.1/32 dev lo
ip addr add 10.99.2.2/32 dev lo
exec "$0" "$@"`, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = append(os.Environ(), agentsInside+"=1", "TANDEM_TEST_BINARY="+testenv.Tandem(t), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for l := range strings.Lines(string(out)) {
			if _, said, ok := strings.Cut(l, "_test.go:"); ok {
				t.Log(strings.TrimSpace(said))
			}
		}
		return
	}
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	host := newServer(t)
	host.url = "http://10.99.2.1:4431" // its address; it speaks TLS there
	host.args = []string{"--hosts", "10.99.2.2"}
	host.health = func() bool { _, err := host.run("status"); return err == nil }
	host.start()
	wire := testenv.NewTap(t, "10.99.2.2:4431", "10.99.2.1:4431", host.data)

	w := &workshop{t: t, url: model.URL(), servers: "lighthouse-grafana"}
	w.begin()
	annDesk, bobDesk, cyDesk := w.desk("ann-orchard"), w.desk("bob-quarry"), w.desk("cy-meadow")
	// a person of the first machine joins the server once
	annDesk.tandem("space", "create", "Trial of the lighthouse", "--host", wire.At, "--token", apiToken)
	annDesk.tandem("space", "leave")
	ann, bob := annDesk.claude(), bobDesk.claude()

	// what is said from here on is looked for at the host at the end
	// With the version: the first word alone is in the environment of every such
	// program of this machine, which a daemon reads at its start to find strays.
	programs := []string{"claude-code 2.1.197", "codex-mcp-client", "harbour-model-7"}
	said := []string{"Trial of the lighthouse", "ann-orchard", "bob-quarry", "cy-meadow", "lighthouse-grafana", "look_at_the_beam"}
	words := func(s ...string) { said = append(said, s...) }
	for _, a := range []*agent{ann, bob} {
		m := regexp.MustCompile(`"username":"(\w{8,})"`).FindStringSubmatch(a.use("intandem_whoami", `{}`))
		if m == nil {
			t.Fatal("no name was made up")
		}
		words(m[1])
	}
	words("Harbour works", "AnnTheOtter", "BobTheHeron", "CyTheBadger")
	created := ann.use("intandem_create", fmt.Sprintf(`{"name":"Harbour works","host":%q}`, wire.At))
	bob.use("intandem_join", fmt.Sprintf(`{"code":%q}`, codeIn(t, created)))
	ann.use("intandem_rename", `{"name":"AnnTheOtter"}`)
	bob.use("intandem_rename", `{"name":"BobTheHeron"}`)
	words("Mend the harbour login", "cookies go overboard", "Ship the harbour")
	plan := ann.use("intandem_plan", `{"tasks":[{"title":"Mend the harbour login","description":"cookies go `+
		`overboard","priority":"critical","ref":"login"},{"title":"Ship the harbour","depends_on":["login"],"assignee":"BobTheHeron"}]}`)
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
	t.Logf("the race for %s: %.80q and %.80q", login, first, second)

	words("Which quay is it?", "a crane & a <winch>")
	sent := ann.use("intandem_send", `{"type":"question","message":"Which quay is it? a crane & a <winch>","to":"BobTheHeron"}`)
	msg := regexp.MustCompile(`m_[0-9a-z]{26}`).FindString(sent)
	if box := bob.use("intandem_inbox", `{}`); msg == "" || !strings.Contains(box, msg) || !strings.Contains(box, "Which quay is it?") {
		t.Errorf("bob's inbox lacks %q: %s", msg, box)
	}
	// The program writes its transcript a moment after it answered.
	testenv.Eventually(t, "message "+msg+" is in bob's transcript", 2*time.Minute, func() bool { return bobDesk.transcriptHas(msg) })
	if r := ann.use("intandem_receipt", fmt.Sprintf(`{"id":%q}`, msg)); !strings.Contains(r, "BobTheHeron: read") &&
		!strings.Contains(r, `"BobTheHeron":"read"`) {
		t.Errorf("receipt: %s", r)
	}
	words("quay_number", "kestrel-8443", "harbour_server.go", "func listenAtTheQuay", "look at the bollard", "internal/breakwater")
	bob.use("intandem_set_var", `{"key":"quay_number","value":"kestrel-8443"}`)
	if v := ann.use("intandem_get_var", `{"key":"quay_number"}`); !strings.Contains(v, "kestrel-8443") {
		t.Errorf("variable: %s", v)
	}
	if s := bob.use("intandem_share", `{"file":"harbour_server.go","message":"look at the bollard"}`); !strings.Contains(s,
		"Shared harbour_server.go:1-") {
		t.Errorf("share: %s", s)
	}
	if box := ann.use("intandem_inbox", `{}`); !strings.Contains(box, "func listenAtTheQuay") {
		t.Errorf("ann's inbox: %s", box)
	}
	if l := bob.use("intandem_reserve", `{"path":"internal/breakwater"}`); !strings.Contains(l, "internal/breakwater") {
		t.Errorf("lease: %s", l)
	}

	// a third agent of another make joins, looks at the board and reports
	words("tide-service", "tokens drift in the log")
	cyDesk.tandem("space", "whoami") // its daemon runs: the program waits for nobody's start
	// on a busy machine its first calls come before its servers are connected
	early := strings.Repeat("[[tool mcp__intandem/intandem_whoami {}]] ", 5)
	out := cyDesk.codex(early + fmt.Sprintf(`[[tool mcp__intandem/intandem_join {"code":%q}]] [[tool mcp__intandem/intandem_rename `+
		`{"name":"CyTheBadger"}]] [[tool mcp__intandem/intandem_board {}]] [[tool mcp__intandem/intandem_finding `+
		`{"service":"tide-service","severity":"high","summary":"tokens drift in the log"}]] [[say joined]]`,
		codeIn(t, ann.use("intandem_invite", `{}`))))
	var results string
	for _, q := range model.Requests() {
		if q.Wire == scripted.Responses {
			results += strings.Join(q.Results, "\n")
		}
	}
	for _, want := range []string{`Connected to`, "Mend the harbour login", "finding for tide-service"} {
		if !strings.Contains(results, want) {
			t.Errorf("codex never saw %q:\n%s\n%s", want, results, out)
		}
	}
	if f := ann.use("intandem_findings", `{}`); !strings.Contains(f, "tokens drift in the log") {
		t.Errorf("findings: %s", f)
	}
	peers := ann.use("intandem_peers", `{}`)
	for _, want := range []string{"CyTheBadger", "cy-meadow", "Agent: codex-mcp-client", "Agent: claude-code", "lighthouse-grafana",
		"Model: harbour-model-7", "Tools: lighthouse.look_at_the_beam"} {
		if !strings.Contains(peers, want) {
			t.Errorf("%q is not among the peers:\n%s", want, peers)
		}
	}
	words("crates on the pier")
	holder := ann
	if strings.Contains(bob.use("intandem_board", `{}`), "Mend the harbour login (BobTheHeron)") {
		holder = bob
	}
	if d := holder.use("intandem_update_task", fmt.Sprintf(`{"task_id":%q,"status":"done","result":"crates on the pier"}`,
		login)); !strings.Contains(d, "Updated task") {
		t.Errorf("done: %s", d)
	}
	if bye := bob.use("intandem_leave", `{}`); !strings.Contains(bye, "Session Summary") {
		t.Errorf("leave: %s", bye)
	}
	nothingAtTheHost(t, host, wire, append(programs, said...))
	for _, d := range []*desk{annDesk, bobDesk, cyDesk} { // what members keep is sealed too; which program called is in their own journal
		open := laidOpen(onDisk(t, filepath.Join(d.home, ".tandem")))
		for _, text := range said {
			if how := find(open, text); how != "" && !strings.HasSuffix(d.project, text) {
				t.Errorf("%q is on the disk of %s, %s", text, filepath.Base(d.project), how)
			}
		}
	}
}

// nothingAtTheHost looks for texts in all that a host has of a run.
func nothingAtTheHost(t *testing.T, host *server, wire *testenv.Tap, said []string) {
	t.Helper()
	// planted through the same doors: if these are not found, the search is blind
	const onWire, kept = "Planted upon the wire", "Planted upon the disk"
	tlsClient := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if res, err := tlsClient.Post("https://"+wire.At+"/space/knock", "application/json",
		strings.NewReader(fmt.Sprintf(`{"plate":%q}`, onWire))); err != nil {
		t.Fatal(err)
	} else {
		res.Body.Close()
	}
	host.must("resource", "put", "planted", kept)
	places := map[string][]byte{"the wire": wire.Heard(), "the disk": onDisk(t, host.home), "the log": []byte(host.log.String()),
		"the memory": inMemory(t, host.cmd.Process.Pid)}
	if !bytes.Contains(places["the wire"], []byte("/space/remote")) || !bytes.Contains(places["the disk"], []byte("space.post")) {
		t.Fatal("nothing was captured")
	}
	planted := map[string]string{"the wire": onWire, "the disk": kept, "the memory": kept}
	total := 0
	for where, data := range places {
		open := laidOpen(data)
		for _, text := range said {
			if len(text) < 8 {
				t.Errorf("%q is too short to be looked for", text)
			}
			if how := find(open, text); how != "" {
				t.Errorf("%q is at the host, on %s, %s", text, where, how)
			}
		}
		if p := planted[where]; p != "" && find(open, p) == "" {
			t.Errorf("what was planted on %s is not found", where)
		}
		total += len(data)
		t.Logf("%s: %d bytes, none of %d texts", where, len(data), len(said))
	}
	t.Logf("%d bytes at the host searched for %d texts in %d forms", total, len(said), len(forms(said[0])))
}

// codeIn finds the invite code in what an agent was told.
func codeIn(t *testing.T, text string) string {
	t.Helper()
	m := regexp.MustCompile(`"code": ?"([A-HJ-NP-Z2-9]{6}@[0-9.:]+)"|(?m)^ {2}([A-HJ-NP-Z2-9]{6}@[0-9.:]+)$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("there is no code in %q", text)
	}
	return m[1] + m[2]
}

// workshop is a folder with machines' homes in it.
type workshop struct {
	t       *testing.T
	dir     string
	url     string // of the model
	servers string // an MCP server that every project names beside ours
}

func (w *workshop) begin() {
	w.t.Helper()
	// Codex refuses to keep its helpers under /tmp.
	dir, err := os.MkdirTemp("/var/tmp", "tandem-space-")
	if err != nil {
		w.t.Fatal(err)
	}
	w.dir = dir
	w.t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(testenv.Tandem(w.t), filepath.Join(dir, "bin", "tandem")); err != nil {
		w.t.Fatal(err)
	}
}

// desk is a machine: a home with a daemon of its own, and a project in it.
type desk struct {
	*workshop
	home, project string
	env           []string
}

func (w *workshop) desk(project string) *desk {
	w.t.Helper()
	d := &desk{workshop: w, home: filepath.Join(w.dir, "home-of-"+project)}
	d.project = filepath.Join(d.home, project)
	if err := os.MkdirAll(filepath.Join(d.project, ".claude"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	d.env = []string{"HOME=" + d.home, "PATH=" + filepath.Join(w.dir, "bin") + ":/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color",
		"LANG=C.UTF-8", "TMPDIR=" + d.home,
		"ANTHROPIC_BASE_URL=" + w.url, "ANTHROPIC_AUTH_TOKEN=dummy", "ANTHROPIC_MODEL=harbour-model-7", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1", "MCP_TIMEOUT=120000"} // a busy machine is slow, not wrong
	for name, text := range map[string]string{"harbour_server.go": "package main\n\nfunc listenAtTheQuay() {}\n",
		".mcp.json":             fmt.Sprintf(`{"mcpServers":{%q:{"command":"true"}}}`, w.servers),
		".claude/settings.json": `{"permissions":{"allow":["mcp__lighthouse__look_at_the_beam"]}}`} {
		if err := os.WriteFile(filepath.Join(d.project, name), []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	d.tandem("space", "init", "--all") // leases and findings are not among the everyday tools
	w.t.Cleanup(func() { d.tandem("down") })
	return d
}

func (d *desk) tandem(args ...string) string {
	d.t.Helper()
	return d.run(exec.Command(filepath.Join(d.dir, "bin", "tandem"), args...))
}

func (d *desk) run(cmd *exec.Cmd) string {
	d.t.Helper()
	cmd.Dir, cmd.Env = d.project, d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Errorf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}

// agent is a Claude Code that is kept running, one prompt after the other.
type agent struct {
	w     *desk
	in    io.Writer
	lines *bufio.Scanner
	errs  *bytes.Buffer
}

func (w *desk) claude() *agent {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(testenv.NodeModules(w.t), "@anthropic-ai/claude-code/bin/claude.exe"), "-p", "--verbose",
		"--input-format", "stream-json", "--output-format", "stream-json",
		"--mcp-config", ".mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__intandem")
	cmd.Dir, cmd.Env = w.project, w.env
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
	testenv.Eventually(w.t, "the agent has the space's tools", time.Minute, func() bool {
		return !strings.Contains(a.use("intandem_whoami", `{}`), "No such tool available")
	})
	return a
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
func (w *desk) transcriptHas(text string) bool {
	found := false
	_ = filepath.WalkDir(filepath.Join(w.home, ".claude", "projects"), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			data, err := os.ReadFile(path)
			found = found || err == nil && bytes.Contains(data, []byte(text))
		}
		return nil
	})
	return found
}

func (w *desk) codex(prompt string) string {
	w.t.Helper()
	config := fmt.Sprintf(`model = "harbour-model-7"
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
startup_timeout_sec = 120
tool_timeout_sec = 120
[features]
daemon_auto_start = false
plugins = false
apps = false
remote_plugin = false
plugin_discovery_prefetch = false
`, w.url, w.project, filepath.Join(w.dir, "bin", "tandem"), w.home)
	if err := os.MkdirAll(filepath.Join(w.home, ".codex"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, ".codex", "config.toml"), []byte(config), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return w.run(exec.Command(filepath.Join(testenv.NodeModules(w.t), "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"),
		"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt))
}
