package agents

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tandem/internal/fault"
	"tandem/internal/wholefile"
)

// Claude is Claude Code as it is started for one session.
type Claude struct {
	Reads        bool   // it reads knowledge spaces, though it is narrow
	Narrow       bool   // it has its folder and its own tools, and none of tandem's
	Program      string // absolute path
	Self         string // tandem's own program: hooks and tools are calls of it
	Folder       string // the session's own folder, for the files below
	Project      string // working folder, real path
	Config       string // CLAUDE_CONFIG_DIR, or home/.claude
	Name         string
	Conversation string // a UUID
	Resume       bool   // the conversation exists already
	Model        string // "" and default leave it to the program
	Effort       string
	Skip         bool   // skip permissions: only with a grant
	Plugin       string // the copy of the project's commands and skills; "" when it has none
}

// Models and efforts that are accepted beside full ids.
var (
	ClaudeModels  = []string{"default", "opus", "sonnet", "haiku"}
	ClaudeEfforts = []string{"low", "medium", "high", "xhigh", "max"}
	claudeID      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^claude-[a-z0-9][a-z0-9.-]*(\[1m\])?$`) })
)

// CheckModel refuses what the program would not understand, and says what it would.
func CheckModel(model string) error {
	if model == "" || slices.Contains(ClaudeModels, model) || len(model) <= 92 && claudeID().MatchString(model) {
		return nil
	}
	return fault.New(fault.Invalid, "session.open", "model %.60q is not accepted: use %s, or a full id that begins with claude-", model,
		strings.Join(ClaudeModels, ", "))
}

// CheckEffort refuses an effort that the program does not know.
func CheckEffort(effort string) error {
	if effort == "" || slices.Contains(ClaudeEfforts, effort) {
		return nil
	}
	return fault.New(fault.Invalid, "session.open", "effort %.60q is not accepted: use %s", effort, strings.Join(ClaudeEfforts, ", "))
}

// How long hooks may take, in seconds. The program ends a hook that takes longer, and then goes on as if there were none;
// so what guards ends itself well before.
const (
	GuardSeconds  = 30
	AnswerSeconds = 7 * 24 * 3600
)

// reports are the hooks that only tell. PostToolUse tells of a dialog that was answered at the terminal.
var reports = []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Notification", "Stop", "StopFailure",
	"SessionEnd"}

// Settings is what --settings gets: hooks that are calls of tandem, and nothing that loosens anything.
func (c Claude) Settings() map[string]any {
	hook := func(event, after string, seconds int) []any {
		return []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": ShellQuote(c.Self) + " hook " + event + after,
			"timeout": seconds}}}}
	}
	hooks := map[string]any{}
	for _, e := range reports {
		hooks[e] = hook(e, "", GuardSeconds)
	}
	// Anything but a clean end blocks the tool: the program itself lets a tool run when its hook breaks. It waits for people where a yes at
	// the dialog would not count.
	hooks["PreToolUse"] = hook("PreToolUse", " || exit 2", AnswerSeconds)
	hooks["PermissionRequest"] = hook("PermissionRequest", "", AnswerSeconds)
	// Mail of a space: the one that waits wakes the idle program when it ends with code 2, the other one sees it arrive.
	mail := ShellQuote(c.Self) + " space hook"
	for _, e := range []string{"SessionStart", "Stop"} {
		hooks[e] = append(hooks[e].([]any), map[string]any{"hooks": []any{map[string]any{"type": "command", "command": mail, "asyncRewake": true,
			"timeout": 24 * 3600}}})
	}
	hooks["UserPromptSubmit"] = append(hooks["UserPromptSubmit"].([]any),
		map[string]any{"hooks": []any{map[string]any{"type": "command", "command": mail, "timeout": GuardSeconds}}})
	s := map[string]any{"hooks": hooks}
	if c.Skip {
		s["skipDangerousModePermissionPrompt"] = true
	}
	return s
}

// ownTools starts the server of tandem's own tools: those that an agent at work has use for, for it reads them all first.
var ownTools = []string{"mcp", "--only", "bridge,space,memory,tandem_whoami"}

// toolsOf is ownTools, or for one that has its folder alone the one tool that says who it is.
func toolsOf(narrow, reads bool) []string {
	if narrow && reads {
		return []string{"mcp", "--only", "tandem_whoami,knowledge_ask,knowledge_item"}
	}
	if narrow {
		return []string{"mcp", "--only", "tandem_whoami"}
	}
	return ownTools
}

// Write puts the session's files into its folder.
func (c Claude) Write() error {
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return err
	}
	tools := map[string]any{"mcpServers": map[string]any{"tandem": map[string]any{"command": c.Self, "args": toolsOf(c.Narrow, c.Reads)}}}
	for name, v := range map[string]any{"settings.json": c.Settings(), "mcp.json": tools} {
		if err := WriteJSON(filepath.Join(c.Folder, name), v); err != nil {
			return err
		}
	}
	if err := c.writeOnce(); err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(c.Folder, "instructions.md"),
		[]byte(instructions(c.Project, "CLAUDE.md", filepath.Join(".claude", "CLAUDE.md"), "CLAUDE.local.md")))
}

// maxInstructions bounds what is taken from the project.
const maxInstructions = 64 << 10

// instructions are what a program would have read itself if the project's settings were not kept out.
func instructions(project string, names ...string) string {
	var b strings.Builder
	b.WriteString("You work in a session that tandem opened. Its tools are named mcp__tandem__*; " +
		"a tool call may wait for a person's approval.\n")
	for _, name := range names {
		root, err := os.OpenRoot(project)
		if err != nil {
			break
		}
		data, err := root.ReadFile(name) // a link that leads out of the project is not followed
		root.Close()
		if err != nil {
			continue
		}
		b.WriteString("\nContents of " + name + " (the project's instructions, checked into the codebase):\n\n")
		b.WriteString(strings.ToValidUTF8(string(data[:min(len(data), maxInstructions)]), "\ufffd"))
		b.WriteString("\n")
	}
	return b.String()
}

// Argv is the command line.
func (c Claude) Argv() []string {
	at := func(name string) string { return filepath.Join(c.Folder, name) }
	argv := []string{c.Program, "--settings", at("settings.json"), "--setting-sources", "user", "--mcp-config", at("mcp.json"),
		"--strict-mcp-config",
		"--append-system-prompt-file", at("instructions.md"), "--name", c.Name}
	mode := "default"
	if c.Skip {
		mode = "bypassPermissions"
	}
	argv = append(argv, "--permission-mode", mode)
	switch {
	case c.Model != "" && c.Model != "default":
		argv = append(argv, "--model", c.Model)
	case c.Resume: // a resumed conversation keeps the model it had last unless told otherwise
		argv = append(argv, "--model", "default")
	}
	if c.Effort != "" {
		argv = append(argv, "--effort", c.Effort)
	}
	argv = append(argv, "--plugin-dir", at(oncePlugin))
	if c.Plugin != "" {
		argv = append(argv, "--plugin-dir", c.Plugin)
	}
	if c.Resume {
		return append(argv, "--resume", c.Conversation)
	}
	return append(argv, "--session-id", c.Conversation)
}

// allowed are the variables that reach every program, and those that reach one; those with a star by their beginning.
var allowed = map[string][]string{
	"": {"HOME", "PATH", "LANG", "LC_*", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy",
		"https_proxy", "no_proxy",
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_*"},
	ClaudeName: {"ANTHROPIC_*", "CLAUDE_CODE_*", "CLAUDE_CONFIG_DIR", "DISABLE_*", "IS_SANDBOX", "API_TIMEOUT_MS", "MCP_TIMEOUT",
		"AWS_REGION", "CLOUD_ML_REGION"},
	CodexName:    {"OPENAI_*", "CODEX_*"},
	OpenCodeName: {"OPENCODE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"},
}

// Environment picks what the program may see from tandem's own environment and adds the session's.
func Environment(agent string, from []string, more ...string) []string {
	out := []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
	for _, kv := range from {
		name, _, _ := strings.Cut(kv, "=")
		if slices.ContainsFunc(slices.Concat(allowed[""], allowed[agent]), func(pattern string) bool { return named(pattern, name) }) {
			out = append(out, kv)
		}
	}
	return append(out, more...)
}

// steering are the variables that say where every program keeps its state, what it loads into itself, and by which door it is governed.
var steering = []string{"HOME", "XDG_*", "TANDEM_*", "NODE_OPTIONS", "BUN_*", "CLAUDE*", "CODEX*", "OPENCODE*", "IS_SANDBOX"}

// Steers says whether a variable steers a program itself: what a person gives the commands of a folder does not reach those.
func Steers(agent, name string) bool {
	return slices.ContainsFunc(slices.Concat(steering, allowed[agent]), func(pattern string) bool { return named(pattern, name) })
}

// named says whether a name is the one of a list's entry; one with a star counts by its beginning.
func named(pattern, name string) bool {
	begin, star := strings.CutSuffix(pattern, "*")
	return name == pattern || star && strings.HasPrefix(name, begin)
}

// ConfigFolder is where the program keeps its state.
func ConfigFolder(env []string, home string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "CLAUDE_CONFIG_DIR="); ok && v != "" {
			return v
		}
	}
	return filepath.Join(home, ".claude")
}

var trusting sync.Mutex

func unreadable(path string) error {
	return fault.New(fault.Unavailable, "session.open", "%s cannot be read", path).WithNext("start claude once by hand, or mend the file")
}

// Trust settles the program's question about a folder by its configuration. It says whether it changed anything.
// The caller made sure that the folder is one that sessions may be opened in.
func (c Claude) Trust(ctx context.Context, home string) (bool, error) {
	path := AccountFile(c.Config, home)
	// Two sessions that open at once would lose each other's entry, and one that opens what a running Claude Code writes.
	trusting.Lock()
	defer trusting.Unlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	free, err := LockFolder(ctx, path+".lock")
	if err != nil {
		return false, err
	}
	defer free()
	var tree map[string]any
	data, err := os.ReadFile(path)
	switch {
	case os.IsNotExist(err):
		tree = map[string]any{}
	case err != nil:
		return false, err
	default:
		if err := json.Unmarshal(data, &tree); err != nil {
			return false, unreadable(path)
		}
	}
	projects, _ := tree["projects"].(map[string]any)
	if projects == nil {
		projects = map[string]any{}
	}
	mine, _ := projects[c.Project].(map[string]any)
	if mine == nil {
		mine = map[string]any{}
	}
	if mine["hasTrustDialogAccepted"] == true {
		return false, nil
	}
	mine["hasTrustDialogAccepted"] = true
	projects[c.Project], tree["projects"] = mine, projects
	return true, WriteJSON(path, tree)
}

// ShellQuote makes a word of a POSIX shell line.
func ShellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// WriteJSON puts a value into a file that only this user reads, whole or not at all.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Write(path, append(data, '\n'))
}
