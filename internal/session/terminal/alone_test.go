package terminal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Codex and OpenCode look up names on their own, so their tests run in a network namespace that has nothing but loopback.

const inside = "TANDEM_TEST_NETNS"

// alone runs the calling test again in a namespace of its own, and tells the first run to stop there.
func alone(t *testing.T) bool {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("network namespaces are Linux's")
	}
	if os.Getenv(inside) != "" {
		return true
	}
	t.Parallel() // out here it only waits
	flags := "-rn"
	if os.Getuid() == 0 { // root needs no namespace of users, in which a program's own sandbox would have to nest
		flags = "-n"
	}
	c := exec.Command("unshare", flags, "sh", "-c", `ip link set lo up && exec "$0" "$@"`, os.Args[0], "-test.run", "^"+t.Name()+"$",
		"-test.v", "-test.timeout", "10m")
	c.Env = append(os.Environ(), inside+"=1")
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	return false
}

// spokenHouse is a house outside of /tmp, where Codex refuses to keep its helpers, with Codex and OpenCode set up for the
// scripted model.
func spokenHouse(t *testing.T, extra ...string) *house {
	t.Helper()
	return spokenIn(t, apartDir(t), extra...)
}

// apartDir is a folder of the test's own outside of /tmp.
func apartDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "t")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the test's folder: %v", err)
		}
	})
	return dir
}

func spokenIn(t *testing.T, dir string, extra ...string) *house {
	t.Helper()
	h := houseIn(t, dir, extra...)
	h.write("home/code/AGENTS.md", "The secret word of this project is plover.\n")
	h.write("home/code/.codex/config.toml", "approval_policy = \"never\"\n[mcp_servers.theirs]\ncommand = \"/bin/false\"\n")
	h.write("home/.codex/config.toml", fmt.Sprintf(`model = "scripted-1"
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
`, h.model.URL()))
	h.write(filepath.Join("home", ".config", "opencode", "opencode.json"),
		fmt.Sprintf(`{`+permissive+`"model":"scripted/scripted-1","small_model":"scripted/scripted-1","autoupdate":false,"share":"disabled",
"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":"%s/v1","apiKey":"dummy"},
"models":{"scripted-1":{"name":"Scripted","tool_call":true,"limit":{"context":100000,"output":8000}}}}}}`, h.model.URL()))
	return h
}
