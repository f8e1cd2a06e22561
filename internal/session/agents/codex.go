package agents

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tandem/internal/fault"
)

// The programs by the names that callers use.
const (
	ClaudeName   = "claude"
	CodexName    = "codex"
	OpenCodeName = "opencode"
)

// Codex is Codex as it is started for one session: a server on a socket, and the terminal's program attached to it.
type Codex struct {
	Reads        bool   // it reads knowledge spaces, though it is narrow
	Narrow       bool   // it has its folder and its own tools, and none of tandem's
	Program      string // absolute path
	Self         string // tandem's own program
	Project      string // working folder, real path
	Socket       string // where its server listens, as the program sees it
	Session      string // tandem's socket for the session, and its name
	ID           string
	Conversation string // resumed when set
	Model        string
	Effort       string
	Skip         bool
	// Dressed says that the environment is made for it: its commands do not read a profile, which would set another PATH.
	Dressed bool
	// Hash is what Codex calls the guard below; a hook whose hash it was not told to trust does not run.
	Hash string
}

// CodexEfforts are accepted beside the empty one.
var CodexEfforts = []string{"none", "minimal", "low", "medium", "high", "xhigh"}

var anyModel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,100}$`) })

// CheckCodexModel refuses what cannot be a model's name, and the short names of another program's. Which models there are depends on the
// account.
func CheckCodexModel(model string) error {
	if model == "" || model == "default" || anyModel().MatchString(model) && !slices.Contains(ClaudeModels, model) {
		return nil
	}
	return fault.New(fault.Invalid, "session.open", "model %.60q is not accepted by Codex: use default, or a model's id such as gpt-5.1-codex",
		model)
}

// CheckCodexEffort refuses an effort that the program does not know.
func CheckCodexEffort(effort string) error {
	if effort == "" || slices.Contains(CodexEfforts, effort) {
		return nil
	}
	return fault.New(fault.Invalid, "session.open", "effort %.60q is not accepted: use %s", effort, strings.Join(CodexEfforts, ", "))
}

// GuardKey is Codex's name for the hook below.
const GuardKey = "/<session-flags>/config.toml:pre_tool_use:0:0"

// Flags configure the server. What a command line says wins over the user's settings, and a project that is not trusted
// brings none of its own: no servers, no hooks, no policy. Its AGENTS.md is passed on as text.
func (c Codex) Flags() []string {
	// Anything but a clean end blocks the tool, as with Claude Code, and it waits for people as there.
	guard := ShellQuote(c.Self) + " hook PreToolUse || exit 2"
	hooks := `{PreToolUse=[{hooks=[{type="command",command=` + toml(guard) + `,timeout=` + strconv.Itoa(AnswerSeconds) + `}]}]`
	if c.Hash != "" {
		hooks += `,state={` + toml(GuardKey) + `={trusted_hash=` + toml(c.Hash) + `}}`
	}
	set := []string{
		"projects={" + toml(c.Project) + `={trust_level="untrusted"}}`,
		"hooks=" + hooks + "}",
		"developer_instructions=" + toml(instructions(c.Project, "AGENTS.md")),
		"mcp_servers.tandem={command=" + toml(c.Self) + `,args=["` + strings.Join(toolsOf(c.Narrow, c.Reads), `","`) +
			`"],env={TANDEM_SESSION_SOCKET=` +
			toml(c.Session) + ",TANDEM_SESSION=" + toml(c.ID) + `},default_tools_approval_mode="approve"}`,
		"check_for_update_on_startup=false",
	}
	if c.Dressed {
		set = append(set, "allow_login_shell=false")
	}
	if c.Model != "" && c.Model != "default" {
		set = append(set, "model="+toml(c.Model))
	}
	if c.Effort != "" {
		set = append(set, "model_reasoning_effort="+toml(c.Effort))
	}
	return flags(set...)
}

// permissions are part of the configuration that a resumed conversation brings along: the server has them, and the terminal's
// program does not start when it is given them together with a conversation.
func (c Codex) permissions() []string {
	policy, sandbox := "on-request", "workspace-write"
	if c.Skip {
		policy, sandbox = "never", "danger-full-access"
	}
	return flags("approval_policy="+toml(policy), "sandbox_mode="+toml(sandbox))
}

func flags(set ...string) []string {
	var out []string
	for _, s := range set {
		out = append(out, "-c", s)
	}
	return out
}

// Server is the command line of its server.
func (c Codex) Server() []string {
	return slices.Concat([]string{c.Program, "app-server", "--listen", "unix://" + c.Socket}, c.Flags(), c.permissions())
}

// Argv is the command line of the terminal's program.
func (c Codex) Argv() []string {
	if c.Conversation != "" {
		return append([]string{c.Program, "resume", c.Conversation, "--remote", "unix://" + c.Socket, "-C", c.Project}, c.Flags()...)
	}
	return slices.Concat([]string{c.Program, "--remote", "unix://" + c.Socket, "-C", c.Project}, c.Flags(), c.permissions())
}

// toml writes a string; JSON's escapes are among TOML's.
func toml(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSpace(b.String())
}

// CodexFolder is where the program keeps its state.
func CodexFolder(env []string, home string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "CODEX_HOME="); ok && v != "" {
			return v
		}
	}
	return filepath.Join(home, ".codex")
}

// Native is the program behind a package's wrapper script: one process less for each session, and no Node.js.
func Native(path string, below ...string) string {
	for _, b := range below {
		for dir := filepath.Dir(path); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
			p := filepath.Join(dir, b)
			if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
				return p
			}
		}
	}
	return path
}

// CodexNative is where the npm package keeps the program itself.
var CodexNative = []string{
	"node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
	"node_modules/@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
	"node_modules/@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex",
	"node_modules/@openai/codex-darwin-x64/vendor/x86_64-apple-darwin/bin/codex",
}
