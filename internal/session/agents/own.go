package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A confined session has a home of its own. What a person set up for a program comes into it read-only, so that nothing which an agent
// writes there runs later in the person's own program: settings, commands and skills, and no other conversation.

// Brought is a file or folder of the person's set-up.
type Brought struct {
	Path string
	// Guard says that it can loosen what tandem asks about: where the person has none, an empty one stands there, read-only too.
	Guard bool
}

// Brings lists what a session with a program sees of the person's set-up. config is the program's state folder.
func Brings(agent, config, home string) []Brought {
	var out []Brought
	add := func(dir string, guard bool, names ...string) {
		for _, name := range names {
			out = append(out, Brought{filepath.Join(dir, name), guard})
		}
	}
	switch agent {
	case ClaudeName:
		add(config, true, "settings.json")
		add(config, false, "CLAUDE.md", "commands", "skills", "agents", "output-styles", "plugins", "hooks", "rules", "themes",
			"keybindings.json", "statusline.sh", "statusline-command.sh")
	case CodexName:
		add(config, true, "config.toml", "hooks.json")
		add(config, false, "AGENTS.md", "AGENTS.override.md", "prompts", "rules", "skills", "themes")
	case OpenCodeName:
		// The folder itself is the session's: the program keeps modules in it.
		dir := filepath.Join(home, ".config", "opencode")
		add(dir, true, "opencode.json", "opencode.jsonc", "config.json", "agent", "agents", "mode", "modes", "plugin", "plugins", "tool", "tools")
		add(dir, false, "AGENTS.md", "command", "commands", "skill", "skills", "themes", "tui.json")
	}
	return append(out, Brought{filepath.Join(home, ".gitconfig"), false}, Brought{filepath.Join(home, ".config", "git"), false})
}

// States are the places in which the programs of a person keep settings, sign-ins and conversations.
func States(env []string, home string) []string {
	out := []string{filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json"), filepath.Join(home, ".codex")}
	for _, dir := range []string{".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"} {
		out = append(out, filepath.Join(home, filepath.FromSlash(dir)))
	}
	for _, dir := range []string{ConfigFolder(env, home), CodexFolder(env, home)} {
		if dir != out[0] && dir != out[2] {
			out = append(out, dir)
		}
	}
	return out
}

// SignInFile is where a program keeps its sign-in.
func SignInFile(agent, config string) string {
	if agent == ClaudeName {
		return filepath.Join(config, ".credentials.json")
	}
	return filepath.Join(config, "auth.json")
}

// SignIn is a sign-in as a session gets it: without what renews it. Such a token works once, and whoever uses a copy of it signs
// everybody else out. ends is when the rest stops to work, where the program says so.
func SignIn(agent string, data []byte) (lent []byte, ends time.Time, err error) {
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, ends, err
	}
	lasting := false // OpenCode keeps several, and one that lasts is enough
	for _, v := range tree {
		one, ok := v.(map[string]any)
		if !ok {
			continue
		}
		renewed := false
		for _, name := range []string{"refreshToken", "refresh_token", "refresh"} {
			if _, has := one[name]; has {
				one[name], renewed = "", true
			}
		}
		lasting = lasting || agent == OpenCodeName && !renewed
		for _, name := range []string{"expiresAt", "expires"} {
			if ms, ok := one[name].(float64); ok && agent != CodexName && ms > 0 && time.UnixMilli(int64(ms)).After(ends) {
				ends = time.UnixMilli(int64(ms))
			}
		}
	}
	if lasting {
		ends = time.Time{}
	}
	lent, err = json.Marshal(tree)
	return lent, ends, err
}

// Lasts is how a person gets a sign-in that needs no renewing.
func Lasts(agent string) string {
	if agent == OpenCodeName {
		return "sign in with an API key, which lasts (opencode auth login)"
	}
	return "make a token that lasts (claude setup-token), set CLAUDE_CODE_OAUTH_TOKEN and restart tandem"
}

// signedInByEnv are the variables that are a sign-in by themselves.
var signedInByEnv = map[string][]string{ClaudeName: {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"}, OpenCodeName: {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}}

// SignedIn says whether the environment signs a program in, whatever its files say.
func SignedIn(agent string, env []string) bool {
	for _, kv := range env {
		for _, name := range signedInByEnv[agent] {
			if v, ok := strings.CutPrefix(kv, name+"="); ok && v != "" {
				return true
			}
		}
	}
	return false
}

// maxAccount bounds what is read of a program's own file of state.
const maxAccount = 32 << 20

// OwnAccount is Claude Code's file of state for one session: the person's account and answers, this project trusted, and neither other
// projects nor servers that the person added elsewhere.
func (c Claude) OwnAccount(person string) ([]byte, error) {
	tree := map[string]any{}
	if st, err := os.Stat(person); err == nil && st.Size() <= maxAccount {
		data, err := os.ReadFile(person)
		if err != nil {
			return nil, err
		}
		if json.Unmarshal(data, &tree) != nil {
			return nil, unreadable(person)
		}
	}
	delete(tree, "mcpServers")
	tree["projects"] = map[string]any{c.Project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}
	return json.MarshalIndent(tree, "", "  ")
}

// AccountFile is Claude Code's file of state.
func AccountFile(config, home string) string {
	if config == filepath.Join(home, ".claude") {
		return filepath.Join(home, ".claude.json")
	}
	return filepath.Join(config, ".claude.json")
}

// Conversations are the files of one conversation below a program's state folder, as paths below it.
func Conversations(agent, config, project, conversation string) []string {
	switch {
	case conversation == "" || strings.ContainsAny(conversation, `/\*?[`):
	case agent == ClaudeName:
		if rel, err := filepath.Rel(config, TranscriptPath(config, project, conversation)); err == nil {
			return []string{rel}
		}
	case agent == CodexName:
		found, _ := filepath.Glob(filepath.Join(config, "sessions", "*", "*", "*", "rollout-*"+conversation+".jsonl")) // well formed
		for i, path := range found {
			found[i], _ = filepath.Rel(config, path)
		}
		return found
	}
	return nil
}
