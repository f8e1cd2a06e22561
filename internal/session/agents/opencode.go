package agents

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/fault"
)

// CheckOpenCodeModel refuses what cannot name a model of OpenCode's, which is provider/model.
func CheckOpenCodeModel(model string) error {
	if model == "" || model == "default" || anyModel().MatchString(model) && strings.Contains(strings.Trim(model, "/"), "/") {
		return nil
	}
	return fault.New(fault.Invalid, "session.open", "model %.60q is not accepted: use default, or provider/model", model)
}

// CheckOpenCodeEffort refuses every effort: its models have variants of their own.
func CheckOpenCodeEffort(effort string) error {
	if effort == "" {
		return nil
	}
	return fault.New(fault.Invalid, "session.open", "effort %.60q is not accepted: OpenCode has none", effort)
}

// OpenCode is OpenCode as it is started for one session: one process with its terminal and its HTTP API.
type OpenCode struct {
	Reads    bool // it reads knowledge spaces, though it is narrow
	Narrow   bool // it has its folder and its own tools, and none of tandem's
	Program  string
	Self     string
	Project  string
	Home     string // the person's, with their settings; "" where none are
	Socket   string // tandem's socket for the session
	ID       string
	Port     int
	Resume   string // the conversation to show, when there is one
	Model    string
	Password string
}

// Argv is the command line.
func (o OpenCode) Argv() []string {
	argv := []string{o.Program, "--hostname", "127.0.0.1", "--port", strconv.Itoa(o.Port)}
	if o.Model != "" && o.Model != "default" {
		argv = append(argv, "--model", o.Model)
	}
	if o.Resume != "" {
		argv = append(argv, "--session", o.Resume)
	}
	return append(argv, o.Project)
}

// openCodeAsks are the program's permissions by name. The last that fits a call decides, and settings that are merged keep the place
// of a name that was there before: "*" alone stands before a person's "bash". task and todowrite are left to "*": a subagent has them
// once somebody names them.
var openCodeAsks = []string{"*", "bash", "codesearch", "doom_loop", "edit", "external_directory", "glob", "grep", "list", "lsp", "question",
	"read", "skill", "webfetch", "websearch"}

// openCodeAgents are the agents that the program has by itself, and those of a person's settings below home. What cannot be read here
// is not refused here: the program says later which of its agents does not ask.
func openCodeAgents(home string) []string {
	names := []string{"build", "plan", "general", "explore"}
	if home == "" {
		return names
	}
	dir := filepath.Join(home, ".config", "opencode")
	for _, file := range []string{"opencode.json", "opencode.jsonc", "config.json"} {
		var set struct {
			Agent map[string]json.RawMessage `json:"agent"`
		}
		if data, err := os.ReadFile(filepath.Join(dir, file)); err == nil && json.Unmarshal(data, &set) == nil {
			names = slices.AppendSeq(names, maps.Keys(set.Agent))
		}
	}
	for _, kind := range []string{"agent", "agents", "mode", "modes"} {
		found, _ := filepath.Glob(filepath.Join(dir, kind, "*.md")) // well formed
		for _, path := range found {
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".md"))
		}
	}
	return names
}

// Environment is what it gets beside the usual: every tool of every agent asks, so that policy is asked, and a project brings no
// settings of its own; its AGENTS.md is named as an instruction.
func (o OpenCode) Environment() ([]string, error) {
	asks, every := map[string]string{}, map[string]any{}
	for _, name := range openCodeAsks {
		asks[name] = "ask"
	}
	for _, name := range openCodeAgents(o.Home) {
		every[name] = map[string]any{"permission": asks}
	}
	config := map[string]any{"permission": asks, "agent": every, "autoupdate": false, "share": "disabled",
		"mcp": map[string]any{"tandem": map[string]any{"type": "local", "command": append([]string{o.Self}, toolsOf(o.Narrow, o.Reads)...),
			"enabled": true, "environment": map[string]string{"TANDEM_SESSION_SOCKET": o.Socket, "TANDEM_SESSION": o.ID}}}}
	if agents := filepath.Join(o.Project, "AGENTS.md"); plain(agents) {
		config["instructions"] = []string{agents}
	}
	data, err := json.Marshal(config)
	return []string{"OPENCODE_CONFIG_CONTENT=" + string(data), "OPENCODE_SERVER_PASSWORD=" + o.Password, "OPENCODE_DISABLE_PROJECT_CONFIG=1",
		"OPENCODE_DISABLE_AUTOUPDATE=1"}, err
}

// plain says that a path is a file and no link.
func plain(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode().IsRegular()
}
