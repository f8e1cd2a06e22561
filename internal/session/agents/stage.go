package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/wholefile"
)

// Stage is a world in which a program speaks to a model on loopback and to nobody else: a home of its own without anybody's
// account or settings, and an environment without keys and proxies.
type Stage struct {
	Home string
	Base string // the model's address
}

// stagedEnv is what reaches a staged program of tandem's own environment.
var stagedEnv = []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR"}

// Folder is where the program works on its stage.
func (s Stage) Folder() string { return filepath.Join(s.Home, "work") }

// Environment picks what the program sees.
func (s Stage) Environment(agent string, from []string, more ...string) []string {
	out := []string{"TERM=xterm-256color", "COLORTERM=truecolor", "HOME=" + s.Home}
	for _, kv := range from {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(stagedEnv, name) {
			out = append(out, kv)
		}
	}
	switch agent {
	case ClaudeName:
		out = append(out, "ANTHROPIC_BASE_URL="+s.Base, "ANTHROPIC_AUTH_TOKEN=none")
	case OpenCodeName:
		out = append(out, "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	}
	return append(append(out, Quiet(agent)...), more...)
}

// Write makes the home.
func (s Stage) Write(agent string) error {
	if err := os.MkdirAll(s.Folder(), 0o700); err != nil {
		return err
	}
	var path, text string
	switch agent {
	case ClaudeName:
		path, text = ".claude.json", `{"hasCompletedOnboarding":true}`
	case CodexName:
		path, text = filepath.Join(".codex", "config.toml"), fmt.Sprintf(`model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "Scripted"
base_url = %q
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
`, s.Base+"/v1")
	case OpenCodeName:
		path, text = filepath.Join(".config", "opencode", "opencode.json"),
			fmt.Sprintf(`{"model":"scripted/scripted","small_model":"scripted/scripted","autoupdate":false,"share":"disabled",
"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":%q,"apiKey":"none"},
"models":{"scripted":{"name":"Scripted","tool_call":true,"limit":{"context":100000,"output":8000}}}}}}`, s.Base+"/v1")
	}
	path = filepath.Join(s.Home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return wholefile.Write(path, []byte(text))
}

// Probe is a prompt whose turn shows everything that a program tells: words, and a tool that needs a permission. The model on
// loopback plays what stands in the brackets.
func Probe(agent string) string {
	tool := map[string]string{ClaudeName: `Bash {"command":"touch probe","description":"touch a file"}`,
		CodexName:    `exec_command {"cmd":"touch probe"}`,
		OpenCodeName: `bash {"command":"touch probe","description":"touch a file"}`}[agent]
	return "Tandem looks which signals of this program work. No model is asked: tandem itself answers. [[tool " + tool + "]] [[say ok]]"
}
