package scripted

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// These tests point the real agent programs at the server: what they accept is what the wires mean. Codex and OpenCode
// look up names on their own, so all of them run in a network namespace that has nothing but loopback.

const inside = "TANDEM_TEST_NETNS"

// alone runs the calling test again in a namespace of its own, and tells the first run to stop there.
func alone(t *testing.T) bool {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("network namespaces are Linux's")
	}
	if testing.Short() {
		t.Skip("real programs are not part of the short run")
	}
	if os.Getenv(inside) != "" {
		return true
	}
	c := exec.Command("unshare", "-rn", "sh", "-c", `ip link set lo up && exec "$0" "$@"`, os.Args[0], "-test.run", "^"+t.Name()+"$",
		"-test.v")
	c.Env = append(os.Environ(), inside+"=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

func tool(t *testing.T, path string) string {
	t.Helper()
	root := os.Getenv("TANDEM_TEST_TOOLS")
	if root == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		root = filepath.Join(home, ".cache", "tandem-test")
	}
	p := filepath.Join(root, "npm", "node_modules", path)
	if _, err := os.Stat(p); err != nil {
		t.Fatalf("%s is not there: run make test-tools", p)
	}
	return p
}

// home makes an empty home and a project. Codex refuses to keep its helpers under /tmp, so both live in /var/tmp.
func home(t *testing.T) (homeDir, project string) {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "tandem-agent-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	homeDir, project = filepath.Join(dir, "home"), filepath.Join(dir, "project")
	for _, d := range []string{homeDir, project} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(project, "a.txt"), "hello from a file\n")
	return homeDir, project
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run starts a program with a clean environment and returns what it printed.
func run(t *testing.T, dir string, env []string, argv ...string) string {
	t.Helper()
	return pipe(t, "", dir, env, argv...)
}

func pipe(t *testing.T, stdin, dir string, env []string, argv ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env = dir, append(env, "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "LANG=C.UTF-8")
	c.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", filepath.Base(argv[0]), err, out.String(), errs.String())
	}
	return out.String()
}

// turns plays a text turn and a tool turn, and checks what the program showed and what it sent.
func turns(t *testing.T, s *Server, call string, ask func(prompt string) string) {
	t.Helper()
	if out := ask("hi [[say plain words]]"); !strings.Contains(out, "plain words") {
		t.Errorf("text turn: %s", out)
	}
	if out := ask("hi [[tool " + call + "]] [[result]]"); !strings.Contains(out, "hello from a file") {
		t.Errorf("tool turn: %s", out)
	}
	for _, q := range s.Requests() {
		if q.Call == 1 && len(q.Results) == 1 && strings.Contains(q.Results[0], "hello from a file") {
			return
		}
	}
	t.Error("the tool's result never came back to the server")
}

func TestClaudeCode(t *testing.T) {
	if !alone(t) {
		return
	}
	s := start(t, &Server{})
	h, project := home(t)
	env := []string{"HOME=" + h, "ANTHROPIC_BASE_URL=" + s.URL(), "ANTHROPIC_AUTH_TOKEN=dummy", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1"}
	bin := tool(t, "@anthropic-ai/claude-code/bin/claude.exe")
	turns(t, s, fmt.Sprintf(`Read {"file_path":%q}`, filepath.Join(project, "a.txt")), func(p string) string {
		return run(t, project, env, bin, "-p", "--allowedTools", "Read", "--", p)
	})
}

func TestCodex(t *testing.T) {
	if !alone(t) {
		return
	}
	s := start(t, &Server{})
	h, project := home(t)
	write(t, filepath.Join(h, ".codex", "config.toml"), fmt.Sprintf(`model = "scripted-1"
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
[features]
daemon_auto_start = false
plugins = false
apps = false
remote_plugin = false
plugin_discovery_prefetch = false
`, s.URL(), project))
	bin := tool(t, "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex")
	turns(t, s, `exec_command {"cmd":"cat a.txt"}`, func(p string) string {
		// Already in a namespace of its own, so the program's nested sandbox is left out.
		return run(t, project, []string{"HOME=" + h}, bin, "exec", "--json", "--skip-git-repo-check",
			"--dangerously-bypass-approvals-and-sandbox", p)
	})
}

func TestOpenCode(t *testing.T) {
	if !alone(t) {
		return
	}
	s := start(t, &Server{})
	h, project := home(t)
	write(t, filepath.Join(h, ".config", "opencode", "opencode.json"),
		fmt.Sprintf(`{"model":"scripted/scripted-1","small_model":"scripted/scripted-1",
"autoupdate":false,"share":"disabled","provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted",
"options":{"baseURL":"%s/v1","apiKey":"dummy"},"models":{"scripted-1":{"name":"Scripted","tool_call":true,"limit":{"context":100000,"out`+
			`put":8000}}}}}}`, s.URL()))
	env := []string{"HOME=" + h, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
	bin := tool(t, "opencode-ai/bin/opencode.exe")
	// One tool turn only, as a start costs about ten seconds of processor time. The prompt goes through standard input,
	// because the program puts quotes around arguments with spaces.
	out := pipe(t, fmt.Sprintf(`hi [[tool read {"filePath":%q}]] [[result]]`, filepath.Join(project, "a.txt")), project, env, bin, "run")
	if !strings.Contains(out, "hello from a file") {
		t.Errorf("tool turn: %s", out)
	}
}
